#ifndef CONTROL_JSON_H
#define CONTROL_JSON_H

#include <jansson.h>

#include "monitor/engine.h"
#include "monitor/tally.h"

/*
 * What the daemon knows, as JSON.  Times are RFC 3339 or null, spans
 * milliseconds or null.  Each returns a new reference.
 */

json_t	*control_json_probe(const struct probe *);
json_t	*control_json_tally(const struct tally_line *);
json_t	*control_json_episode(const struct episode *);
json_t	*control_json_route(const struct route_view *);
json_t	*control_json_check(const struct check_view *);
json_t	*control_json_mailbox(const struct mailbox_view *, int64_t now_ms);
json_t	*control_json_waiting(const struct outbox_view *);
json_t	*control_json_time(int64_t wall_ms);
json_t	*control_json_text(const char *);

#endif
