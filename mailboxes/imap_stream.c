#include "mailboxes/imap_stream.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/clock.h"
#include "monitor/mem.h"

/* An idle mailbox keeps two of these; answers longer than one just take more
 * reads. */
#define BUFFER	1024
#define READ	4096

static void
forget_answer(struct imap_stream *s)
{
	if (s->answer != NULL)
		mem_wipe(s->answer, strlen(s->answer));
	mem_free(s->answer);
	s->answer = NULL;
}

/* Answers a "+" that has not been answered yet, if there is something to say. */
static int
answer_plus(struct imap_stream *s)
{
	const char	*words = s->answer != NULL ? s->answer : s->further;
	char		*line;
	ssize_t		 n;
	size_t		 len, at = 0;
	int		 r = 0;

	if (words == NULL || s->answered >= s->filter.pluses)
		return (0);
	s->answered = s->filter.pluses;
	line = mem_printf("%s\r\n", words);
	forget_answer(s);
	len = strlen(line);
	for (; at < len && r == 0; at += (size_t)n)
		if ((n = transport_write(s->transport, line + at,
		    len - at)) <= 0)
			r = -1;
	mem_wipe(line, len);
	mem_free(line);
	return (r);
}

/* Bytes have come: through the filter, with the moment if they are news. */
static void
feed(struct imap_stream *s, const char *data, size_t len)
{
	struct imap_filter	*f = &s->filter;

	(void)imap_filter_feed(f, data, len);
	if (s->news_at.wall_ms == 0 && imap_stream_news(s))
		s->news_at = clock_now();
}

static ssize_t
low_read(mailstream_low *low, void *buf, size_t size)
{
	struct imap_stream	*s = low->data;
	char			 data[READ];
	size_t			 n;
	ptrdiff_t		 got;

	for (;;) {
		if ((n = imap_filter_take(&s->filter, buf, size)) > 0)
			return ((ssize_t)n);
		if (s->filter.end != IMAP_FILTER_OPEN)
			return (-1);
		if (answer_plus(s) < 0)
			return (-1);
		got = transport_read(s->transport, data, sizeof data);
		if (got <= 0)
			return (-1);
		feed(s, data, (size_t)got);
	}
}

static ssize_t
low_write(mailstream_low *low, const void *buf, size_t size)
{
	struct imap_stream	*s = low->data;

	if (s->filter.end != IMAP_FILTER_OPEN)
		return (-1);
	return ((ssize_t)transport_write(s->transport, buf, size));
}

static int
low_close(mailstream_low *low)
{
	(void)low;
	return (0);
}

static int
low_fd(mailstream_low *low)
{
	struct imap_stream	*s = low->data;

	return (transport_fd(s->transport));
}

static void
low_free(mailstream_low *low)
{
	free(low);
}

static void
low_cancel(mailstream_low *low)
{
	(void)low;
}

static struct mailstream_cancel *
low_get_cancel(mailstream_low *low)
{
	(void)low;
	return (NULL);
}

static carray *
low_certificates(mailstream_low *low)
{
	(void)low;
	return (NULL);
}

static mailstream_low_driver driver = {
	.mailstream_read = low_read,
	.mailstream_write = low_write,
	.mailstream_close = low_close,
	.mailstream_get_fd = low_fd,
	.mailstream_free = low_free,
	.mailstream_cancel = low_cancel,
	.mailstream_get_cancel = low_get_cancel,
	.mailstream_get_certificate_chain = low_certificates,
};

struct imap_stream *
imap_stream_new(struct transport *transport)
{
	struct imap_stream	*s = mem_alloc(sizeof *s);
	mailstream_low		*low;

	s->transport = transport;
	imap_filter_init(&s->filter);
	if ((low = mailstream_low_new(s, &driver)) == NULL ||
	    (s->stream = mailstream_new(low, BUFFER)) == NULL)
		panic("out of memory");
	return (s);
}

void
imap_stream_close(struct imap_stream **sp)
{
	struct imap_stream	*s = *sp;

	if (s == NULL)
		return;
	*sp = NULL;
	mailstream_close(s->stream);
	transport_close(&s->transport);
	imap_filter_free(&s->filter);
	forget_answer(s);
	mem_free(s);
}

int
imap_stream_drain(struct imap_stream *s)
{
	char		data[READ];
	ptrdiff_t	got;

	while ((got = transport_try_read(s->transport, data,
	    sizeof data)) > 0) {
		feed(s, data, (size_t)got);
		if (s->filter.end != IMAP_FILTER_OPEN)
			return (-1);
	}
	return (got < 0 ? -1 : 0);
}

bool
imap_stream_news(const struct imap_stream *s)
{
	return (s->filter.grown != s->grown || s->filter.stirred != s->stirred);
}

void
imap_stream_reset_news(struct imap_stream *s)
{
	s->news_at = (struct stamp){ .wall_ms = 0 };
	s->grown = s->filter.grown;
	s->stirred = s->filter.stirred;
}

bool
imap_stream_pending(const struct imap_stream *s)
{
	return (s->stream->read_buffer_len > 0 ||
	    !imap_filter_empty(&s->filter) || transport_pending(s->transport));
}
