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
#include "monitor/text.h"

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
refuse(const char *answer, enum outcome_class class)
{
	world_outcome(&w, &w.answer, "alert1.example", STAGE_DOT, class,
	    answer);
}

static void
accept_again(void)
{
	world_outcome(&w, &w.answer, "alert1.example", STAGE_DOT,
	    CLASS_ACCEPTED, "250 2.0.0 Ok");
}

static const struct delivery *
first(void)
{
	return (fake_store_delivery(w.store, 0));
}

static void
a_notice_is_one_complete_mail(void **state)
{
	(void)state;
	world_full(&w, "r1");
	assert_int_equal(w.jobs, 1);
	assert_int_equal(w.last.kind, JOB_ALERT);
	assert_string_equal(w.last.from, "mailflowd@example.org");
	assert_string_equal(w.last.to, "admin@example.org");
	assert_true(w.last.notify_never);
	assert_false(w.last.gate);
	assert_string_equal(w.last_server, "alert1");
	assert_non_null(strstr(w.last.message, "Subject: FAILING: mx.example "
	    "answers 452 4.3.1"));
	assert_int_equal(first()->state, DELIVERY_SENT);
	assert_int_equal(first()->attempts, 1);
	assert_int_equal(outbox_next_ms(w.outbox), 0);
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
it_is_on_disk_as_sending_before_it_goes(void **state)
{
	(void)state;
	w.holding = true;
	world_full(&w, "r1");
	assert_int_equal(first()->state, DELIVERY_SENDING);
	assert_int_equal(outbox_waiting(w.outbox), 1);
}

static void
a_refusing_server_is_left_for_the_next_at_once(void **state)
{
	(void)state;
	w.holding = true;
	world_full(&w, "r1");
	refuse("554 5.7.1 not you", CLASS_POLICY);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	assert_int_equal(outbox_next_ms(w.outbox), w.now_ms);
	w.holding = false;
	w.holds = 0;
	accept_again();
	world_turn(&w);
	assert_string_equal(w.last_server, "alert2");
	assert_int_equal(first()->state, DELIVERY_SENT);
}

static void
when_all_refuse_the_gaps_grow_to_an_hour_and_nothing_is_lost(void **state)
{
	static const int64_t	gaps[] = { 10, 30, 60, 300, 900, 1800, 3600,
				    3600 };

	(void)state;
	refuse("451 4.3.0 try later", CLASS_OTHER);
	world_full(&w, "r1");
	for (size_t i = 0; i < NITEMS(gaps); i++) {
		assert_int_equal(w.jobs, 2 * (i + 1));
		assert_int_equal(outbox_next_ms(w.outbox),
		    w.now_ms + gaps[i] * SECOND);
		w.now_ms += gaps[i] * SECOND;
		world_turn(&w);
	}
	accept_again();
	world_pass(&w, HOUR);
	assert_string_equal(w.told, "FS");
}

static void
a_late_notice_says_that_it_is_late(void **state)
{
	(void)state;
	refuse("451 4.3.0 try later", CLASS_OTHER);
	world_full(&w, "r1");
	world_pass(&w, 20 * MINUTE);
	accept_again();
	world_pass(&w, 20 * MINUTE);
	assert_string_equal(w.told, "F");
	assert_non_null(strstr(w.last.message, "\r\n\r\nThis notice is late: "
	    "alert mail could not be delivered from 2026-01-01\r\n"
	    "00:00:01 UTC to 2026-01-01 00:"));
}

static void
a_prompt_notice_does_not(void **state)
{
	(void)state;
	world_full(&w, "r1");
	assert_null(strstr(w.last.message, "This notice is late"));
}

static void
recovery_does_not_overtake_the_beginning(void **state)
{
	(void)state;
	refuse("451 4.3.0 try later", CLASS_OTHER);
	world_full(&w, "r1");
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	world_arrive(&w, "r1");
	world_pass(&w, 2 * HOUR);
	assert_string_equal(w.told, "");
	assert_int_equal(outbox_waiting(w.outbox), 3);
	world_restart(&w, true);
	w.holding = true;
	accept_again();
	world_turn(&w);
	/* One in flight; those after it wait for its answer. */
	assert_string_equal(w.told, "F");
	assert_int_equal(outbox_next_ms(w.outbox), 0);
	w.holding = false;
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	w.holds = 0;
	world_turn(&w);
	assert_string_equal(w.told, "FAD");
}

static void
one_person_s_trouble_does_not_stop_another_s_mail(void **state)
{
	struct outcome	no;

	(void)state;
	world_close(&w);
	world_open(&w, "", "alerts \"two\" { from = \"m@example.org\" to = "
	    "{\"nobody@example.org\", \"admin@example.org\"} servers = "
	    "{\"alert1\"} }\nroute \"t\" { server = \"full\" from = "
	    "\"p@example.org\" to = \"t@mx.example\" mailbox = \"box\" "
	    "alerts = \"two\" }\n");
	w.holding = true;
	world_full(&w, "t");
	assert_int_equal(w.holds, 2);
	world_outcome(&w, &no, "alert1.example", STAGE_RCPT,
	    CLASS_NO_SUCH_USER, "550 5.1.1 no such user");
	outbox_result(w.outbox, w.held[1], &no, w.now_ms);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	assert_int_equal(outbox_waiting(w.outbox), 1);
}

/* The power goes while it is being sent: perhaps twice, never not at all. */
static void
what_was_being_sent_at_a_crash_is_sent_again(void **state)
{
	char	id[256];

	(void)state;
	w.holding = true;
	world_full(&w, "r1");
	snprintf(id, sizeof id, "%.200s", strstr(w.last.message,
	    "Message-ID:"));
	id[strcspn(id, "\r")] = '\0';
	world_restart(&w, true);
	w.holding = false;
	w.holds = 0;
	world_turn(&w);
	assert_string_equal(w.told, "FF");
	assert_non_null(strstr(w.last.message, id));
	assert_int_equal(first()->state, DELIVERY_SENT);
}

static void
silence_after_the_dot_is_tried_again_after_a_gap(void **state)
{
	(void)state;
	refuse("no answer", CLASS_UNCERTAIN);
	world_full(&w, "r1");
	assert_int_equal(w.jobs, 1);
	assert_int_equal(outbox_next_ms(w.outbox), w.now_ms + 10 * SECOND);
	accept_again();
	world_pass(&w, MINUTE);
	assert_string_equal(w.told, "F");
	assert_int_equal(first()->state, DELIVERY_SENT);
}

static void
that_a_mail_may_be_a_repeat_outlives_a_restart(void **state)
{
	(void)state;
	refuse("no answer", CLASS_UNCERTAIN);
	world_full(&w, "r1");
	assert_int_equal(first()->state, DELIVERY_DUE);
	assert_true(first()->repeat);
	world_restart(&w, false);
	refuse("451 4.3.0 later", CLASS_OTHER);
	world_turn(&w);
	world_restart(&w, true);
	accept_again();
	world_turn(&w);
	assert_int_equal(first()->state, DELIVERY_SENT);
	assert_true(first()->repeat);
}

static void
a_mail_that_was_refused_is_no_repeat(void **state)
{
	(void)state;
	refuse("451 4.3.0 later", CLASS_OTHER);
	world_full(&w, "r1");
	world_restart(&w, false);
	accept_again();
	world_turn(&w);
	assert_int_equal(first()->state, DELIVERY_SENT);
	assert_false(first()->repeat);
}

static void
after_five_days_it_is_given_up_and_the_next_goes(void **state)
{
	(void)state;
	refuse("550 5.7.1 no", CLASS_POLICY);
	world_full(&w, "r1");
	follow_ack(w.follow, 1, w.now_ms);
	world_pass(&w, 6 * DAY);
	assert_int_equal(first()->state, DELIVERY_EXPIRED);
	assert_in_range(w.now_ms - first()->expired_ms, 0, DAY);
	assert_int_equal(outbox_waiting(w.outbox), 0);
	accept_again();
	world_accept(&w, "r1", "mx.example");
	world_accept(&w, "r1", "mx.example");
	assert_string_equal(w.told, "A");
}

/* A clock set forward by a week is no week of trying. */
static void
a_leap_of_the_clock_gives_nothing_up(void **state)
{
	(void)state;
	refuse("451 4.3.0 try later", CLASS_OTHER);
	world_full(&w, "r1");
	w.now_ms += 30 * DAY;
	accept_again();
	world_turn(&w);
	assert_string_equal(w.told, "F");
}

/* A notice about no episode: it waits for no other. */
static void
owe_by(const char *section, unsigned number)
{
	struct notice_facts	 facts = { .instance = "probe1",
				    .alerts = section };
	struct notice		*n = mem_alloc(sizeof *n);

	notice_begin(n, NOTICE_DIGEST, &facts, "The day", number, w.now_ms);
	text_copy(n->body, sizeof n->body, "Nothing.\n");
	assert_int_equal(store_notice_owe(w.store, n,
	    config_alerts(w.config, section)->to), 0);
	outbox_wake(w.outbox);
	mem_free(n);
}

static void
owe_digest(unsigned number)
{
	owe_by("default", number);
}

static void
owe_to_command(const char *section, unsigned number)
{
	static char		 command[] = OUTBOX_COMMAND;
	char *const		 to[] = { command, NULL };
	struct notice_facts	 facts = { .instance = "probe1",
				    .alerts = section };
	struct notice		*n = mem_alloc(sizeof *n);

	notice_begin(n, NOTICE_DIGEST, &facts, "The day", number, w.now_ms);
	assert_int_equal(store_notice_owe(w.store, n, to), 0);
	outbox_wake(w.outbox);
	mem_free(n);
}

static void
few_go_at_once(void **state)
{
	(void)state;
	w.holding = true;
	for (unsigned i = 0; i < 7; i++)
		owe_digest(i);
	world_turn(&w);
	assert_int_equal(w.holds, 4);
	assert_int_equal(outbox_next_ms(w.outbox), 0);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	world_turn(&w);
	assert_int_equal(w.jobs, 5);
}

static void
when_nobody_takes_a_job_the_loop_does_not_spin(void **state)
{
	(void)state;
	w.busy = true;
	world_full(&w, "r1");
	assert_int_equal(w.jobs, 0);
	assert_int_equal(first()->state, DELIVERY_DUE);
	assert_int_equal(first()->attempts, 0);
	assert_true(outbox_next_ms(w.outbox) > w.now_ms);
	w.busy = false;
	world_pass(&w, 2 * SECOND);
	assert_string_equal(w.told, "F");
}

static void
a_server_that_may_not_be_used_is_passed_over(void **state)
{
	(void)state;
	w.shut = "alert1";
	world_full(&w, "r1");
	assert_true(outbox_next_ms(w.outbox) <= w.now_ms);	/* at once */
	world_turn(&w);
	assert_int_equal(w.jobs, 1);
	assert_string_equal(w.last_server, "alert2");
	assert_string_equal(w.told, "F");
}

static void
the_only_server_that_may_not_be_used_is_not_asked_at_once_again(void **state)
{
	(void)state;
	world_close(&w);
	world_open(&w, "", "alerts \"one\" { from = \"m@example.org\" to = "
	    "{\"admin@example.org\"} servers = {\"alert1\"} }\n"
	    "route \"t\" { server = \"full\" from = \"p@example.org\" "
	    "to = \"t@mx.example\" mailbox = \"box\" alerts = \"one\" }\n");
	w.shut = "alert1";
	world_full(&w, "t");
	assert_int_equal(w.jobs, 0);
	assert_int_equal(first()->state, DELIVERY_DUE);
	assert_true(outbox_next_ms(w.outbox) >= w.now_ms + 10 * SECOND);
	assert_string_not_equal(first()->last_reply, "");
	w.shut = NULL;
	world_pass(&w, MINUTE);
	assert_string_equal(w.told, "F");
}

static void
a_foreign_answer_is_ignored(void **state)
{
	(void)state;
	w.holding = true;
	world_full(&w, "r1");
	outbox_result(w.outbox, 0, &w.answer, w.now_ms);
	outbox_result(w.outbox, 12345, &w.answer, w.now_ms);
	assert_int_equal(first()->state, DELIVERY_SENDING);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	assert_int_equal(first()->state, DELIVERY_SENT);
}

static void
a_test_reaches_every_recipient_each_time(void **state)
{
	int64_t	ids[FOLLOW_TESTS];

	(void)state;
	assert_int_equal(follow_test(w.follow, "default", ids, w.now_ms), 0);
	world_turn(&w);
	assert_string_equal(w.told, "FAD");
	w.now_ms += SECOND;
	assert_int_equal(follow_test(w.follow, "default", ids, w.now_ms), 0);
	world_turn(&w);
	assert_string_equal(w.told, "FADFAD");
	assert_int_equal(ids[2], ids[0] + 2);
	assert_int_equal(follow_test(w.follow, "nobody", ids, w.now_ms), -1);
}

static void
a_test_that_cannot_go_is_soon_forgotten(void **state)
{
	int64_t	ids[FOLLOW_TESTS];

	(void)state;
	refuse("451 4.3.0 later", CLASS_OTHER);
	assert_int_equal(follow_test(w.follow, "default", ids, w.now_ms), 0);
	world_pass(&w, HOUR);
	assert_int_equal(outbox_waiting(w.outbox), 0);
	assert_int_equal(first()->state, DELIVERY_EXPIRED);
}

static void
the_oldest_that_waits_can_be_asked_for(void **state)
{
	struct outbox_view	v;

	(void)state;
	assert_false(outbox_oldest(w.outbox, &v));
	refuse("451 4.3.0 try later", CLASS_OTHER);
	world_full(&w, "r1");
	w.now_ms += HOUR;
	owe_digest(1);
	world_turn(&w);
	assert_true(outbox_oldest(w.outbox, &v));
	assert_int_equal(v.kind, NOTICE_FAILING);
	assert_string_equal(v.alerts, "default");
	assert_string_equal(v.delivery->to, "admin@example.org");
	assert_string_equal(v.delivery->last_reply, "try later");
	assert_in_range(w.now_ms - v.owed_ms, HOUR, HOUR + MINUTE);
	accept_again();
	world_pass(&w, HOUR);
	assert_false(outbox_oldest(w.outbox, &v));
}

/* Commands. */

static void
with_command(void)
{
	world_configure(&w, "command = \"page\"", "");
}

static void
a_command_hears_what_the_mail_says(void **state)
{
	(void)state;
	with_command();
	world_full(&w, "r1");
	assert_string_equal(w.told, "F");
	assert_int_equal(w.hooks, 1);
	assert_string_equal(w.hook_alerts, "default");
	assert_string_equal(w.hook_command, "page");
	assert_non_null(strstr(w.hook_input, "\"kind\":\"failing\","
	    "\"test\":false,"));
	assert_non_null(strstr(w.hook_input, "\"subject\":\"FAILING: "
	    "mx.example answers 452 4.3.1"));
	assert_non_null(strstr(w.hook_input, "\"scope\":\"system mx.example"
	    "\",\"class\":\"system-full\",\"state\":\"failing\","));
	assert_non_null(strstr(w.hook_input, "\"routes\":[\"r1\"]}}\n"));
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
a_command_that_fails_is_tried_a_few_times_and_mail_goes_on(void **state)
{
	static const int64_t	gaps[] = { 10, 60, 300, 900 };

	(void)state;
	with_command();
	w.holding = true;
	world_full(&w, "r1");
	assert_int_equal(w.holds, 2);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	refuse("0 exited with status 1", CLASS_OTHER);
	outbox_result(w.outbox, w.held[1], &w.answer, w.now_ms);
	w.holding = false;
	w.holds = 0;
	for (unsigned i = 0; i < NITEMS(gaps); i++) {
		assert_int_equal(outbox_waiting(w.outbox), 1);
		assert_int_equal(outbox_next_ms(w.outbox),
		    w.now_ms + gaps[i] * SECOND);
		w.now_ms += gaps[i] * SECOND;
		world_turn(&w);
		assert_int_equal(w.hooks, 2 + i);
	}
	assert_int_equal(outbox_waiting(w.outbox), 0);
	assert_int_equal(w.jobs, 1);
}

static void
a_command_runs_again_when_the_power_went_while_it_ran(void **state)
{
	(void)state;
	with_command();
	w.holding = true;
	world_full(&w, "r1");
	world_restart(&w, true);
	w.holding = false;
	w.holds = 0;
	world_turn(&w);
	assert_int_equal(w.hooks, 2);
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
a_command_that_is_no_longer_set_is_not_waited_for(void **state)
{
	(void)state;
	with_command();
	w.busy = true;
	world_full(&w, "r1");
	world_configure(&w, "", "");
	w.busy = false;
	world_pass(&w, 2 * SECOND);
	assert_int_equal(w.hooks, 0);
	assert_string_equal(w.told, "F");
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
a_section_that_is_gone_still_gets_its_notices_out(void **state)
{
	static const char	gone[] = "alerts \"gone\" { from = "
	    "\"m@example.org\" to = {\"g@example.org\"} servers = "
	    "{\"alert2\"} }\nroute \"t\" { server = \"full\" from = "
	    "\"p@example.org\" to = \"t@mx.example\" mailbox = \"box\" "
	    "alerts = \"gone\" }\n";

	(void)state;
	world_configure(&w, "", gone);
	refuse("451 4.3.0 later", CLASS_OTHER);
	world_full(&w, "t");
	world_configure(&w, "", "");
	accept_again();
	world_pass(&w, MINUTE);
	assert_string_equal(w.told_other, "F");
	assert_string_equal(w.last.from, "mailflowd@example.org");
}

/* What hangs holds up nobody else. */

/* A second section, by another relay, with a command. */
static const char	two[] = "alerts \"two\" { from = \"m@example.org\" "
    "to = {\"other@example.org\"} servers = {\"alert2\"} command = \"page\" "
    "}\nroute \"t\" { server = \"full\" from = \"p@example.org\" "
    "to = \"t@mx.example\" mailbox = \"box\" alerts = \"two\" }\n";

static void
stuck_answer(unsigned n, const char *answer, enum outcome_class class)
{
	struct outcome	o;

	world_outcome(&w, &o, "alert1.example", STAGE_GREETING, class, answer);
	outbox_result(w.outbox, w.stuck[n], &o, w.now_ms);
}

static void
a_relay_that_hangs_holds_up_no_other_relay_and_no_command(void **state)
{
	(void)state;
	world_configure(&w, "", two);
	w.hangs = "alert1";
	for (unsigned i = 0; i < 7; i++)
		owe_digest(i);
	world_full(&w, "t");
	assert_int_equal(w.stucks, 4);
	assert_string_equal(w.told_other, "F");
	assert_int_equal(w.hooks, 1);
	assert_string_equal(w.last_server, "alert2");
	assert_int_equal(outbox_waiting(w.outbox), 7);
	assert_int_equal(outbox_next_ms(w.outbox), 0);
}

static void
a_relay_with_one_session_at_a_time_holds_up_no_other(void **state)
{
	(void)state;
	world_configure(&w, "", two);
	w.engaged = "alert1";
	for (unsigned i = 0; i < 3; i++)
		owe_digest(i);
	world_full(&w, "t");
	assert_string_equal(w.told_other, "F");
	assert_int_equal(w.hooks, 1);
	/* Asked once for all that wait for it, and again in a while. */
	assert_int_equal(w.asked, 2);
	assert_int_equal(outbox_next_ms(w.outbox), w.now_ms + SECOND);
	w.engaged = NULL;
	world_pass(&w, 2 * SECOND);
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
a_command_that_hangs_holds_up_no_mail_and_no_other_command(void **state)
{
	(void)state;
	world_configure(&w, "command = \"slow\"", two);
	w.holding = true;
	for (unsigned i = 0; i < 6; i++)
		owe_to_command("default", i);
	world_turn(&w);
	assert_int_equal(w.hooks, 4);
	owe_to_command("two", 6);
	owe_digest(7);
	world_turn(&w);
	assert_int_equal(w.hooks, 5);
	assert_string_equal(w.hook_alerts, "two");
	assert_int_equal(w.jobs, 1);
	outbox_result(w.outbox, w.held[0], &w.answer, w.now_ms);
	world_turn(&w);
	assert_int_equal(w.hooks, 6);
	assert_string_equal(w.hook_alerts, "default");
}

static void
after_no_answer_new_notices_begin_with_the_next_relay(void **state)
{
	(void)state;
	w.hangs = "alert1";
	owe_digest(0);
	world_turn(&w);
	stuck_answer(0, "timed out", CLASS_NETWORK);
	world_turn(&w);
	assert_string_equal(w.last_server, "alert2");
	for (unsigned i = 1; i < 4; i++)
		owe_digest(i);
	world_turn(&w);
	assert_int_equal(w.stucks, 1);
	assert_int_equal(outbox_waiting(w.outbox), 0);
	/* Later one finds out, and nobody waits for it. */
	world_pass(&w, 10 * MINUTE);
	for (unsigned i = 4; i < 8; i++)
		owe_digest(i);
	world_turn(&w);
	assert_int_equal(w.stucks, 2);
	assert_int_equal(outbox_waiting(w.outbox), 1);
	stuck_answer(1, "250 2.0.0 Ok", CLASS_ACCEPTED);
	w.hangs = NULL;
	owe_digest(8);
	world_turn(&w);
	assert_string_equal(w.last_server, "alert1");
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

static void
a_relay_that_refuses_stays_the_first_choice(void **state)
{
	(void)state;
	w.hangs = "alert1";
	owe_digest(0);
	world_turn(&w);
	stuck_answer(0, "451 4.3.0 later", CLASS_OTHER);
	owe_digest(1);
	world_turn(&w);
	assert_int_equal(w.stucks, 2);
}

static void
when_no_relay_answers_each_is_still_tried_in_turn(void **state)
{
	(void)state;
	refuse("no route", CLASS_NETWORK);
	owe_digest(0);
	world_turn(&w);
	world_turn(&w);
	assert_int_equal(w.jobs, 2);
	owe_digest(1);
	world_turn(&w);
	world_turn(&w);
	assert_int_equal(w.jobs, 4);
	assert_int_equal(outbox_next_ms(w.outbox), w.now_ms + 10 * SECOND);
	world_pass(&w, MINUTE);
	accept_again();
	world_pass(&w, 5 * MINUTE);
	assert_int_equal(outbox_waiting(w.outbox), 0);
}

/* One may not be used, the other does not answer: that is no reason to ask
 * both of them without end. */
static void
a_shut_relay_beside_a_silent_one_gets_its_gap(void **state)
{
	(void)state;
	w.shut = "alert1";
	refuse("timed out", CLASS_NETWORK);
	world_full(&w, "r1");
	world_pass(&w, HOUR);
	assert_in_range(w.jobs, 5, 20);
	assert_in_range(first()->attempts, 10, 40);
	accept_again();
	world_pass(&w, HOUR);
	assert_string_equal(w.told, "FS");
}

static void
a_changed_configuration_forgets_who_did_not_answer(void **state)
{
	(void)state;
	w.hangs = "alert1";
	owe_digest(0);
	world_turn(&w);
	stuck_answer(0, "timed out", CLASS_NETWORK);
	world_turn(&w);
	world_configure(&w, "", "");
	owe_digest(1);
	world_turn(&w);
	assert_int_equal(w.stucks, 2);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, begin, end)

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		TEST(a_notice_is_one_complete_mail),
		TEST(it_is_on_disk_as_sending_before_it_goes),
		TEST(a_refusing_server_is_left_for_the_next_at_once),
		TEST(when_all_refuse_the_gaps_grow_to_an_hour_and_nothing_is_lost),
		TEST(a_late_notice_says_that_it_is_late),
		TEST(a_prompt_notice_does_not),
		TEST(recovery_does_not_overtake_the_beginning),
		TEST(one_person_s_trouble_does_not_stop_another_s_mail),
		TEST(what_was_being_sent_at_a_crash_is_sent_again),
		TEST(silence_after_the_dot_is_tried_again_after_a_gap),
		TEST(that_a_mail_may_be_a_repeat_outlives_a_restart),
		TEST(a_mail_that_was_refused_is_no_repeat),
		TEST(after_five_days_it_is_given_up_and_the_next_goes),
		TEST(a_leap_of_the_clock_gives_nothing_up),
		TEST(few_go_at_once),
		TEST(when_nobody_takes_a_job_the_loop_does_not_spin),
		TEST(a_server_that_may_not_be_used_is_passed_over),
		TEST(the_only_server_that_may_not_be_used_is_not_asked_at_once_again),
		TEST(a_foreign_answer_is_ignored),
		TEST(a_test_reaches_every_recipient_each_time),
		TEST(a_test_that_cannot_go_is_soon_forgotten),
		TEST(the_oldest_that_waits_can_be_asked_for),
		TEST(a_command_hears_what_the_mail_says),
		TEST(a_command_that_fails_is_tried_a_few_times_and_mail_goes_on),
		TEST(a_command_runs_again_when_the_power_went_while_it_ran),
		TEST(a_command_that_is_no_longer_set_is_not_waited_for),
		TEST(a_section_that_is_gone_still_gets_its_notices_out),
		TEST(a_relay_that_hangs_holds_up_no_other_relay_and_no_command),
		TEST(a_relay_with_one_session_at_a_time_holds_up_no_other),
		TEST(a_command_that_hangs_holds_up_no_mail_and_no_other_command),
		TEST(after_no_answer_new_notices_begin_with_the_next_relay),
		TEST(a_relay_that_refuses_stays_the_first_choice),
		TEST(when_no_relay_answers_each_is_still_tried_in_turn),
		TEST(a_shut_relay_beside_a_silent_one_gets_its_gap),
		TEST(a_changed_configuration_forgets_who_did_not_answer),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
