#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alerts/episode.c"	/* reach the table */

/*
 * Stories: one letter is one event, a second apart.
 *
 *	m miss   a accept   d delivered   b blind   r reminder   w window
 *	. an hour passes    k somebody says "I know" (ack)
 *
 * and beside it what people are told at that moment:
 *
 *	F failing   S still failing   A accepting again   D delivered again
 *	X accepting and delivered at once   - nothing
 */
struct story {
	const char		*name;
	const char		*events;
	const char		*told;
	enum outcome_class	 class;
	enum episode_origin	 origin;
	enum episode_state	 end;
};

static const struct story stories[] = {
	/* A full system: one refusal is enough. */
	{ "the first refusal of a full system is told",
	    "m", "F", CLASS_SYSTEM_FULL, 0, EPISODE_FAILING },
	{ "many refusals are told once",
	    "mmmmm", "F----", CLASS_SYSTEM_FULL, 0, EPISODE_FAILING },
	{ "one accept is not yet the end",
	    "ma", "F-", CLASS_SYSTEM_FULL, 0, EPISODE_FAILING },
	{ "three notices tell the whole of it",
	    "mmmaad", "F---AD", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "a lucky accept between refusals is not told",
	    "mammaad", "F----AD", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "a lucky accept that even arrives is not told",
	    "madmaad", "F----AD", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "an arrival learnt before the second accept counts with it",
	    "mada", "F--X", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "an arrival without any accept proves nothing",
	    "mdaad", "F--AD", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "well, nothing is owed",
	    "adadrwb", "-------", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },

	/* Others: a count and a span of time. */
	{ "one reset connection wakes nobody",
	    "m.a.m.a", "-------", CLASS_NETWORK, 0, EPISODE_QUIET },
	{ "two misses in a second are no trouble yet",
	    "mmm", "---", CLASS_NETWORK, 0, EPISODE_SUSPECT },
	{ "two misses and enough time are",
	    "m.m", "--F", CLASS_NETWORK, 0, EPISODE_FAILING },
	{ "time alone opens it once the misses are enough",
	    "mm.r", "---F", CLASS_NETWORK, 0, EPISODE_FAILING },
	{ "time alone does not after a single miss",
	    "m.r", "---", CLASS_NETWORK, 0, EPISODE_SUSPECT },
	{ "an accept forgets the misses before it",
	    "ma.m.r", "------", CLASS_NETWORK, 0, EPISODE_SUSPECT },
	{ "an arrival does not take a doubt away",
	    "md.m", "---F", CLASS_NETWORK, 0, EPISODE_FAILING },

	/* Relapses. */
	{ "a relapse after accepting was told is told, and its end held back",
	    "maamaad", "F-AF---", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "a relapse after the end reopens, and its end is held back",
	    "maadmaad", "F-ADF---", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "flapping is told once, not at every turn",
	    "maadmaadmaadmaad", "F-ADF-----------", CLASS_SYSTEM_FULL, 0,
	    EPISODE_QUIET },
	{ "flapping between accept and refusal too",
	    "maamaamaamaa", "F-AF--------", CLASS_SYSTEM_FULL, 0,
	    EPISODE_ACCEPTING },
	{ "an arrival after the recovery has held is told with it",
	    "maamaa.d", "F-AF---X", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },

	/* No accept to see. */
	{ "what age opened ends at once by an arrival",
	    "md", "FX", CLASS_UNDELIVERED, EPISODE_BY_AGE, EPISODE_QUIET },
	{ "a relay's accepts do not end what age opened",
	    "maaaad", "F----X", CLASS_UNDELIVERED, EPISODE_BY_AGE,
	    EPISODE_QUIET },
	{ "nor what a bounce opened",
	    "maaad", "F---X", CLASS_SYSTEM_FULL, EPISODE_BY_BOUNCE,
	    EPISODE_QUIET },
	{ "age that comes again is held back at its end",
	    "mdmd", "FXF-", CLASS_UNDELIVERED, EPISODE_BY_AGE,
	    EPISODE_QUIET },

	/* Blindness is an episode of its own kind. */
	{ "a short blindness is not told",
	    "md", "--", CLASS_BLIND, 0, EPISODE_QUIET },
	{ "a long one is, and its end once",
	    "mm.rd", "---FD", CLASS_BLIND, 0, EPISODE_QUIET },
	{ "accepts do not make it see",
	    "m.rad", "--F-D", CLASS_BLIND, 0, EPISODE_QUIET },

	/* Reminders, windows, blindness in between. */
	{ "reminders only while failing",
	    "mrrarar", "FSS-SA-", CLASS_SYSTEM_FULL, 0, EPISODE_ACCEPTING },
	{ "reminders stop for who knows",
	    "mrkrr", "FS---", CLASS_SYSTEM_FULL, 0, EPISODE_FAILING },
	{ "who knew is told of a relapse all the same, and reminded again",
	    "mkaamr", "F--AFS", CLASS_SYSTEM_FULL, 0, EPISODE_FAILING },

	/* Nothing can show its end any more. */
	{ "what nobody watches any more is told once, and is over",
	    "muuad", "FU---", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "also where mail was accepted already",
	    "maaud", "F-AU-", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "a doubt about it comes to nothing",
	    "mu", "--", CLASS_NETWORK, 0, EPISODE_QUIET },
	{ "a recovery that was held back is not told after it",
	    "maadmaau.", "F-ADF--U-", CLASS_SYSTEM_FULL, 0, EPISODE_QUIET },
	{ "blindness too",
	    "m.ru", "--FU", CLASS_BLIND, 0, EPISODE_QUIET },
	{ "watched again it may fail again",
	    "mumaa", "FUF--", CLASS_SYSTEM_FULL, 0, EPISODE_ACCEPTING },

	{ "windows and blindness move nothing",
	    "wbmwbawbawbd", "--F-----A--D", CLASS_SYSTEM_FULL, 0,
	    EPISODE_QUIET },
};

