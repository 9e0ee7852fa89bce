#ifndef CTL_JSON_H
#define CTL_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Members of the daemon's objects.  Nothing is an error: an object that is
 * not there (NULL, null) has no members.  Pure.
 */

/* A nested object or array; NULL if it is null or not there. */
const json_t	*member_object(const json_t *, const char *key);
/* "" if it is not there. */
const char	*member_text(const json_t *, const char *key);
int64_t		 member_number(const json_t *, const char *key,
		    int64_t otherwise);
bool		 member_flag(const json_t *, const char *key);
/* An RFC 3339 time in UTC as wall milliseconds; 0 if not there. */
int64_t		 member_wall_ms(const json_t *, const char *key);

#endif
