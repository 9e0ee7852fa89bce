#include "monitor/compose.h"

#include <string.h>

#include "monitor/text.h"

static const char *
domain_of(const char *address)
{
	const char	*at = strrchr(address, '@');

	return (at != NULL ? at + 1 : "localhost");
}

size_t
compose_probe(const struct compose *c, char *buf, size_t size)
{
	bool	fits;

	buf[0] = '\0';
	fits = text_appendf(buf, size,
	    "Date: %s\r\n"
	    "From: <%s>\r\n"
	    "To: <%s>\r\n"
	    "Subject: Mail flow test %s\r\n"
	    "Message-ID: <%s@%s>\r\n"
	    "X-Mailflow-Probe: %s\r\n",
	    c->date, c->from, c->to, c->token, c->token, domain_of(c->from),
	    c->token);
	if (!c->autoreply)
		fits = fits && text_append(buf, size,
		    "Auto-Submitted: auto-generated\r\n"
		    "X-Auto-Response-Suppress: OOF, AutoReply\r\n");
	fits = fits && text_appendf(buf, size,
	    "MIME-Version: 1.0\r\n"
	    "Content-Type: text/plain; charset=us-ascii\r\n"
	    "Content-Transfer-Encoding: 7bit\r\n"
	    "\r\n"
	    "This is a test message. A monitor sent it to learn whether mail\r\n"
	    "still gets through to this mailbox, and how long it takes.\r\n"
	    "\r\n"
	    "There is nothing to do. The monitor removes the message by itself;\r\n"
	    "if it is still here after a day, it may be deleted.\r\n"
	    "\r\n"
	    "Questions:  %s\r\n"
	    "Monitor:    mailflowd, instance %s\r\n"
	    "Route:      %s\r\n"
	    "Probe:      %s\r\n",
	    c->contact, c->instance, c->route, c->token);
	return (fits ? strlen(buf) : 0);
}