#define SECOND	INT64_C(1000)
#define MINUTE	(60 * SECOND)

static struct episode_limits
limits_for(const struct story *s)
{
	struct episode_limits	lim = {
		.misses_to_fail = 2, .fail_for_ms = 5 * MINUTE,
		.accepts_to_mend = 2, .settle_ms = 30 * MINUTE,
	};

	if (s->class == CLASS_BLIND) {
		lim.misses_to_fail = 1;
		lim.fail_for_ms = 10 * MINUTE;
	} else if (s->class == CLASS_SYSTEM_FULL ||
	    s->origin != EPISODE_BY_ATTEMPT) {
		lim.misses_to_fail = 1;
		lim.fail_for_ms = 0;
	}
	return (lim);
}

static char
letter(unsigned owes)
{
	switch (owes) {
	case 0:
		return ('-');
	case EPISODE_OWES_FAILING:
		return ('F');
	case EPISODE_OWES_REMINDER:
		return ('S');
	case EPISODE_OWES_ACCEPTING:
		return ('A');
	case EPISODE_OWES_DELIVERED:
		return ('D');
	case EPISODE_OWES_UNWATCHED:
		return ('U');
	case EPISODE_OWES_ACCEPTING | EPISODE_OWES_DELIVERED:
		return ('X');
	default:
		return ('?');
	}
}

static unsigned
play(struct episode *e, char event, const struct episode_limits *lim,
    int64_t *now)
{
	static const char		letters[] = "madbrwu";
	static const enum episode_event	events_of[] = {
		EPISODE_EV_MISS, EPISODE_EV_ACCEPT, EPISODE_EV_DELIVERED,
		EPISODE_EV_BLIND, EPISODE_EV_REMIND, EPISODE_EV_WINDOW,
		EPISODE_EV_UNWATCHED,
	};

	*now += event == '.' ? 60 * MINUTE : SECOND;
	if (event == 'k')
		e->acked = true;
	if (strchr(letters, event) == NULL)
		return (0);
	return (episode_step(e, events_of[strchr(letters, event) - letters],
	    lim, *now));
}

static void
every_story_tells_what_it_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(stories); i++) {
		const struct story	*s = &stories[i];
		struct episode_limits	 lim = limits_for(s);
		struct episode		 e = { .class = s->class,
					    .origin = s->origin };
		int64_t			 now = 1000000;

		assert_int_equal(strlen(s->events), strlen(s->told));
		for (size_t k = 0; s->events[k] != '\0'; k++) {
			char	told = letter(play(&e, s->events[k], &lim,
				    &now));

			if (told != s->told[k])
				fail_msg("%s: at %zu (%s) told %c, not %c",
				    s->name, k, s->events + k, told,
				    s->told[k]);
		}
		if (e.state != s->end)
			fail_msg("%s: ends %s", s->name,
			    episode_state_name(e.state));
	}
}

