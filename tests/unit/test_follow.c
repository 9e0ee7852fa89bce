#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alerts_world.h"
#include "fake_store.h"
#include "monitor/mem.h"

static struct world	w;

static int
begin(void **state)
{
	(void)state;
	world_open(&w, "", "");
	return (0);
}

static int
end(void **state)
{
	(void)state;
	world_close(&w);
	return (0);
}

static void
play_full_system(void)
{
	for (int i = 0; i < 4; i++)
		world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	/* A lucky 250: the same probe cannot be used again. */
	memset(w.probes, 0, sizeof w.probes);
	for (int i = 0; i < 3; i++)
		world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "F");
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "FAD");
	world_arrive(&w, "r1");
}

static void
a_full_system_is_three_notices(void **state)
{
	(void)state;
	play_full_system();
	world_pass(&w, 2 * DAY);
	assert_string_equal(w.told, "FAD");
	assert_int_equal(fake_store_episodes(w.store), 1);
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
the_same_with_a_crash_after_every_turn(void **state)
{
	(void)state;
	w.restarts = true;
	play_full_system();
	world_pass(&w, 2 * DAY);
	assert_string_equal(w.told, "FAD");
	assert_int_equal(fake_store_rows(w.store), 1);
}

/* Dies at the nth turn and nowhere else, for every n. */
static void
a_crash_at_any_one_step_changes_nothing(void **state)
{
	static const char	steps[] = "fffafffaraar";

	(void)state;
	for (size_t die = 0; die < sizeof steps; die++) {
		world_close(&w);
		world_open(&w, "", "");
		for (size_t i = 0; steps[i] != '\0'; i++) {
			if (i == die)
				world_restart(&w, true);
			if (steps[i] == 'f')
				world_full(&w, "r1");
			else if (steps[i] == 'r')
				world_arrive(&w, "r1");
			else
				world_accept(&w, "r1", "mx.example");
		}
		world_pass(&w, HOUR);
		if (strcmp(w.told, "FAD") != 0)
			fail_msg("died at %zu: told %s", die, w.told);
		assert_int_equal(fake_store_rows(w.store), 1);
	}
}

static void
five_routes_on_one_full_server_are_one_notice(void **state)
{
	static const char *const	routes[] = { "r1", "r2", "r3", "r4",
					    "r5" };
	unsigned			may = 0;

	(void)state;
	for (size_t i = 0; i < NITEMS(routes); i++)
		world_full(&w, routes[i]);
	assert_string_equal(w.told, "F");
	for (size_t i = 0; i < NITEMS(routes); i++)
		may += world_may_try(&w, routes[i]);
	assert_int_equal(may, 1);
	/* The same one again and again, nobody else. */
	assert_true(world_may_try(&w, "r1"));
	assert_false(world_may_try(&w, "r2"));
	assert_true(world_may_try(&w, "hidden"));
	world_accept(&w, "r1", "mx.example");
	world_pass(&w, MINUTE);
	assert_true(world_may_try(&w, "r2"));
	world_accept(&w, "r2", "mx.example");
	assert_string_equal(w.told, "FA");
	/* Released: all may go. */
	for (size_t i = 2; i < NITEMS(routes); i++)
		assert_true(world_may_try(&w, routes[i]));
	world_arrive(&w, "r2");
	assert_string_equal(w.told, "FAD");
	for (size_t i = 2; i < NITEMS(routes); i++) {
		world_accept(&w, routes[i], "mx.example");
		world_arrive(&w, routes[i]);
	}
	world_pass(&w, DAY);
	assert_string_equal(w.told, "FAD");
}

static void
the_sentinel_hands_over(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_full(&w, "r2");
	assert_true(world_may_try(&w, "r1"));
	assert_false(world_may_try(&w, "r2"));
	/* It gave up, was paused or removed. */
	follow_gone(w.follow, world_probe(&w, "r1")->token, w.now_ms);
	assert_true(world_may_try(&w, "r2"));
	assert_false(world_may_try(&w, "r1"));
	/* What it meets is another scope's. */
	world_attempt(&w, "r2", "mx.example", STAGE_RCPT, CLASS_MAILBOX_FULL,
	    "452 4.2.2 Mailbox full");
	assert_true(world_may_try(&w, "r1"));
	/* The same scope, another class: it stays. */
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	assert_false(world_may_try(&w, "r2"));
	assert_true(world_may_try(&w, "r1"));
	/* Silence after the dot: never sent again. */
	world_attempt(&w, "r1", "mx.example", STAGE_DOT, CLASS_UNCERTAIN,
	    "no reply");
	assert_true(world_may_try(&w, "r2"));
	assert_string_equal(w.told, "F");
}

/* Two scopes over the same routes, each with its own sentinel. */
static void
two_sentinels_do_not_wait_for_each_other(void **state)
{
	bool	a, b;

	(void)state;
	world_close(&w);
	world_open(&w, "fail_after = 1 fail_for = 1s", "route \"twin\" { server "
	    "= \"full\" from = \"p@example.org\" to = \"a@mx.example\" "
	    "mailbox = \"box\" alerts = \"default\" }");
	world_attempt(&w, "r1", "mx.example", STAGE_RCPT, CLASS_MAILBOX_FULL,
	    "452 4.2.2 Mailbox full");
	world_pass(&w, 10 * SECOND);
	assert_string_equal(w.told, "F");
	assert_true(world_may_try(&w, "r1"));
	assert_false(world_may_try(&w, "twin"));
	world_full(&w, "r1");		/* its sentinel is given back */
	assert_true(world_may_try(&w, "twin"));
	a = world_may_try(&w, "r1");
	b = world_may_try(&w, "twin");
	assert_true(a != b);
}

static void
want(void *arg, const struct episode *e, const char *route)
{
	struct world	*world = arg;

	world->want_episode = e->id;
	snprintf(world->want_scope, sizeof world->want_scope, "%s", e->scope);
	snprintf(world->want_route, sizeof world->want_route, "%s", route);
}

/* The wider scope has the say, though the narrower is older. */
static void
a_full_system_outranks_a_full_mailbox(void **state)
{
	(void)state;
	world_close(&w);
	world_open(&w, "fail_after = 1 fail_for = 1s", "");
	world_attempt(&w, "r1", "mx.example", STAGE_RCPT, CLASS_MAILBOX_FULL,
	    "452 4.2.2 Mailbox full");
	world_pass(&w, 10 * SECOND);
	assert_true(world_may_try(&w, "r1"));
	world_full(&w, "r2");
	assert_true(world_may_try(&w, "r2"));
	assert_false(world_may_try(&w, "r1"));
}

static void
a_sender_that_dies_now_and_then_is_not_told(void **state)
{
	(void)state;
	world_attempt(&w, "r1", "mx.example", STAGE_DOT, CLASS_BLIND,
	    "the sender died");
	world_pass(&w, 5 * MINUTE);
	world_full(&w, "r1");
	world_pass(&w, 30 * MINUTE);
	assert_string_equal(w.told, "F");
	assert_null(strstr(w.last.message, "CANNOT LOOK"));
}

static void
a_reminder_that_is_overdue_at_the_start_looks_first(void **state)
{
	(void)state;
	world_full(&w, "r1");
	w.now_ms += 5 * HOUR;
	world_restart(&w, true);
	world_pass(&w, 10 * MINUTE);
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FAD");
}

static void
an_overdue_reminder_is_not_dropped(void **state)
{
	(void)state;
	world_full(&w, "r1");
	w.now_ms += 5 * HOUR;
	world_restart(&w, true);
	world_pass(&w, 31 * MINUTE);
	assert_string_equal(w.told, "FS");
}

static void
a_confirming_probe_is_asked_for(void **state)
{
	(void)state;
	world_full(&w, "r2");
	world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_int_equal(w.want_episode, 0);
	assert_false(world_may_try(&w, "r2"));
	assert_int_equal(follow_next_ms(w.follow), w.now_ms + 30 * SECOND);
	w.now_ms += 30 * SECOND;
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_int_equal(w.want_episode, 1);
	assert_string_equal(w.want_scope, "system mx.example");
	assert_string_equal(w.want_route, "r1");
	/* Not again at once, or the loop would spin. */
	w.want_episode = 0;
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_int_equal(w.want_episode, 0);
	follow_confirming(w.follow, 1, world_probe(&w, "r2")->token,
	    w.now_ms);
	assert_true(world_may_try(&w, "r2"));
	assert_false(world_may_try(&w, "r3"));
	world_accept(&w, "r2", "mx.example");
	assert_string_equal(w.told, "FA");
}

static void
a_confirming_probe_is_asked_for_after_a_restart(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	world_restart(&w, true);
	assert_false(world_may_try(&w, "r2"));
	w.now_ms += 31 * SECOND;
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_string_equal(w.want_route, "r1");
}

static void
another_host_s_accept_moves_nothing(void **state)
{
	(void)state;
	world_attempt(&w, "w1", "mx1.far.example", STAGE_MAIL,
	    CLASS_SYSTEM_FULL, "452 4.3.1 full");
	for (int i = 0; i < 5; i++)
		world_accept(&w, "w2", "mx2.far.example");
	world_arrive(&w, "w2");
	assert_string_equal(w.told, "F");
	world_accept(&w, "w1", "mx1.far.example");
	world_accept(&w, "w2", "mx1.far.example");
	world_arrive(&w, "w2");
	assert_string_equal(w.told, "FAD");
}

static void
routes_to_one_mx_share_its_sentinel(void **state)
{
	(void)state;
	world_attempt(&w, "w1", "mx1.far.example", STAGE_MAIL,
	    CLASS_SYSTEM_FULL, "452 4.3.1 full");
	assert_true(world_may_try(&w, "w1"));
	assert_false(world_may_try(&w, "w2"));
	assert_true(world_may_try(&w, "r1"));
}

static void
a_short_network_trouble_is_not_told(void **state)
{
	(void)state;
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	world_pass(&w, 4 * MINUTE);
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	world_pass(&w, DAY);
	assert_string_equal(w.told, "");
	assert_int_equal(fake_store_rows(w.store), 0);
	/* The next doubt uses the same row. */
	world_attempt(&w, "r2", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	assert_int_equal(fake_store_episodes(w.store), 1);
}

static void
a_long_one_is_told_when_its_time_is_up(void **state)
{
	int64_t	began;

	(void)state;
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	began = w.now_ms;
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	assert_int_equal(follow_next_ms(w.follow), began + 5 * MINUTE);
	world_pass(&w, 6 * MINUTE);
	assert_string_equal(w.told, "F");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FAD");
}

/* What a monitor remembers from before it was down is no news. */
static void
a_doubt_from_before_a_long_stop_is_not_told(void **state)
{
	(void)state;
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	w.now_ms += DAY;
	world_restart(&w, true);
	world_pass(&w, SECOND);
	assert_string_equal(w.told, "");
	world_accept(&w, "r1", "mx.example");
	world_pass(&w, HOUR);
	assert_string_equal(w.told, "");
}

static void
full_then_unreachable_are_two_episodes_that_end_together(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	world_pass(&w, 6 * MINUTE);
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	assert_string_equal(w.told, "FF");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FFAADD");
}

static void
other_trouble_between_two_accepts_breaks_the_run(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection reset");
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "F");
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "FA");
}

