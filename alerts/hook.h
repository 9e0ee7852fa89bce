#ifndef HOOK_H
#define HOOK_H

#include "alerts/episode.h"
#include "alerts/notice.h"

/*
 * A notice as one JSON object, for a section's command.  Members are only
 * ever added; what does not apply is null.
 *
 *	version		1
 *	instance, alerts, kind (notice_kind_name()), test (true or false)
 *	id, thread	the Message-IDs of the mail, the same in a repeat
 *	at		when it was owed, RFC 3339 in UTC
 *	subject, body
 *	episode		null, or an object: id, scope, class, state, since,
 *			accepting_at, delivered_at, host, code, enhanced,
 *			reply, routes (a list)
 */

/* e NULL: it is about none.  The caller frees it; ends in a newline. */
char	*hook_json(const struct notice *, const struct episode *e,
	    const char *instance);

#endif
