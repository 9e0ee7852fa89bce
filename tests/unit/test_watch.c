#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "mailboxes/watch.h"
#include "monitor/mem.h"

#define MINUTE	INT64_C(60000)

static int64_t				now;
static struct watch			w;
static const struct mailbox_trouble	bye = { MAILBOX_AT_ONCE, CLASS_NETWORK,
					    false, "BYE" };
static const struct mailbox_trouble	idle_bye = { MAILBOX_AT_ONCE,
					    CLASS_NETWORK, true, "BYE" };
static const struct mailbox_trouble	silence = { MAILBOX_BACK_OFF,
					    CLASS_NETWORK, false, "silence" };
static const struct mailbox_trouble	refused = { MAILBOX_REFUSED, CLASS_AUTH,
					    false, "wrong password" };

static int
begin(void **state)
{
	(void)state;
	now = 1000000;
	watch_init(&w, now);
	w.poll_ms = MINUTE;
	w.burst_ms = 2000;
	w.auth_pause_ms = 60 * MINUTE;
	w.may_idle = true;
	return (0);
}

/* The next step, however long it takes to come; what it took in *waited_r. */
static enum watch_step
next(int64_t *waited_r)
{
	enum watch_step	step;
	int64_t		wait_ms, from = now;

	while ((step = watch_next(&w, now, &wait_ms)) == WATCH_REST) {
		assert_true(wait_ms >= 0);
		now += wait_ms > 0 ? wait_ms : 1;
		assert_true(now - from < 24 * 60 * MINUTE);
	}
	if (waited_r != NULL)
		*waited_r = now - from;
	return (step);
}

static struct watch_tell
done(enum watch_step step)
{
	return (watch_finished(&w, step, WATCH_DONE, NULL, now, 512));
}

static struct watch_tell
lost(enum watch_step step, const struct mailbox_trouble *t)
{
	return (watch_finished(&w, step, WATCH_LOST, t, now, 512));
}

/* To a session that has looked at everything and waits. */
static void
settle(void)
{
	assert_int_equal(next(NULL), WATCH_OPEN);
	assert_false(done(WATCH_OPEN).tell);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	done(WATCH_LOOK_ALL);
	assert_int_equal(next(NULL), WATCH_WAIT);
	done(WATCH_WAIT);
}

static void
the_first_good_look_is_told(void **state)
{
	struct watch_tell	t;

	(void)state;
	assert_int_equal(next(NULL), WATCH_OPEN);
	assert_false(done(WATCH_OPEN).tell);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	t = done(WATCH_LOOK_ALL);
	assert_true(t.tell && t.good);
}

static void
a_secret_is_asked_for_before_each_login(void **state)
{
	int64_t	waited;

	(void)state;
	w.needs_secret = true;
	assert_int_equal(next(NULL), WATCH_ASK_SECRET);
	/* No answer in a minute: asked again. */
	assert_int_equal(next(&waited), WATCH_ASK_SECRET);
	assert_int_equal(waited, MINUTE);
	assert_false(watch_secret(&w, true, now, 0).tell);
	assert_int_equal(next(NULL), WATCH_OPEN);
	lost(WATCH_OPEN, &silence);
	assert_int_equal(next(NULL), WATCH_ASK_SECRET);
}

static void
a_secret_that_cannot_be_had_is_blindness(void **state)
{
	struct watch_tell	t;

	(void)state;
	w.needs_secret = true;
	assert_int_equal(next(NULL), WATCH_ASK_SECRET);
	t = watch_secret(&w, false, now, 512);
	assert_true(t.tell && !t.good);
	assert_int_equal(t.class, CLASS_AUTH);
	assert_true(t.retry_ms > 0);
	assert_int_equal(next(NULL), WATCH_ASK_SECRET);
}

