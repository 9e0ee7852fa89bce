#include "monitor/ctl_json.h"

#include <stdio.h>
#include <time.h>

const json_t *
member_object(const json_t *o, const char *key)
{
	const json_t	*j = json_object_get(o, key);

	return (json_is_null(j) ? NULL : j);
}

const char *
member_text(const json_t *o, const char *key)
{
	const char	*s = json_string_value(json_object_get(o, key));

	return (s != NULL ? s : "");
}

int64_t
member_number(const json_t *o, const char *key, int64_t otherwise)
{
	const json_t	*j = json_object_get(o, key);

	return (json_is_integer(j) ? json_integer_value(j) : otherwise);
}

bool
member_flag(const json_t *o, const char *key)
{
	return (json_is_true(json_object_get(o, key)));
}

/* "2026-01-31T12:00:00.123Z"; 0 if it is none. */
static int64_t
wall_ms_of(const char *s)
{
	struct tm	tm = { 0 };
	int		ms = 0, end = 0;

	if (sscanf(s, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &tm.tm_year,
	    &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms,
	    &end) != 7 || end == 0 || s[end] != '\0')
		return (0);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return ((int64_t)timegm(&tm) * 1000 + ms);
}

int64_t
member_wall_ms(const json_t *o, const char *key)
{
	return (wall_ms_of(member_text(o, key)));
}