/* Every cell leads somewhere, and owes only what its state change means. */
static void
every_cell_is_written(void **state)
{
	(void)state;
	for (int s = 0; s < EPISODE_STATES; s++)
		for (int ev = 0; ev < EPISODE_EVENTS; ev++) {
			const struct cell	*c = &table[s][ev];
			bool			 moves = (int)c->next != s ||
						    (int)c->otherwise != s;

			assert_in_range(c->next, 0, EPISODE_STATES - 1);
			assert_in_range(c->otherwise, 0, EPISODE_STATES - 1);
			/* A forgotten cell would say "to QUIET, always". */
			if (s != EPISODE_QUIET && c->gate == ALWAYS &&
			    c->next == EPISODE_QUIET)
				assert_true(ev == EPISODE_EV_DELIVERED ||
				    ev == EPISODE_EV_UNWATCHED);
			if (ev == EPISODE_EV_BLIND || ev == EPISODE_EV_WINDOW)
				assert_false(moves || c->owes != 0);
			if (c->owes & FAILS)
				assert_int_equal(c->next, EPISODE_FAILING);
			if (c->owes & REMINDS)
				assert_int_equal(s, EPISODE_FAILING);
			if (c->owes & ACCEPTS)
				assert_int_equal(s, EPISODE_FAILING);
			if (c->owes & (ARRIVES | LEAVES))
				assert_int_equal(c->next, EPISODE_QUIET);
			if (c->owes & LEAVES)
				assert_int_equal(ev, EPISODE_EV_UNWATCHED);
		}
}

/* What was held back is told when it has held, and not twice. */
static void
damping_delays_and_never_drops(void **state)
{
	struct story		 s = { .class = CLASS_SYSTEM_FULL };
	struct episode_limits	 lim = limits_for(&s);
	struct episode		 e = { .class = CLASS_SYSTEM_FULL };
	int64_t			 now = 1000000, accepting;

	(void)state;
	for (const char *p = "maadmaa"; *p != '\0'; p++)
		play(&e, *p, &lim, &now);
	accepting = now;
	assert_int_equal(e.state, EPISODE_ACCEPTING);
	assert_int_equal(e.owed, EPISODE_OWES_ACCEPTING);
	assert_int_equal(play(&e, 'd', &lim, &now), 0);
	assert_int_equal(e.tell_ms, accepting + lim.settle_ms);
	assert_int_equal(episode_settled(&e, &lim,
	    accepting + lim.settle_ms - 1), 0);
	assert_int_equal(episode_settled(&e, &lim, accepting + lim.settle_ms),
	    EPISODE_OWES_ACCEPTING | EPISODE_OWES_DELIVERED);
	assert_int_equal(episode_settled(&e, &lim,
	    accepting + 2 * lim.settle_ms), 0);
}

/* Accepting was told late; its arrival comes later still. */
static void
an_arrival_after_the_damped_accept_is_told_at_once(void **state)
{
	struct story		 s = { .class = CLASS_SYSTEM_FULL };
	struct episode_limits	 lim = limits_for(&s);
	struct episode		 e = { .class = CLASS_SYSTEM_FULL };
	int64_t			 now = 1000000;

	(void)state;
	for (const char *p = "maadmaa."; *p != '\0'; p++)
		play(&e, *p, &lim, &now);
	assert_int_equal(episode_settled(&e, &lim, now),
	    EPISODE_OWES_ACCEPTING);
	assert_int_equal(play(&e, 'd', &lim, &now), EPISODE_OWES_DELIVERED);
	/* People think it is well: the next miss is news. */
	assert_int_equal(play(&e, 'm', &lim, &now), EPISODE_OWES_FAILING);
}

static void
a_shorter_settle_counts_at_once(void **state)
{
	struct story		 s = { .class = CLASS_SYSTEM_FULL };
	struct episode_limits	 lim = limits_for(&s);
	struct episode		 e = { .class = CLASS_SYSTEM_FULL };
	int64_t			 now = 1000000;

	(void)state;
	for (const char *p = "maadmaad"; *p != '\0'; p++)
		play(&e, *p, &lim, &now);
	lim.settle_ms = 2 * SECOND;
	assert_int_equal(episode_settled(&e, &lim, now + 2 * SECOND),
	    EPISODE_OWES_ACCEPTING | EPISODE_OWES_DELIVERED);
}

/* A doubt during the watched recovery neither drops nor hurries it. */
static void
a_doubt_does_not_lose_what_is_held_back(void **state)
{
	struct story		 s = { .class = CLASS_NETWORK };
	struct episode_limits	 lim = limits_for(&s);
	struct episode		 e = { .class = CLASS_NETWORK };
	int64_t			 now = 1000000;

	(void)state;
	for (const char *p = "m.maadm"; *p != '\0'; p++)
		play(&e, *p, &lim, &now);
	now += 6 * MINUTE;
	assert_int_equal(play(&e, 'm', &lim, &now), EPISODE_OWES_FAILING);
	for (const char *p = "aadma"; *p != '\0'; p++)
		assert_int_equal(play(&e, *p, &lim, &now), 0);
	assert_int_equal(e.state, EPISODE_QUIET);
	assert_int_equal(e.owed,
	    EPISODE_OWES_ACCEPTING | EPISODE_OWES_DELIVERED);
	assert_int_equal(episode_settled(&e, &lim, e.tell_ms),
	    EPISODE_OWES_ACCEPTING | EPISODE_OWES_DELIVERED);
}