static void
while_all_is_well_each_poll_tells_once(void **state)
{
	int64_t	waited;
	int	i, told = 0;

	(void)state;
	settle();
	for (i = 0; i < 10; i++) {
		assert_int_equal(next(&waited), WATCH_LOOK_ALL);
		assert_in_range(waited, MINUTE - 2000, MINUTE);
		told += done(WATCH_LOOK_ALL).tell;
		assert_int_equal(next(NULL), WATCH_WAIT);
		done(WATCH_WAIT);
	}
	assert_int_equal(told, 10);
}

static void
an_idle_is_issued_anew_every_five_minutes(void **state)
{
	int64_t	waited;

	(void)state;
	w.poll_ms = 60 * MINUTE;
	settle();
	assert_int_equal(next(&waited), WATCH_LOOK);
	assert_int_equal(waited, 5 * MINUTE);
	assert_false(done(WATCH_LOOK).tell);
	assert_int_equal(next(NULL), WATCH_WAIT);
}

static void
without_idle_it_only_polls(void **state)
{
	int64_t	waited;

	(void)state;
	w.may_idle = false;
	assert_int_equal(next(NULL), WATCH_OPEN);
	done(WATCH_OPEN);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	done(WATCH_LOOK_ALL);
	assert_int_equal(next(&waited), WATCH_LOOK_ALL);
	assert_int_equal(waited, MINUTE);
}

static void
a_server_that_cannot_idle_is_polled(void **state)
{
	(void)state;
	assert_int_equal(next(NULL), WATCH_OPEN);
	done(WATCH_OPEN);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	done(WATCH_LOOK_ALL);
	assert_int_equal(next(NULL), WATCH_WAIT);
	watch_finished(&w, WATCH_WAIT, WATCH_MORE, NULL, now, 0);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
}

static void
an_expected_probe_is_looked_for_at_once_and_then_less_often(void **state)
{
	int64_t	waited, began, last = 0;
	int	looks = 0;

	(void)state;
	w.other_folders = true;
	settle();
	watch_expect(&w, "mf1token", now);
	began = now;
	assert_int_equal(next(&waited), WATCH_LOOK);
	assert_int_equal(waited, 0);
	for (;;) {
		enum watch_step	step;

		/* The other folders from a while on. */
		done(now - began < 80 ? WATCH_LOOK : WATCH_LOOK_ALL);
		looks++;
		step = next(&waited);
		if (step == WATCH_WAIT)
			break;
		assert_int_equal(step, now - began < 80 ? WATCH_LOOK :
		    WATCH_LOOK_ALL);
		assert_true(waited >= last || waited == 300);
		last = waited;
	}
	assert_in_range(now - began, 2000, 2400);
	assert_in_range(looks, 8, 16);
}

static void
a_probe_that_is_there_ends_the_hurry(void **state)
{
	int64_t	waited;

	(void)state;
	settle();
	watch_expect(&w, "mf1one", now);
	watch_expect(&w, "mf1two", now);
	assert_int_equal(next(NULL), WATCH_LOOK);
	done(WATCH_LOOK);
	watch_arrived(&w, "mf1one", true, now);
	assert_int_equal(next(NULL), WATCH_LOOK);
	done(WATCH_LOOK);
	watch_arrived(&w, "mf1two", true, now);
	assert_false(watch_expecting(&w));
	assert_int_equal(next(&waited), WATCH_WAIT);
	assert_int_equal(waited, 1000);
}

/* One probe that comes so long after it was expected; how many looks. */
static int
looks_until(int64_t ms, bool first)
{
	int64_t	began;
	int	looks = 0;

	now += 10000;
	if (w.waiting)
		watch_woken(&w, MAILBOX_NEWS, now);
	while (next(NULL) != WATCH_WAIT)
		done(WATCH_LOOK);
	done(WATCH_WAIT);
	watch_expect(&w, "mf1token", now);
	for (began = now; now - began < ms; looks++)
		done(next(NULL));
	watch_arrived(&w, "mf1token", first, now);
	return (looks);
}