static void
a_250_to_mail_is_no_accept(void **state)
{
	(void)state;
	world_full(&w, "r1");
	for (int i = 0; i < 3; i++)
		world_attempt(&w, "r1", "mx.example", STAGE_DOT,
		    CLASS_SYSTEM_FULL, "451 4.3.0 queue file write error");
	assert_string_equal(w.told, "F");
}

static void
a_relapse_within_settle_is_the_same_episode(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	world_pass(&w, 20 * MINUTE);
	world_full(&w, "r1");
	assert_string_equal(w.told, "FADF");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FADF");
	world_restart(&w, true);
	world_pass(&w, 29 * MINUTE);
	assert_string_equal(w.told, "FADF");
	world_pass(&w, 2 * MINUTE);
	assert_string_equal(w.told, "FADFAD");
	assert_int_equal(fake_store_episodes(w.store), 1);
	assert_int_equal(fake_store_rows(w.store), 1);
	assert_int_equal(fake_store_row(w.store, 0)->swings, 2);
	/* After settle it is a new one. */
	world_pass(&w, 2 * HOUR);
	world_full(&w, "r1");
	assert_int_equal(fake_store_episodes(w.store), 2);
	assert_string_equal(w.told, "FADFADF");
}

static void
flapping_for_a_day_tells_little_and_the_end(void **state)
{
	(void)state;
	for (int i = 0; i < 144; i++) {
		world_full(&w, "r1");
		world_pass(&w, 3 * MINUTE);
		world_accept(&w, "r1", "mx.example");
		world_pass(&w, 3 * MINUTE);
		world_accept(&w, "r1", "mx.example");
		world_arrive(&w, "r1");
		world_pass(&w, 3 * MINUTE);
	}
	world_pass(&w, HOUR);
	assert_string_equal(w.told, "FADFAD");
	assert_int_equal(fake_store_rows(w.store), 1);
}