static void
the_figures_of_an_episode_are_kept(void **state)
{
	struct story		 s = { .class = CLASS_SYSTEM_FULL };
	struct episode_limits	 lim = limits_for(&s);
	struct episode		 e = { .class = CLASS_SYSTEM_FULL };
	int64_t			 now = 0;

	(void)state;
	for (const char *p = "mmaad"; *p != '\0'; p++)
		play(&e, *p, &lim, &now);
	assert_int_equal(e.opened_ms, 1 * SECOND);
	/* Whether anybody is told the caller knows. */
	assert_int_equal(e.failing_notice_ms, 0);
	assert_int_equal(e.accepting_ms, 4 * SECOND);
	assert_int_equal(e.delivered_ms, 5 * SECOND);
	assert_int_equal(e.refusals, 2);
	play(&e, 'm', &lim, &now);
	assert_int_equal(e.opened_ms, 1 * SECOND);
	assert_int_equal(e.swings, 2);
	assert_int_equal(e.refusals, 3);
	assert_int_equal(e.delivered_ms, 0);
	assert_int_equal(episode_since_ms(&e), 1 * SECOND);
}

static void
other_trouble_on_the_scope_ends_the_run(void **state)
{
	struct story		 s = { .class = CLASS_SYSTEM_FULL };
	struct episode_limits	 lim = limits_for(&s);
	struct episode		 e = { .class = CLASS_SYSTEM_FULL };
	int64_t			 now = 0;

	(void)state;
	for (const char *p = "mad"; *p != '\0'; p++)
		play(&e, *p, &lim, &now);
	episode_break_run(&e);
	assert_int_equal(play(&e, 'a', &lim, &now), 0);
	assert_int_equal(play(&e, 'a', &lim, &now), EPISODE_OWES_ACCEPTING);
}

/*
 * Whatever happens, people hear a story that makes sense: failing first, no
 * two failings without a recovery between, no recovery from nothing, and in
 * the end, once it has been well for long enough, that it is well.
 */
static void
no_world_tells_nonsense(void **state)
{
	static const char	letters[] = "mmmmaaaddbrrww..ku";
	uint64_t		seed = 88172645463325252U;

	(void)state;
	for (int world = 0; world < 20000; world++) {
		struct story		 s = { .class = world % 3 == 0 ?
					    CLASS_NETWORK : world % 3 == 1 ?
					    CLASS_SYSTEM_FULL :
					    CLASS_UNDELIVERED,
					    .origin = world % 3 == 2 ?
					    EPISODE_BY_AGE :
					    EPISODE_BY_ATTEMPT };
		struct episode_limits	 lim = limits_for(&s);
		struct episode		 e = { .class = s.class,
					    .origin = s.origin };
		int64_t			 now = 1000000;
		char			 said[128] = "", told[256] = "";
		char			 last = 'D';

		for (int k = 0; k < 60; k++) {
			unsigned	owes;
			char		ev;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			ev = letters[seed % (sizeof letters - 1)];
			if (k >= 52)
				ev = "aaddaad."[k - 52];
			said[k] = ev;
			owes = play(&e, ev, &lim, &now);
			owes |= episode_settled(&e, &lim, now);
			for (unsigned bit = 1; bit < 32; bit <<= 1) {
				char	c;

				if ((owes & bit) == 0)
					continue;
				c = letter(bit);
				told[strlen(told)] = c;
				if ((c == 'F' && last == 'F') ||
				    (c == 'S' && last != 'F') ||
				    (c == 'A' && last != 'F') ||
				    (c == 'D' && last != 'A') ||
				    (c == 'U' && last == 'D'))
					fail_msg("world %d: %s told %s",
					    world, said, told);
				if (c != 'S')	/* both are an end */
					last = c == 'U' ? 'D' : c;
			}
		}
		if (last != 'D')
			fail_msg("world %d: %s told %s and no end", world,
			    said, told);
	}
}

/*
 * Windows: ( begins one and ) ends it.  M miss, A accept, D delivered; what
 * people hear, F failing, A accepting again, D delivered again.  U is both:
 * nothing shows it any more.
 */