static void
where_probes_take_their_time_the_looks_begin_later(void **state)
{
	(void)state;
	w.other_folders = true;
	settle();
	assert_in_range(looks_until(600, true), 8, 9);
	assert_in_range(looks_until(600, true), 2, 3);
	/* One that is quick is seen late, and the next one soon. */
	(void)looks_until(40, true);
	assert_in_range(w.usual_ms, 1, 400);
	(void)looks_until(2, true);
	(void)looks_until(2, true);
	assert_in_range(looks_until(2, true), 1, 2);
}

static void
what_lies_in_another_folder_or_took_very_long_teaches_nothing(void **state)
{
	(void)state;
	w.other_folders = true;
	settle();
	(void)looks_until(600, false);
	assert_int_equal(w.usual_ms, 0);
	watch_expect(&w, "mf1late", now);
	watch_arrived(&w, "mf1late", true, now + 60 * MINUTE);
	assert_int_equal(w.usual_ms, 0);
}

static void
an_earlier_probe_is_not_made_to_wait_by_the_next(void **state)
{
	int64_t	waited;

	(void)state;
	settle();
	w.usual_ms = 600;
	watch_expect(&w, "mf1one", now);
	now += 250;
	watch_expect(&w, "mf1two", now);
	assert_int_equal(next(&waited), WATCH_LOOK);
	assert_int_equal(waited, 60);
}

static void
more_expectations_than_it_keeps_push_out_the_oldest(void **state)
{
	char	token[TOKEN_SIZE];
	int	i;

	(void)state;
	for (i = 0; i < 40; i++) {
		snprintf(token, sizeof token, "mf1%d", i);
		watch_expect(&w, token, now);
	}
	assert_int_equal(w.expecting, WATCH_EXPECTED);
	for (i = 0; i < 40; i++) {
		snprintf(token, sizeof token, "mf1%d", i);
		watch_arrived(&w, token, true, now);
	}
	assert_int_equal(w.expecting, 0);
}

static void
removals_wait_for_each_other_and_go_before_the_next_idle(void **state)
{
	int64_t	waited;

	(void)state;
	settle();
	watch_clean(&w, 1, now);
	assert_int_equal(next(&waited), WATCH_CLEAN);
	assert_int_equal(waited, 100);
	watch_clean(&w, 0, now);
	done(WATCH_CLEAN);
	assert_int_equal(next(NULL), WATCH_WAIT);
	done(WATCH_WAIT);
	watch_clean(&w, 32, now);
	assert_int_equal(next(&waited), WATCH_CLEAN);
	assert_int_equal(waited, 0);
}

static void
news_while_waiting_is_looked_at(void **state)
{
	int64_t	waited;

	(void)state;
	settle();
	now += 10000;
	watch_woken(&w, MAILBOX_NEWS, now);
	assert_int_equal(next(&waited), WATCH_LOOK);
	assert_int_equal(waited, 0);
	assert_false(done(WATCH_LOOK).tell);
	assert_int_equal(next(&waited), WATCH_WAIT);
	assert_int_equal(waited, 0);
}

static void
a_server_with_news_at_every_wait_is_not_chased(void **state)
{
	int64_t	began;
	int	looks = 0;

	(void)state;
	w.poll_ms = 60 * MINUTE;
	settle();
	for (began = now; now - began < 10 * MINUTE;) {
		watch_woken(&w, MAILBOX_NEWS, now);
		assert_int_equal(next(NULL), WATCH_LOOK);
		looks++;
		done(WATCH_LOOK);
		assert_int_equal(next(NULL), WATCH_WAIT);
		done(WATCH_WAIT);
	}
	assert_in_range(looks, 5, 30);
}

static void
a_look_that_is_not_done_goes_on(void **state)
{
	struct watch_tell	t;

	(void)state;
	assert_int_equal(next(NULL), WATCH_OPEN);
	done(WATCH_OPEN);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	t = watch_finished(&w, WATCH_LOOK_ALL, WATCH_MORE, NULL, now, 0);
	assert_false(t.tell);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	assert_true(done(WATCH_LOOK_ALL).tell);
}

