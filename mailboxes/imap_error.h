#ifndef IMAP_ERROR_H
#define IMAP_ERROR_H

#include "mailboxes/imap_stream.h"
#include "mailboxes/mailbox.h"

/* What the session was doing: for the sentence and for what it means. */
enum imap_doing {
	IMAP_GREETED,
	IMAP_ASKING,		/* CAPABILITY */
	IMAP_STARTING_TLS,
	IMAP_LOGGING_IN,
	IMAP_LISTING,
	IMAP_SELECTING,
	IMAP_POLLING,		/* NOOP, STATUS */
	IMAP_FETCHING,
	IMAP_IDLING,
	IMAP_REMOVING,
	IMAP_INTRODUCING
};

/*
 * Why a step failed, from the transport, the filter and the last tagged
 * response, in this order; with what it means for trying again.
 */
void	 imap_error(struct mailbox_trouble *, const struct imap_stream *,
	    enum imap_doing);

/* From a failed look-up or connection, before there is a stream. */
void	 imap_error_transport(struct mailbox_trouble *, enum transport_error,
	    const char *reason);

/* From a decision of ours. */
void	 imap_error_ours(struct mailbox_trouble *, enum outcome_class,
	    const char *sentence);

#endif
