#ifndef CTL_PLUGIN_H
#define CTL_PLUGIN_H

#include <jansson.h>

#include "monitor/ctl_finding.h"

/*
 * One line as monitoring systems take it from a plugin:
 *
 *	OK - out: delivered in 0.84 s (12:00:03 UTC) | total=0.842s;60;600;0
 *
 * with an exit code from 0 to 3, which is its level.  Every line is owned by
 * the caller, printable, without its newline, and has at most one '|'.
 * Pure.
 */

/* A route of a status object. */
char	*plugin_route(const json_t *status, const char *route, enum level *);

/* All of them: the worst, naming those that are not well. */
char	*plugin_all(const json_t *status, enum level *);

/*
 * A probe that was asked for on route, answered at now_ms (wall).  status is
 * for the limits of its figures; it may be NULL.
 */
char	*plugin_probe(const char *route, const json_t *probe,
	    const json_t *status, int64_t now_ms, enum level *);

/* No answer in waited_ms; status, asked for afterwards, may be NULL. */
char	*plugin_no_result(const char *route, const json_t *status,
	    int64_t waited_ms, enum level *);

/* Nothing could be asked: UNKNOWN with a reason.  route may be NULL. */
char	*plugin_unknown(const char *route, const char *why, enum level *);

#endif