static void
late_mail_opens_an_episode_that_relayed_accepts_do_not_end(void **state)
{
	struct probe	*p;

	(void)state;
	world_accept(&w, "hidden", "relay.example");
	p = world_probe(&w, "hidden");
	world_pass(&w, 10 * MINUTE);
	follow_late(w.follow, world_route(&w, "hidden"), p, w.now_ms);
	world_turn(&w);
	assert_string_equal(w.told, "F");
	/* A route is not held back: its mail is accepted. */
	assert_true(world_may_try(&w, "hidden"));
	/* The late one arrives: handed over before the last sign. */
	world_arrive(&w, "hidden");
	for (int i = 0; i < 4; i++)
		world_accept(&w, "hidden", "relay.example");
	assert_string_equal(w.told, "F");
	world_arrive(&w, "hidden");
	assert_string_equal(w.told, "FAD");
	world_pass(&w, HOUR);
	assert_int_equal(fake_store_rows(w.store), 1);
	assert_int_equal(fake_store_row(w.store, 0)->accepting_ms, 0);
}

static void
what_is_uncertain_already_is_not_also_late(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		world_attempt(&w, "r1", "mx.example", STAGE_DOT,
		    CLASS_UNCERTAIN, "");
		world_pass(&w, 6 * MINUTE);
	}
	assert_string_equal(w.told, "F");
	follow_late(w.follow, world_route(&w, "r1"), world_probe(&w, "r1"),
	    w.now_ms);
	world_turn(&w);
	assert_string_equal(w.told, "F");
	/* Not of what was accepted. */
	memset(w.probes, 0, sizeof w.probes);
	world_accept(&w, "r1", "mx.example");
	follow_late(w.follow, world_route(&w, "r1"), world_probe(&w, "r1"),
	    w.now_ms);
	world_turn(&w);
	assert_string_equal(w.told, "FF");
}

static void
what_is_late_began_when_it_was_handed_over(void **state)
{
	int64_t	since_ms;

	(void)state;
	world_accept(&w, "hidden", "relay.example");
	since_ms = w.now_ms;
	world_pass(&w, 10 * MINUTE);
	follow_late(w.follow, world_route(&w, "hidden"),
	    world_probe(&w, "hidden"), w.now_ms);
	world_turn(&w);
	assert_non_null(strstr(w.last.message, "Lasting        10 min"));
	memset(w.probes, 0, sizeof w.probes);
	world_accept(&w, "hidden", "relay.example");
	follow_late(w.follow, world_route(&w, "hidden"),
	    world_probe(&w, "hidden"), w.now_ms);
	world_accept(&w, "hidden", "relay.example");
	world_arrive(&w, "hidden");
	world_pass(&w, DAY);
	assert_string_equal(w.told, "FAD");
	assert_int_equal(fake_store_row(w.store, 0)->first_miss_ms, since_ms);
}

/* Which proves nothing; but now it is worth a look. */
static void
a_late_mail_that_arrives_asks_once_for_a_new_one(void **state)
{
	(void)state;
	world_accept(&w, "hidden", "relay.example");
	w.now_ms += 10 * MINUTE;
	follow_late(w.follow, world_route(&w, "hidden"),
	    world_probe(&w, "hidden"), w.now_ms);
	world_turn(&w);
	w.now_ms += HOUR / 2;
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_int_equal(w.want_episode, 0);
	world_arrive(&w, "hidden");
	assert_int_equal(follow_next_ms(w.follow), w.now_ms + 30 * SECOND);
	w.now_ms += 30 * SECOND;
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_int_equal(w.want_episode, 1);
	assert_string_equal(w.want_route, "hidden");
	w.want_episode = 0;
	w.now_ms += HOUR / 4;
	follow_confirms(w.follow, w.now_ms, want, &w);
	assert_int_equal(w.want_episode, 0);
	world_accept(&w, "hidden", "relay.example");
	world_arrive(&w, "hidden");
	assert_string_equal(w.told, "FAD");
}

static void
a_blind_mailbox_is_told_after_a_while_and_its_return_once(void **state)
{
	const struct mailbox	*m = config_mailbox(w.config, "box");

	(void)state;
	follow_mailbox(w.follow, m, true, CLASS_AUTH, "login refused",
	    w.now_ms);
	world_turn(&w);
	world_pass(&w, 9 * MINUTE);
	assert_string_equal(w.told, "");
	follow_mailbox(w.follow, m, true, CLASS_AUTH, "login refused",
	    w.now_ms);
	world_pass(&w, 2 * MINUTE);
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "Subject: CANNOT LOOK"));
	assert_non_null(strstr(w.last.message, "login refused"));
	follow_mailbox(w.follow, m, false, CLASS_NONE, "", w.now_ms);
	world_turn(&w);
	assert_string_equal(w.told, "FD");
	assert_non_null(strstr(w.last.message, "Subject: CAN LOOK AGAIN"));
	follow_mailbox(w.follow, m, false, CLASS_NONE, "", w.now_ms);
	world_pass(&w, DAY);
	assert_string_equal(w.told, "FD");
}

static void
a_short_blindness_is_not_told(void **state)
{
	const struct mailbox	*m = config_mailbox(w.config, "box");

	(void)state;
	for (int i = 0; i < 10; i++) {
		follow_mailbox(w.follow, m, true, CLASS_NETWORK, "reset",
		    w.now_ms);
		world_pass(&w, 5 * MINUTE);
		follow_mailbox(w.follow, m, false, CLASS_NONE, "", w.now_ms);
		world_pass(&w, 5 * MINUTE);
	}
	assert_string_equal(w.told, "");
}