static void
a_session_that_ends_after_an_hour_is_no_news(void **state)
{
	struct watch_tell	t;
	int64_t			waited;

	(void)state;
	settle();
	now += 60 * MINUTE;
	t = watch_lost(&w, &bye, now, 512);
	assert_false(t.tell);
	assert_int_equal(next(&waited), WATCH_OPEN);
	assert_in_range(waited, 800, 1200);
	done(WATCH_OPEN);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	assert_true(done(WATCH_LOOK_ALL).good);
}

static void
but_when_it_cannot_come_back_that_is_told(void **state)
{
	struct watch_tell	t;

	(void)state;
	settle();
	assert_false(watch_lost(&w, &bye, now, 512).tell);
	assert_int_equal(next(NULL), WATCH_OPEN);
	t = lost(WATCH_OPEN, &bye);
	assert_true(t.tell && !t.good);
	assert_int_equal(t.class, CLASS_NETWORK);
}

/* As a proxy does that allows 50 s of silence. */
static void
idle_is_begun_anew_before_it_is_cut(void **state)
{
	int64_t	waited = 0;

	(void)state;
	settle();
	for (int i = 0; i < 2; i++) {
		now = w.wait_began + 50000;
		assert_false(watch_lost(&w, &idle_bye, now, 512).tell);
		settle();
	}
	w.poll_at = now + 10 * MINUTE;
	assert_int_equal(next(&waited), WATCH_LOOK);
	assert_in_range(waited, 30000, 45000);
}

static void
a_probe_on_its_way_ends_a_quiet_wait(void **state)
{
	int64_t	waited = 0;

	(void)state;
	settle();
	for (int i = 0; i < 5; i++) {
		watch_lost(&w, &bye, now, 512);
		if (i < 4)
			settle();
	}
	watch_expect(&w, "mf1x", now);
	assert_int_equal(next(&waited), WATCH_OPEN);
	assert_in_range(waited, 0, 1000);
}

static void
a_server_that_always_ends_is_met_at_each_poll_at_last(void **state)
{
	int64_t	began;
	int	sessions = 0;

	(void)state;
	settle();
	for (began = now; now - began < 10 * MINUTE; sessions++) {
		watch_lost(&w, &bye, now, 512);
		assert_int_equal(next(NULL), WATCH_OPEN);
		done(WATCH_OPEN);
		assert_int_equal(next(NULL), WATCH_LOOK_ALL);
		done(WATCH_LOOK_ALL);
		assert_int_equal(next(NULL), WATCH_WAIT);
		done(WATCH_WAIT);
	}
	assert_in_range(sessions, 10, 16);
}

static void
an_idle_that_dies_twice_makes_it_poll(void **state)
{
	int	i;

	(void)state;
	settle();
	watch_lost(&w, &idle_bye, now, 512);
	settle();
	watch_lost(&w, &idle_bye, now, 512);
	assert_int_equal(next(NULL), WATCH_OPEN);
	done(WATCH_OPEN);
	for (i = 0; i < 59; i++) {
		assert_int_equal(next(NULL), WATCH_LOOK_ALL);
		done(WATCH_LOOK_ALL);
	}
	/* Later it gets another chance. */
	for (i = 0; i < 3; i++) {
		enum watch_step	step = next(NULL);

		if (step == WATCH_WAIT)
			return;
		done(step);
	}
	fail();
}

