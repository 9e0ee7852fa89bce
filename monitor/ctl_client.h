#ifndef CTL_CLIENT_H
#define CTL_CLIENT_H

#include <jansson.h>
#include <stdint.h>

/*
 * One question to the daemon by its control socket (control.h).
 */

enum client_result {
	CLIENT_ANSWER,		/* {"ok": true, ...} */
	CLIENT_REFUSED,		/* the daemon said no; why is its reason */
	CLIENT_UNREACHABLE,	/* no connection, or it broke */
	CLIENT_TIMEOUT,		/* connected, no answer in time */
};

struct client_answer {
	enum client_result	 result;
	json_t			*object;	/* owned; ANSWER only, else NULL */
	char			*why;		/* owned; a sentence, or "" */
};

/* The whole exchange may take timeout_ms.  Does not take request. */
void	 client_ask(const char *path, const json_t *request,
	    int64_t timeout_ms, struct client_answer *);
void	 client_answer_free(struct client_answer *);

#endif
