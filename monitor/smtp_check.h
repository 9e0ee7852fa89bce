#ifndef SMTP_CHECK_H
#define SMTP_CHECK_H

#include <sys/socket.h>

#include "monitor/frame.h"

/*
 * One look at one address of a mail server: connect, greeting, EHLO, TLS as
 * the job wants it, EHLO again, QUIT.  No login, no message, no libESMTP.
 */

/*
 * Blocks for at most job->deadline_ms and a second.  Always fills *out:
 * accepted if all went well.  host is what the address belongs to, for SNI
 * and the certificate; of the job only its timeouts, port, TLS and HELO
 * count.
 */
void	 smtp_check(const struct frame_job *job, const char *host,
	    const struct sockaddr_storage *, struct outcome *out);

#endif