static void
a_refused_login_is_blindness_and_no_trouble_of_the_server(void **state)
{
	(void)state;
	world_attempt(&w, "r1", "mx.example", STAGE_AUTH, CLASS_BLIND,
	    "535 5.7.8 Authentication failed");
	memset(w.probes, 0, sizeof w.probes);
	world_pass(&w, 11 * MINUTE);
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "CANNOT LOOK: mx.example"));
	/* Less than a login shows nothing. */
	world_attempt(&w, "r1", "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	world_attempt(&w, "r1", "mx.example", STAGE_GREETING,
	    CLASS_CONGESTION, "421 4.3.2 busy");
	assert_string_equal(w.told, "F");
	/* Any answer to a message shows that the login works again. */
	world_full(&w, "r1");
	assert_string_equal(w.told, "FDF");
}

static void
look_up(const char *route, const char *host, bool answers)
{
	struct outcome	*o = mem_alloc(sizeof *o);

	w.now_ms += SECOND;
	world_outcome(&w, o, host, STAGE_LOOKUP, CLASS_DNS, "");
	o->blind = !answers;
	if (answers)
		o->verdict = VERDICT_PERMANENT;
	follow_attempt(w.follow, world_route(&w, route),
	    world_probe(&w, route), o, w.now_ms);
	mem_free(o);
	world_turn(&w);
}

/* An open mailbox shows that there is a network. */
static void
no_look_up_works(void)
{
	follow_mailbox(w.follow, config_mailbox(w.config, "box"), false,
	    CLASS_NONE, "", w.now_ms);
	for (int i = 0; i < 4; i++) {
		look_up("r1", "mx.example", false);
		look_up("w1", "", false);
		look_up("hidden", "relay.example", false);
		world_pass(&w, 4 * MINUTE);
	}
}

static void
a_dead_resolver_is_one_episode_for_all(void **state)
{
	(void)state;
	no_look_up_works();
	world_pass(&w, 5 * MINUTE);
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "Subject: CANNOT LOOK: "
	    "resolver"));
	/* Others were never looked up. */
	world_accept(&w, "r2", "mx.example");
	assert_string_equal(w.told, "F");
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "FD");
	assert_non_null(strstr(w.last.message, "Subject: CAN LOOK AGAIN: "
	    "resolver"));
	world_accept(&w, "hidden", "relay.example");
	world_pass(&w, DAY);
	assert_string_equal(w.told, "FD");
	assert_int_equal(fake_store_rows(w.store), 1);
}

static void
that_a_name_does_not_exist_is_an_answer_of_the_resolver(void **state)
{
	(void)state;
	no_look_up_works();
	look_up("hidden", "relay.example", true);
	assert_string_equal(w.told, "FD");
}

/* One zone that is broken is not hidden by others that are well. */
static void
one_name_that_cannot_be_looked_up_is_told_beside_others(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		look_up("w1", "", false);
		world_accept(&w, "r1", "mx.example");
		world_arrive(&w, "r1");
		world_pass(&w, 4 * MINUTE);
	}
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "route w1"));
}

static void
blindness_does_not_end_a_full_system(void **state)
{
	(void)state;
	world_full(&w, "r1");
	follow_mailbox(w.follow, config_mailbox(w.config, "box"), true,
	    CLASS_NETWORK, "reset", w.now_ms);
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "FA");
	assert_non_null(strstr(w.last.message, "cannot be confirmed"));
	follow_mailbox(w.follow, config_mailbox(w.config, "box"), false,
	    CLASS_NONE, "", w.now_ms);
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FAD");
}

static void
greylisting_is_no_trouble_within_its_grace(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		world_attempt(&w, "r1", "mx.example", STAGE_RCPT,
		    CLASS_GREYLISTING, "450 4.2.0 Greylisted");
		world_pass(&w, 5 * MINUTE);
	}
	assert_int_equal(fake_store_episodes(w.store), 0);
	for (int i = 0; i < 5; i++) {
		world_attempt(&w, "r1", "mx.example", STAGE_RCPT,
		    CLASS_GREYLISTING, "450 4.2.0 Greylisted");
		world_pass(&w, 5 * MINUTE);
	}
	assert_string_equal(w.told, "F");
}

static void
reminders_come_at_growing_gaps_until_somebody_knows(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_pass(&w, HOUR - MINUTE);
	assert_string_equal(w.told, "F");
	world_pass(&w, 2 * MINUTE);
	assert_string_equal(w.told, "FS");
	world_pass(&w, 2 * HOUR);
	assert_string_equal(w.told, "FSS");
	world_pass(&w, 4 * HOUR);
	/* After a start only what has been seen again is worth a reminder. */
	world_restart(&w, true);
	world_pass(&w, HOUR);
	world_full(&w, "r1");
	world_pass(&w, 7 * HOUR + 24 * HOUR + 24 * HOUR);
	assert_string_equal(w.told, "FSSSSSS");
	assert_int_equal(follow_ack(w.follow, 1, w.now_ms), 0);
	assert_int_equal(follow_ack(w.follow, 77, w.now_ms), -1);
	world_pass(&w, 10 * DAY);
	assert_string_equal(w.told, "FSSSSSS");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FSSSSSSAD");
}

static void
pause(const char *route, bool paused)
{
	assert_int_equal(store_fact_put(w.store, "paused", route, paused, ""),
	    0);
	world_turn(&w);
}

static void
while_nothing_is_tried_nobody_is_reminded(void **state)
{
	(void)state;
	world_attempt(&w, "hidden", "relay.example", STAGE_MAIL,
	    CLASS_SYSTEM_FULL, "452 4.3.1 full");
	pause("hidden", true);
	world_pass(&w, 3 * DAY);
	assert_string_equal(w.told, "F");
	pause("hidden", false);
	world_pass(&w, 2 * HOUR);
	assert_string_equal(w.told, "FS");
	assert_int_equal(follow_ack(w.follow, 1, w.now_ms), 0);
	/* One of several is not all. */
	world_full(&w, "r1");
	pause("r1", true);
	world_pass(&w, HOUR + MINUTE);
	assert_string_equal(w.told, "FSFS");
}

static void
every_section_of_an_episode_is_told_from_the_start(void **state)
{
	static const char	more[] =
	    "alerts \"night\" { from = \"m@example.org\" to = {\"night@"
	    "example.org\", \"admin@example.org\"} servers = {\"alert1\"} }\n"
	    "route \"n1\" { server = \"full\" from = \"p@example.org\" to = "
	    "\"n@mx.example\" mailbox = \"box\" alerts = \"night\" }\n";

	(void)state;
	world_configure(&w, "", more);
	world_full(&w, "r1");
	assert_string_equal(w.told, "F");
	assert_string_equal(w.told_other, "");
	/* Joins later: hears of the beginning, then of the end. */
	world_full(&w, "n1");
	world_full(&w, "n1");
	assert_string_equal(w.told, "F");
	assert_string_equal(w.told_other, "F");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "n1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told_other, "FAD");
	/* One person, two sections: one copy. */
	assert_string_equal(w.told, "FAD");
}