static const struct {
	const char	*what, *deeds, *told;
} windows[] = {
	{ "nothing is held back without one", "MAD", "FAD" },
	{ "begun and ended inside", "(MAD)", "" },
	{ "begun inside, lasting", "(M)AD", "FAD" },
	{ "begun and left inside", "(MU)", "" },
	{ "begun before, left inside", "M(U)", "FU" },
	{ "accepting before, left inside", "MA(U)", "FAU" },
	{ "left inside, and again in trouble", "M(UM)AD", "FAD" },
	{ "begun inside, accepting at its end", "(MA)D", "FAD" },
	{ "recovered inside", "M(AD)", "FAD" },
	{ "accepting inside, delivered after", "M(A)D", "FAD" },
	{ "delivered inside, accepting told before", "MA(D)", "FAD" },
	{ "recovered and failing again", "M(ADM)AD", "FAD" },
	{ "relapsed while accepting", "MA(M)AD", "FAFAD" },
	{ "relapsed while accepting, and mended", "MA(MAD)", "FAD" },
	{ "swings inside", "(MADMADMAD)", "" },
	{ "two windows", "(M)(AD)", "FAD" },
	{ "two windows, nothing between", "(MAD)(MAD)", "" },
	{ "a window in which nothing happens", "M()AD", "FAD" },
};

static void
hear(char *told, unsigned owes)
{
	static const struct {
		unsigned	bit;
		char		letter;
	} letters[] = {
		{ EPISODE_OWES_FAILING, 'F' }, { EPISODE_OWES_ACCEPTING, 'A' },
		{ EPISODE_OWES_DELIVERED, 'D' }, { EPISODE_OWES_UNWATCHED, 'U' },
	};

	for (size_t i = 0; i < NITEMS(letters); i++)
		if (owes & letters[i].bit)
			told[strlen(told)] = letters[i].letter;
}

static enum episode_event
event_of(char deed)
{
	return (deed == 'M' ? EPISODE_EV_MISS : deed == 'A' ?
	    EPISODE_EV_ACCEPT : deed == 'D' ? EPISODE_EV_DELIVERED :
	    deed == 'U' ? EPISODE_EV_UNWATCHED :
	    EPISODE_EV_WINDOW);
}

static void
after_a_window_people_know_what_is_so(void **state)
{
	const struct episode_limits	lim = { 1, 0, 1, 0 };
	unsigned			bad = 0;

	(void)state;
	for (size_t i = 0; i < NITEMS(windows); i++) {
		struct episode	e = { .class = CLASS_SYSTEM_FULL };
		char		told[64] = "";
		int64_t		now_ms = 1000000;
		bool		window = false;

		for (const char *d = windows[i].deeds; *d != '\0'; d++) {
			enum episode_state	believed = episode_believed(&e);
			unsigned		owes;

			window = *d == '(' || (window && *d != ')');
			owes = episode_step(&e, event_of(*d), &lim,
			    now_ms += 1000);
			hear(told, episode_withhold(&e, believed, owes,
			    window));
		}
		if (strcmp(told, windows[i].told) == 0 && !e.held)
			continue;
		print_error("%s: \"%s\" told \"%s\", expected \"%s\"%s\n",
		    windows[i].what, windows[i].deeds, told, windows[i].told,
		    e.held ? ", and still holds" : "");
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void
names_lead_back(void **state)
{
	(void)state;
	for (int s = 0; s < EPISODE_STATES; s++)
		assert_int_equal(s, episode_state_of(
		    episode_state_name((enum episode_state)s)));
	for (int o = 0; o < EPISODE_ORIGINS; o++)
		assert_int_equal(o, episode_origin_of(
		    episode_origin_name((enum episode_origin)o)));
	assert_string_equal(episode_event_name(EPISODE_EV_MISS), "miss");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(every_story_tells_what_it_should),
		cmocka_unit_test(every_cell_is_written),
		cmocka_unit_test(damping_delays_and_never_drops),
		cmocka_unit_test(
		    an_arrival_after_the_damped_accept_is_told_at_once),
		cmocka_unit_test(a_shorter_settle_counts_at_once),
		cmocka_unit_test(a_doubt_does_not_lose_what_is_held_back),
		cmocka_unit_test(the_figures_of_an_episode_are_kept),
		cmocka_unit_test(other_trouble_on_the_scope_ends_the_run),
		cmocka_unit_test(no_world_tells_nonsense),
		cmocka_unit_test(after_a_window_people_know_what_is_so),
		cmocka_unit_test(names_lead_back),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
