#ifndef TELL_H
#define TELL_H

#include <stdbool.h>
#include <stdint.h>

#include "alerts/episode.h"
#include "alerts/follow.h"
#include "monitor/route.h"
#include "monitor/store_episode.h"

/*
 * Owes the notices of an episode: one to each alerts section that hears of
 * it, in the turn's transaction.  A recipient named by several sections is
 * told once.
 */
struct telling {
	const struct config	*config;	/* borrowed, as are: */
	struct store		*store;
	const struct episode	*e;		/* stored: it has an id */
	const char		*transcript;	/* or "" */
	bool			 mailbox_blind;
	int64_t			 now_ms;	/* wall */
};

/* owes is EPISODE_OWES_* bits.  The notices owed, or -1: the store failed. */
int	 tell_all(const struct telling *, unsigned owes);

/* The same to one section, which joins an episode that others know of. */
int	 tell_section(const struct telling *, unsigned owes,
	    const char *section);

/*
 * Tells those of the episode's sections who have not heard it what the others
 * believe, FAILING or ACCEPTING: after a reload there may be such, and none of
 * them is to hear of a recovery from nothing.  As tell_all().
 */
int	 tell_newcomers(const struct telling *, enum episode_state believed);

/* Everybody whom a section tells, as store_notice_owe() wants it: a list, the
 * caller's, of strings that are not. */
char	**tell_channels(const struct alerts *);

/*
 * A test to one section, a notice of each kind: 1 with their ids, 0 if there
 * is no such section, -1.
 */
#define TELL_TESTS	FOLLOW_TESTS
int	 tell_test(const struct config *, struct store *, const char *section,
	    int64_t ids_r[static TELL_TESTS], int64_t now_ms);

#endif