/* The same section with another person, and another name. */
static void
put_on_duty(const char *person, const char *name)
{
	char	more[512];

	snprintf(more, sizeof more, "alerts \"%s\" { from = \"m@example.org\" "
	    "to = {\"stays@example.org\", \"%s@example.org\"} servers = "
	    "{\"alert1\"} }\nserver \"far\" { host = \"far2.example\" tls = "
	    "\"none\" }\nroute \"n1\" { server = \"far\" from = "
	    "\"p@example.org\" to = \"n@mx.example\" mailbox = \"box\" "
	    "alerts = \"%s\" }\n", name, person, name);
	world_configure(&w, "", more);
	world_turn(&w);
}

static void
who_is_new_at_a_reload_hears_of_what_is_open(void **state)
{
	(void)state;
	put_on_duty("old", "night");
	world_attempt(&w, "n1", "far2.example", STAGE_MAIL,
	    CLASS_SYSTEM_FULL, "452 4.3.1 full");
	assert_string_equal(w.told_other, "FF");
	put_on_duty("old", "night");
	assert_string_equal(w.told_other, "FF");
	put_on_duty("new", "night");
	assert_string_equal(w.told_other, "FFF");
	assert_string_equal(w.last.to, "new@example.org");
	put_on_duty("third", "day");
	assert_string_equal(w.told_other, "FFFF");
	assert_string_equal(w.last.to, "third@example.org");
	world_accept(&w, "n1", "far2.example");
	world_accept(&w, "n1", "far2.example");
	assert_string_equal(w.told_other, "FFFFAA");
	put_on_duty("fourth", "day");
	assert_string_equal(w.told_other, "FFFFAAFA");
	assert_string_equal(w.last.to, "fourth@example.org");
	world_arrive(&w, "n1");
	assert_string_equal(w.told_other, "FFFFAAFADD");
	put_on_duty("fifth", "day");
	world_pass(&w, DAY);
	assert_string_equal(w.told_other, "FFFFAAFADD");
	assert_string_equal(w.told, "");
}

static void
a_route_without_alerts_is_followed_in_silence(void **state)
{
	(void)state;
	config_route(w.config, "hidden")->alerts = NULL;
	world_attempt(&w, "hidden", "relay.example", STAGE_MAIL,
	    CLASS_SYSTEM_FULL, "452 4.3.1 full");
	world_accept(&w, "hidden", "relay.example");
	world_accept(&w, "hidden", "relay.example");
	world_arrive(&w, "hidden");
	world_pass(&w, DAY);
	assert_string_equal(w.told, "");
	assert_int_equal(fake_store_rows(w.store), 1);
	assert_int_equal(fake_store_row(w.store, 0)->failing_notice_ms, 0);
}

static void
a_reload_does_not_forget_what_is_owed(void **state)
{
	(void)state;
	world_full(&w, "r1");
	world_configure(&w, "accept_after = 1", "");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FAD");
}

static const char	gone[] =
    "server \"gone\" { host = \"gone.example\" tls = \"none\" }\n"
    "route \"g\" { server = \"gone\" from = \"p@example.org\" to = "
    "\"n@mx.example\" mailbox = \"box\" alerts = \"default\" }\n";

static void
full_at_gone(void)
{
	world_configure(&w, "", gone);
	world_attempt(&w, "g", "gone.example", STAGE_MAIL, CLASS_SYSTEM_FULL,
	    "452 4.3.1 full");
	assert_string_equal(w.told, "F");
}

static void
a_removed_route_ends_its_episode_and_sends_no_more_reminders(void **state)
{
	const struct episode	*row;

	(void)state;
	full_at_gone();
	world_configure(&w, "", "");
	world_pass(&w, 5 * DAY);
	assert_string_equal(w.told, "FU");
	assert_non_null(strstr(w.last.message, "NO LONGER WATCHED: "));
	assert_int_equal(fake_store_rows(w.store), 1);
	row = fake_store_row(w.store, 0);
	assert_string_equal(row->closed_by, EPISODE_UNWATCHED);
	assert_int_equal(row->state, EPISODE_QUIET);
}

static void
a_doubt_of_a_removed_route_comes_to_nothing(void **state)
{
	(void)state;
	world_configure(&w, "", gone);
	for (int i = 0; i < 2; i++)
		world_attempt(&w, "g", "gone.example", STAGE_CONNECT,
		    CLASS_NETWORK, "connection refused");
	world_configure(&w, "", "");
	world_pass(&w, DAY);
	assert_string_equal(w.told, "");
	assert_int_equal(fake_store_rows(w.store), 0);
}

/* Whether it was reloaded or stopped and started is all the same. */
static void
a_route_removed_while_it_was_down_ends_its_episode(void **state)
{
	(void)state;
	full_at_gone();
	follow_close(&w.follow);
	world_configure(&w, "", "");
	w.follow = follow_open(w.config, w.store, fake_store_csv(w.store),
	    NULL, NULL);
	follow_config(w.follow, w.config, w.now_ms);
	outbox_config(w.outbox, w.config);
	outbox_wake(w.outbox);
	world_turn(&w);
	assert_string_equal(w.told, "FU");
}

static void
a_mailbox_that_is_no_longer_watched_ends_its_blindness(void **state)
{
	const char	*extra = "mailbox \"third\" { host = \"imap.example\" "
			    "user = \"u\" password_command = \"true\" }\n"
			    "route \"t\" { server = \"full\" from = "
			    "\"p@example.org\" to = \"t@mx.example\" mailbox "
			    "= \"third\" alerts = \"default\" }\n";

	(void)state;
	world_configure(&w, "", extra);
	follow_mailbox(w.follow, config_mailbox(w.config, "third"), true,
	    CLASS_AUTH, "login refused", w.now_ms);
	world_pass(&w, 11 * MINUTE);
	assert_string_equal(w.told, "F");
	world_configure(&w, "", "");
	world_turn(&w);
	assert_string_equal(w.told, "FU");
}