static void
silence_is_blindness_at_once_and_each_failure_says_when_next(void **state)
{
	static const int64_t	seconds[] = { 1, 2, 5, 10, 30, 60, 120, 300,
				    300 };
	struct watch_tell	t;
	int64_t			waited;
	size_t			i;

	(void)state;
	settle();
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	t = lost(WATCH_LOOK_ALL, &silence);
	for (i = 0; i < NITEMS(seconds); i++) {
		assert_true(t.tell && !t.good);
		assert_in_range(t.retry_ms, seconds[i] * 800,
		    seconds[i] * 1200);
		assert_int_equal(next(&waited), WATCH_OPEN);
		assert_int_equal(waited, t.retry_ms);
		t = lost(WATCH_OPEN, &silence);
	}
	assert_int_equal(next(NULL), WATCH_OPEN);
	done(WATCH_OPEN);
	assert_int_equal(next(NULL), WATCH_LOOK_ALL);
	t = done(WATCH_LOOK_ALL);
	assert_true(t.tell && t.good);
}

static void
a_refused_password_is_tried_twice_and_then_not_for_long(void **state)
{
	struct watch_tell	t;
	int64_t			waited;

	(void)state;
	assert_int_equal(next(NULL), WATCH_OPEN);
	t = lost(WATCH_OPEN, &refused);
	assert_int_equal(t.class, CLASS_AUTH);
	assert_in_range(t.retry_ms, 800, 1200);
	assert_int_equal(next(NULL), WATCH_OPEN);
	t = lost(WATCH_OPEN, &refused);
	assert_int_equal(t.retry_ms, 60 * MINUTE);
	assert_int_equal(next(&waited), WATCH_OPEN);
	assert_int_equal(waited, 60 * MINUTE);
	t = lost(WATCH_OPEN, &refused);
	assert_int_equal(t.retry_ms, 60 * MINUTE);
	assert_int_equal(next(NULL), WATCH_OPEN);
	done(WATCH_OPEN);
	assert_int_equal(w.refusals, 0);
}

static void
a_pause_that_began_before_us_is_kept_and_then_one_login_is_tried(void **state)
{
	struct watch_tell	t;
	int64_t			waited;

	(void)state;
	watch_pause(&w, 0, now);
	watch_pause(&w, 20 * MINUTE, now);
	assert_int_equal(next(&waited), WATCH_OPEN);
	assert_int_equal(waited, 20 * MINUTE);
	t = lost(WATCH_OPEN, &refused);
	assert_int_equal(t.retry_ms, 60 * MINUTE);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
#define T(name)	cmocka_unit_test_setup(name, begin)
		T(the_first_good_look_is_told),
		T(a_secret_is_asked_for_before_each_login),
		T(a_secret_that_cannot_be_had_is_blindness),
		T(while_all_is_well_each_poll_tells_once),
		T(an_idle_is_issued_anew_every_five_minutes),
		T(without_idle_it_only_polls),
		T(a_server_that_cannot_idle_is_polled),
		T(an_expected_probe_is_looked_for_at_once_and_then_less_often),
		T(a_probe_that_is_there_ends_the_hurry),
		T(where_probes_take_their_time_the_looks_begin_later),
		T(what_lies_in_another_folder_or_took_very_long_teaches_nothing),
		T(an_earlier_probe_is_not_made_to_wait_by_the_next),
		T(more_expectations_than_it_keeps_push_out_the_oldest),
		T(removals_wait_for_each_other_and_go_before_the_next_idle),
		T(news_while_waiting_is_looked_at),
		T(a_server_with_news_at_every_wait_is_not_chased),
		T(a_look_that_is_not_done_goes_on),
		T(a_session_that_ends_after_an_hour_is_no_news),
		T(but_when_it_cannot_come_back_that_is_told),
		T(idle_is_begun_anew_before_it_is_cut),
		T(a_probe_on_its_way_ends_a_quiet_wait),
		T(a_server_that_always_ends_is_met_at_each_poll_at_last),
		T(an_idle_that_dies_twice_makes_it_poll),
		T(silence_is_blindness_at_once_and_each_failure_says_when_next),
		T(a_refused_password_is_tried_twice_and_then_not_for_long),
		T(a_pause_that_began_before_us_is_kept_and_then_one_login_is_tried),
#undef T
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
