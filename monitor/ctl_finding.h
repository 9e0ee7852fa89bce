#ifndef CTL_FINDING_H
#define CTL_FINDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the daemon's objects come to, for a person or a monitoring system:
 * good or bad, in one word and in one sentence.  Pure: from JSON to words,
 * the time is the daemon's.
 */

/* In the order of a plugin's exit codes. */
enum level { LEVEL_OK, LEVEL_WARNING, LEVEL_CRITICAL, LEVEL_UNKNOWN, LEVELS };

const char	*level_name(enum level);	/* "OK" ... */
/* CRITICAL, WARNING, UNKNOWN, OK: what is known to be bad comes first. */
bool		 level_is_worse(enum level, enum level than);

#define FINDING_TEXT	768

struct finding {
	enum level	 level;
	const char	*word;		/* static: "ok", "failing", "blind" ... */
	/* A sentence without its route; printable, no '|'. */
	char		 text[FINDING_TEXT];
};

/* What all routes of one status object are judged by. */
struct finding_scene {
	int64_t	 now_ms;	/* wall: the daemon's */
	json_t	*mailboxes;	/* owned; by name */
	json_t	*failing;	/* owned; episodes by names of routes */
};

void	 finding_begin(struct finding_scene *, const json_t *status);
void	 finding_end(struct finding_scene *);

/* "out", or "out mx1.example.org" where a route has its mail hosts apart. */
#define FINDING_NAME	384
const char	*finding_name(const json_t *route,
		    char buf[static FINDING_NAME]);

/* A route of that status. */
void	 finding_route(const struct finding_scene *, const json_t *route,
	    struct finding *);

/* What a probe that was asked for came to, as the daemon answered. */
void	 finding_probe(const json_t *probe, int64_t now_ms,
	    struct finding *);

/*
 * Where a probe is that has not come to anything in time; route NULL: the
 * daemon could not be asked again.
 */
void	 finding_no_result(const struct finding_scene *, const json_t *route,
	    int64_t waited_ms, struct finding *);

/*
 * A server's words as people quote them, "452 4.3.1 Insufficient system
 * storage", from the members code, enhanced and key of an object; clean, at
 * most size, '|' replaced.  "" if there are none.
 */
void	 finding_quote(const json_t *, const char *key, char *buf,
	    size_t size);

#endif