static void
events_of(void *arg, int64_t at_ms, const char *event, const char *probe,
    const char *text)
{
	char	*all = arg;

	(void)at_ms;
	(void)probe;
	snprintf(all + strlen(all), 4096 - strlen(all), "%s: %s\n", event,
	    text);
}

/* What --why says is what was done. */
static void
a_step_that_nobody_hears_of_says_so(void **state)
{
	char	why[4096] = "";

	(void)state;
	world_configure(&w, "", "alerts \"mute\" { from = \"m@example.org\" "
	    "to = {\"mute@example.org\"} servers = {\"alert1\"} }\n"
	    "route \"m1\" { server = \"full\" from = \"p@example.org\" to = "
	    "\"m@mx.example\" mailbox = \"box\" alerts = \"mute\" }\n");
	mem_free(config_alerts(w.config, "mute")->to[0]);
	config_alerts(w.config, "mute")->to[0] = NULL;
	world_full(&w, "m1");
	assert_int_equal(store_episode_events(w.store, 1, events_of, why), 0);
	assert_non_null(strstr(why, "nobody is told"));
	assert_null(strstr(why, "told: failing"));
}

static void
a_host_that_vanishes_for_a_moment_ends_nothing(void **state)
{
	(void)state;
	world_full(&w, "r1");
	follow_listed(w.follow, 1, false, w.now_ms);
	w.now_ms += 23 * HOUR;
	follow_listed(w.follow, 1, false, w.now_ms);
	follow_listed(w.follow, 1, true, w.now_ms);
	w.now_ms += 2 * HOUR;
	follow_listed(w.follow, 1, false, w.now_ms);
	world_turn(&w);
	assert_string_equal(w.told, "F");
	world_restart(&w, true);
	w.now_ms += 25 * HOUR;
	follow_listed(w.follow, 1, false, w.now_ms);
	world_turn(&w);
	assert_string_equal(w.told, "FU");
}

static void
a_final_refusal_of_a_full_system_goes_on_with_new_probes(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(world_may_try(&w, "r1"));
		world_attempt(&w, "r1", "mx.example", STAGE_MAIL,
		    CLASS_SYSTEM_FULL, "552 5.3.1 Mail system full");
	}
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "never stored"));
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FAD");
}

static void
cannot_reach(const char *route, const char *host)
{
	world_attempt(&w, route, host, STAGE_CONNECT, CLASS_NETWORK,
	    "connection timed out");
}

/* Every host falls silent at once: that is us. */
static void
a_monitor_without_network_says_so_once(void **state)
{
	const struct mailbox	*m = config_mailbox(w.config, "box");

	(void)state;
	for (int i = 0; i < 5; i++) {
		cannot_reach("r1", "mx.example");
		cannot_reach("hidden", "relay.example");
		cannot_reach("w1", "mx1.far.example");
		follow_mailbox(w.follow, m, true, CLASS_NETWORK,
		    "connection timed out", w.now_ms);
		world_pass(&w, 4 * MINUTE);
		if (i == 2)
			world_restart(&w, true);
	}
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "Subject: CANNOT LOOK: "
	    "monitor"));
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "FD");
	follow_mailbox(w.follow, m, false, CLASS_NONE, "", w.now_ms);
	world_accept(&w, "hidden", "relay.example");
	world_accept(&w, "w1", "mx1.far.example");
	world_pass(&w, DAY);
	assert_string_equal(w.told, "FD");
}

/* Two misses each before the third host shows what it really is. */
static void
doubts_raised_by_our_own_silence_come_to_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		cannot_reach("r1", "mx.example");
		cannot_reach("hidden", "relay.example");
		world_pass(&w, MINUTE);
	}
	for (int i = 0; i < 3; i++) {
		cannot_reach("w1", "mx1.far.example");
		world_pass(&w, MINUTE);
	}
	world_accept(&w, "w1", "mx1.far.example");
	world_pass(&w, MINUTE);
	assert_string_equal(w.told, "");
	/* If one of them is still silent it is its own trouble, from now. */
	cannot_reach("r1", "mx.example");
	world_pass(&w, 4 * MINUTE);
	cannot_reach("r1", "mx.example");
	assert_string_equal(w.told, "");
	world_pass(&w, MINUTE);
	assert_string_equal(w.told, "F");
}

static void
one_host_that_answers_makes_the_silence_of_others_theirs(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		cannot_reach("r1", "mx.example");
		cannot_reach("w1", "mx1.far.example");
		world_attempt(&w, "hidden", "relay.example", STAGE_MAIL,
		    CLASS_POLICY, "550 5.7.1 no");
		world_pass(&w, 3 * MINUTE);
	}
	/* Two systems, and the route that is refused. */
	assert_string_equal(w.told, "FFF");
	assert_null(strstr(w.last.message, "CANNOT LOOK"));
}

static void
an_open_mailbox_shows_that_there_is_a_network(void **state)
{
	(void)state;
	follow_mailbox(w.follow, config_mailbox(w.config, "box"), false,
	    CLASS_NONE, "", w.now_ms);
	for (int i = 0; i < 3; i++) {
		cannot_reach("r1", "mx.example");
		cannot_reach("hidden", "relay.example");
		cannot_reach("w1", "mx1.far.example");
		world_pass(&w, 3 * MINUTE);
	}
	assert_string_equal(w.told, "FFF");
	assert_null(strstr(w.last.message, "CANNOT LOOK"));
}

static void
trouble_known_before_the_silence_goes_on_counting(void **state)
{
	(void)state;
	world_full(&w, "r1");
	for (int i = 0; i < 5; i++) {
		cannot_reach("r1", "mx.example");
		cannot_reach("hidden", "relay.example");
		cannot_reach("w1", "mx1.far.example");
		world_pass(&w, 4 * MINUTE);
	}
	assert_string_equal(w.told, "FF");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FFDAD");
}

/* Two listeners of one host, and two servers for one recipient. */

static const char	two_ports[] =
    "server \"sub\" { host = \"mx.example\" tls = \"none\" port = 587 }\n"
    "route \"s1\" { server = \"sub\" from = \"p@example.org\" to = "
    "\"s@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
    "route \"s2\" { server = \"sub\" from = \"p@example.org\" to = "
    "\"t@mx.example\" mailbox = \"box\" alerts = \"default\" }\n"
    "server \"other\" { host = \"other.example\" tls = \"none\" port = 25 }\n"
    "route \"o1\" { server = \"other\" from = \"p@example.org\" to = "
    "\"a@mx.example\" mailbox = \"box\" alerts = \"default\" }\n";

