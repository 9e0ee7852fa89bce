#ifndef IMAP_STREAM_H
#define IMAP_STREAM_H

#include <libetpan/libetpan.h>
#include <stdbool.h>
#include <stdint.h>

#include "mailboxes/imap_filter.h"
#include "monitor/stamp.h"
#include "monitor/transport.h"

/*
 * libetpan's low stream, made of our transport with the filter on top: the
 * library sees neither socket nor TLS nor a byte that the filter did not
 * write.  Reading and writing end at what transport_arm() set.
 */

struct imap_stream {
	struct transport	*transport;	/* owned */
	struct imap_filter	 filter;
	mailstream		*stream;	/* owned by the library's session
						 * until imap_stream_close() */
	/*
	 * What a login says when "+" asks: the response in base 64, once, and
	 * then, to all that is asked further, the same words.
	 */
	char			*answer;	/* owned, wiped; NULL: none */
	const char		*further;	/* static; NULL: nothing */
	unsigned		 answered;	/* of filter.pluses */
	/* When the read that first told of something new returned. */
	struct stamp		 news_at;	/* wall_ms 0: nothing since reset */
	unsigned		 grown, stirred;	/* as of the last reset */
};

/* Takes the transport over. */
struct imap_stream	*imap_stream_new(struct transport *);

/* Closes without a word to the server; NULL is fine. */
void	 imap_stream_close(struct imap_stream **);

/*
 * Reads what is there without waiting, as while the server idles.  0, or -1
 * once the stream has ended.
 */
int	 imap_stream_drain(struct imap_stream *);

/* Whether anything is new since the last reset. */
bool	 imap_stream_news(const struct imap_stream *);
void	 imap_stream_reset_news(struct imap_stream *);

/* Bytes are at hand that no event on the descriptor will tell of. */
bool	 imap_stream_pending(const struct imap_stream *);

#endif