static void
refused_at_587(const char *route)
{
	world_attempt(&w, route, "mx.example", STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
}

static void
a_healthy_port_does_not_hide_a_dead_one(void **state)
{
	(void)state;
	world_configure(&w, "", two_ports);
	for (int i = 0; i < 4; i++) {
		refused_at_587("s1");
		world_accept(&w, "r1", "mx.example");
		world_arrive(&w, "r1");
		world_pass(&w, 2 * MINUTE);
	}
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "Subject: FAILING: "
	    "mx.example:587"));
	/* And is not held back by it. */
	assert_true(world_may_try(&w, "s1"));
	assert_false(world_may_try(&w, "s2"));
	assert_true(world_may_try(&w, "r1"));
	assert_true(world_may_try(&w, "r2"));
	world_accept(&w, "s1", "mx.example");
	world_accept(&w, "s1", "mx.example");
	world_arrive(&w, "s1");
	assert_string_equal(w.told, "FAD");
}

static void
a_refused_login_at_one_port_outlasts_another_port_s_accepts(void **state)
{
	(void)state;
	world_configure(&w, "", two_ports);
	world_attempt(&w, "s1", "mx.example", STAGE_AUTH, CLASS_BLIND,
	    "535 5.7.8 Authentication failed");
	world_pass(&w, 5 * MINUTE);
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	world_pass(&w, 6 * MINUTE);
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "CANNOT LOOK: "
	    "mx.example:587"));
	world_accept(&w, "s1", "mx.example");
	assert_string_equal(w.told, "FD");
}

static void
a_dead_port_is_no_sentinel_of_its_host(void **state)
{
	(void)state;
	world_configure(&w, "fail_after = 1 fail_for = 3s", two_ports);
	world_attempt(&w, "s1", "mx.example", STAGE_MAIL, CLASS_SYSTEM_FULL,
	    "452 4.3.1 full");
	assert_true(world_may_try(&w, "s1"));
	assert_false(world_may_try(&w, "r1"));
	/* At once, though the port is only in doubt. */
	refused_at_587("s1");
	assert_true(world_may_try(&w, "r1"));
	assert_false(world_may_try(&w, "s1"));
	world_pass(&w, 10 * SECOND);
	assert_string_equal(w.told, "FF");
	/* Each has its own now. */
	assert_true(world_may_try(&w, "s1"));
	assert_false(world_may_try(&w, "s2"));
	assert_true(world_may_try(&w, "r1"));
	assert_false(world_may_try(&w, "r2"));
	/* The dead one breaks no run of the other. */
	world_accept(&w, "r1", "mx.example");
	refused_at_587("s1");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FFAD");
}

/* It was the host's sentinel when its port failed by time alone. */
static void
a_host_does_not_wait_for_one_that_waits_for_its_port(void **state)
{
	(void)state;
	world_configure(&w, "fail_after = 1 fail_for = 60s", two_ports);
	world_attempt(&w, "s1", "mx.example", STAGE_MAIL, CLASS_SYSTEM_FULL,
	    "452 4.3.1 full");
	refused_at_587("s2");
	assert_true(world_may_try(&w, "s1"));
	world_pass(&w, 2 * MINUTE);
	assert_string_equal(w.told, "FF");
	assert_false(world_may_try(&w, "r1"));
	assert_true(world_may_try(&w, "s2"));
	assert_false(world_may_try(&w, "s1"));
	assert_true(world_may_try(&w, "r1"));
}

static void
what_a_removed_route_left_ends_by_another_port(void **state)
{
	(void)state;
	world_configure(&w, "", two_ports);
	world_attempt(&w, "s1", "mx.example", STAGE_MAIL, CLASS_SYSTEM_FULL,
	    "452 4.3.1 full");
	assert_true(world_may_try(&w, "s1"));
	follow_gone(w.follow, world_probe(&w, "s1")->token, w.now_ms);
	world_configure(&w, "", "");
	assert_true(world_may_try(&w, "r1"));
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FAD");
}

/* As a monitor of before left it. */
static void
an_old_network_episode_of_a_whole_system_still_ends(void **state)
{
	struct episode	e = {
		.scope = "system mx.example", .class = CLASS_NETWORK,
		.state = EPISODE_FAILING, .swings = 1, .misses = 3,
		.refusals = 3, .stage = STAGE_CONNECT, .host = "mx.example",
		.alerts = "default", .routes = "r1",
		.first_reply = "connection refused",
		.last_reply = "connection refused",
	};

	(void)state;
	e.first_miss_ms = e.opened_ms = e.failing_notice_ms =
	    e.last_miss_ms = w.now_ms;
	assert_int_equal(store_episode_put(w.store, &e), 0);
	assert_int_equal(store_commit(w.store), 0);
	world_restart(&w, true);
	world_accept(&w, "r2", "mx.example");
	world_accept(&w, "r2", "mx.example");
	world_arrive(&w, "r2");
	assert_string_equal(w.told, "AD");
}

static void
another_server_s_accept_does_not_take_a_refusal_back(void **state)
{
	(void)state;
	world_configure(&w, "fail_after = 2 fail_for = 1s", two_ports);
	for (int i = 0; i < 3; i++) {
		world_attempt(&w, "r1", "mx.example", STAGE_RCPT,
		    CLASS_MAILBOX_FULL, "452 4.2.2 Mailbox full");
		world_accept(&w, "o1", "other.example");
		world_arrive(&w, "o1");
	}
	assert_string_equal(w.told, "F");
	/* Nor is it held back, nor is its own refusal the same. */
	assert_true(world_may_try(&w, "r1"));
	assert_true(world_may_try(&w, "o1"));
	for (int i = 0; i < 3; i++)
		world_attempt(&w, "o1", "other.example", STAGE_RCPT,
		    CLASS_MAILBOX_FULL, "452 4.2.2 Mailbox full");
	assert_string_equal(w.told, "FF");
	assert_int_equal(fake_store_episodes(w.store), 2);
	world_restart(&w, true);
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	assert_string_equal(w.told, "FFAD");
	assert_true(world_may_try(&w, "r1"));
	world_accept(&w, "o1", "other.example");
	world_accept(&w, "o1", "other.example");
	world_arrive(&w, "o1");
	assert_string_equal(w.told, "FFADAD");
}

static void
a_notice_of_a_route_names_the_system_that_was_set_apart(void **state)
{
	(void)state;
	world_configure(&w, "", "server \"garb\" { host = \"127.0.0.1\" tls = "
	    "\"none\" port = 25 system = \"sys-garb\" }\nroute \"g\" { "
	    "server = \"garb\" from = \"p@example.org\" to = "
	    "\"g@mx.example\" mailbox = \"box\" alerts = \"default\" }\n");
	for (int i = 0; i < 2; i++) {
		world_attempt(&w, "g", "127.0.0.1", STAGE_DATA, CLASS_OTHER,
		    "451 garbage");
		world_pass(&w, 6 * MINUTE);
	}
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "sys-garb (127.0.0.1)"));
}

struct rows {
	unsigned	count;
	char		last[2048];
};

static void
count_row(void *arg, int64_t at_ms, const char *event, const char *probe,
    const char *text)
{
	struct rows	*r = arg;

	(void)at_ms;
	(void)event;
	(void)probe;
	r->count++;
	snprintf(r->last, sizeof r->last, "%s", text);
}

static void
every_step_says_why_people_were_told_or_not(void **state)
{
	struct rows	r = { 0 };

	(void)state;
	world_full(&w, "r1");
	store_episode_events(w.store, 1, count_row, &r);
	assert_int_equal(r.count, 1);
	assert_non_null(strstr(r.last, "quiet->failing; told: failing"));
	world_accept(&w, "r1", "mx.example");
	store_episode_events(w.store, 1, count_row, &r);
	assert_non_null(strstr(r.last, "not told: 1 of 2 accepts"));
}

static void
a_failing_disk_is_reported_and_not_hidden(void **state)
{
	(void)state;
	if (!fake_store_break(w.store, true))
		skip();
	follow_attempt(w.follow, world_route(&w, "r1"), world_probe(&w, "r1"),
	    &w.answer, w.now_ms);
	assert_int_equal(store_commit(w.store), 0 - 1);
	fake_store_break(w.store, false);
	world_restart(&w, true);
	world_full(&w, "r1");
	assert_string_equal(w.told, "F");
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, begin, end)

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		TEST(a_full_system_is_three_notices),
		TEST(the_same_with_a_crash_after_every_turn),
		TEST(a_crash_at_any_one_step_changes_nothing),
		TEST(five_routes_on_one_full_server_are_one_notice),
		TEST(the_sentinel_hands_over),
		TEST(two_sentinels_do_not_wait_for_each_other),
		TEST(a_full_system_outranks_a_full_mailbox),
		TEST(a_sender_that_dies_now_and_then_is_not_told),
		TEST(a_reminder_that_is_overdue_at_the_start_looks_first),
		TEST(an_overdue_reminder_is_not_dropped),
		TEST(a_confirming_probe_is_asked_for),
		TEST(a_confirming_probe_is_asked_for_after_a_restart),
		TEST(another_host_s_accept_moves_nothing),
		TEST(routes_to_one_mx_share_its_sentinel),
		TEST(a_short_network_trouble_is_not_told),
		TEST(a_long_one_is_told_when_its_time_is_up),
		TEST(a_doubt_from_before_a_long_stop_is_not_told),
		TEST(full_then_unreachable_are_two_episodes_that_end_together),
		TEST(other_trouble_between_two_accepts_breaks_the_run),
		TEST(a_250_to_mail_is_no_accept),
		TEST(a_relapse_within_settle_is_the_same_episode),
		TEST(flapping_for_a_day_tells_little_and_the_end),
		TEST(late_mail_opens_an_episode_that_relayed_accepts_do_not_end),
		TEST(what_is_uncertain_already_is_not_also_late),
		TEST(what_is_late_began_when_it_was_handed_over),
		TEST(a_late_mail_that_arrives_asks_once_for_a_new_one),
		TEST(a_blind_mailbox_is_told_after_a_while_and_its_return_once),
		TEST(a_short_blindness_is_not_told),
		TEST(a_refused_login_is_blindness_and_no_trouble_of_the_server),
		TEST(a_dead_resolver_is_one_episode_for_all),
		TEST(that_a_name_does_not_exist_is_an_answer_of_the_resolver),
		TEST(one_name_that_cannot_be_looked_up_is_told_beside_others),
		TEST(blindness_does_not_end_a_full_system),
		TEST(greylisting_is_no_trouble_within_its_grace),
		TEST(reminders_come_at_growing_gaps_until_somebody_knows),
		TEST(while_nothing_is_tried_nobody_is_reminded),
		TEST(every_section_of_an_episode_is_told_from_the_start),
		TEST(who_is_new_at_a_reload_hears_of_what_is_open),
		TEST(a_route_without_alerts_is_followed_in_silence),
		TEST(a_reload_does_not_forget_what_is_owed),
		TEST(a_removed_route_ends_its_episode_and_sends_no_more_reminders),
		TEST(a_doubt_of_a_removed_route_comes_to_nothing),
		TEST(a_route_removed_while_it_was_down_ends_its_episode),
		TEST(a_mailbox_that_is_no_longer_watched_ends_its_blindness),
		TEST(a_step_that_nobody_hears_of_says_so),
		TEST(a_host_that_vanishes_for_a_moment_ends_nothing),
		TEST(a_final_refusal_of_a_full_system_goes_on_with_new_probes),
		TEST(a_monitor_without_network_says_so_once),
		TEST(doubts_raised_by_our_own_silence_come_to_nothing),
		TEST(one_host_that_answers_makes_the_silence_of_others_theirs),
		TEST(an_open_mailbox_shows_that_there_is_a_network),
		TEST(trouble_known_before_the_silence_goes_on_counting),
		TEST(a_healthy_port_does_not_hide_a_dead_one),
		TEST(
		    a_refused_login_at_one_port_outlasts_another_port_s_accepts),
		TEST(a_dead_port_is_no_sentinel_of_its_host),
		TEST(a_host_does_not_wait_for_one_that_waits_for_its_port),
		TEST(what_a_removed_route_left_ends_by_another_port),
		TEST(an_old_network_episode_of_a_whole_system_still_ends),
		TEST(another_server_s_accept_does_not_take_a_refusal_back),
		TEST(a_notice_of_a_route_names_the_system_that_was_set_apart),
		TEST(every_step_says_why_people_were_told_or_not),
		TEST(a_failing_disk_is_reported_and_not_hidden),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
