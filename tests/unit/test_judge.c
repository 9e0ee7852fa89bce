#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alerts/judge.h"
#include "alerts/reach.h"
#include "alerts/words.h"
#include "monitor/mem.h"
#include "monitor/text.h"

#define MINUTE	INT64_C(60000)

/* Strings of the sections are the configuration's; these are never freed. */
static char	empty[] = "", host[] = "MX.Example.", mx[] = "mx.example",
		name[] = "r1", to[] = "Canary@Far.Example", box[] = "box",
		back[] = "return", group[] = "gateway", domain[] = "far.example";

static struct server	plain = { .host = host, .system = host,
			    .domain = empty, .port = 25 };
static struct server	named = { .host = mx, .system = group,
			    .domain = empty };
static struct server	found = { .host = empty, .system = empty,
			    .domain = empty, .mx = MX_FIRST };
static struct server	each = { .host = empty, .system = empty,
			    .domain = empty, .mx = MX_EACH };
static struct mailbox	mailbox = { .name = box }, bounces = { .name = back };
static struct alerts	alerts = { .full_after = 3, .fail_after = 4,
			    .fail_for_ms = 7 * MINUTE,
			    .greylist_grace_ms = 60 * MINUTE,
			    .blind_after_ms = 9 * MINUTE, .accept_after = 5,
			    .settle_ms = 11 * MINUTE };
static struct route	route = { .name = name, .server = &plain, .to = to,
			    .mailbox = &mailbox, .bounces = &bounces,
			    .alerts = &alerts };

struct row {
	enum stage		 stage;
	enum outcome_class	 class;
	enum verdict		 verdict;
	bool			 blind;
	enum episode_event	 event;
	enum outcome_class	 judged;
	const char		*scope;
};

#define T	VERDICT_TEMPORARY
#define P	VERDICT_PERMANENT
#define MISSED	EPISODE_EV_MISS
#define SYSTEM	"system mx.example"
#define PORT	"system mx.example:25"
#define PERSON	"recipient canary@far.example"
#define ROUTE	"route r1"

static const struct row rows[] = {
	{ STAGE_MAIL, CLASS_SYSTEM_FULL, T, false, MISSED, CLASS_SYSTEM_FULL, SYSTEM },
	{ STAGE_DOT, CLASS_SYSTEM_FULL, P, false, MISSED, CLASS_SYSTEM_FULL, SYSTEM },
	{ STAGE_RCPT, CLASS_MAILBOX_FULL, T, false, MISSED, CLASS_MAILBOX_FULL, PERSON },
	{ STAGE_RCPT, CLASS_NO_SUCH_USER, P, false, MISSED, CLASS_NO_SUCH_USER, PERSON },
	{ STAGE_CONNECT, CLASS_NETWORK, T, false, MISSED, CLASS_NETWORK, PORT },
	{ STAGE_DOT, CLASS_NETWORK, T, false, MISSED, CLASS_NETWORK, PORT },
	{ STAGE_STARTTLS, CLASS_TLS, T, false, MISSED, CLASS_TLS, PORT },
	{ STAGE_LOOKUP, CLASS_DNS, P, false, MISSED, CLASS_DNS, SYSTEM },
	{ STAGE_MAIL, CLASS_CONGESTION, T, false, MISSED, CLASS_CONGESTION, SYSTEM },
	{ STAGE_RCPT, CLASS_RATE_LIMIT, T, false, MISSED, CLASS_RATE_LIMIT, SYSTEM },
	{ STAGE_MAIL, CLASS_AUTH, P, false, MISSED, CLASS_AUTH, PORT },
	{ STAGE_RCPT, CLASS_POLICY, P, false, MISSED, CLASS_POLICY, ROUTE },
	{ STAGE_MAIL, CLASS_SIZE, P, false, MISSED, CLASS_SIZE, ROUTE },
	{ STAGE_DATA, CLASS_OTHER, T, false, MISSED, CLASS_OTHER, ROUTE },
	{ STAGE_DOT, CLASS_UNCERTAIN, VERDICT_UNCERTAIN, false, MISSED, CLASS_UNCERTAIN, ROUTE },
	/* Before MAIL it is the listener, whatever the words are. */
	{ STAGE_GREETING, CLASS_POLICY, P, false, MISSED, CLASS_POLICY, PORT },
	{ STAGE_EHLO, CLASS_OTHER, T, false, MISSED, CLASS_OTHER, PORT },
	{ STAGE_GREETING, CLASS_MAILBOX_FULL, T, false, MISSED, CLASS_MAILBOX_FULL, PORT },
	/* Our own trouble. */
	{ STAGE_AUTH, CLASS_AUTH, P, true, EPISODE_EV_BLIND, CLASS_BLIND, PORT },
	{ STAGE_LOOKUP, CLASS_DNS, T, true, EPISODE_EV_BLIND, CLASS_BLIND, "resolver" },
	/* Failed without a word. */
	{ STAGE_NONE, CLASS_NONE, T, false, MISSED, CLASS_OTHER, PORT },
	{ STAGE_DOT, CLASS_ACCEPTED, VERDICT_ACCEPTED, false, EPISODE_EV_ACCEPT, CLASS_NONE, SYSTEM },
};

static void
each_class_is_somebody_s_trouble(void **state)
{
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct judgement	j;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		outcome_init(&o);
		o.stage = rows[i].stage;
		o.class = rows[i].class;
		o.verdict = rows[i].verdict;
		o.blind = rows[i].blind;
		judge_attempt(&route, &p, &o, 2000, &j);
		if (strcmp(j.scope, rows[i].scope) != 0 ||
		    j.event != rows[i].event || j.class != rows[i].judged)
			fail_msg("row %zu: %s, %s, %s", i, j.scope,
			    episode_event_name(j.event), class_name(j.class));
	}
}

static void
greylisting_counts_only_after_its_grace(void **state)
{
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct judgement	j;

	(void)state;
	outcome_init(&o);
	o.stage = STAGE_RCPT;
	o.class = CLASS_GREYLISTING;
	o.verdict = VERDICT_TEMPORARY;
	judge_attempt(&route, &p, &o, 1000 + 60 * MINUTE - 1, &j);
	assert_string_equal(j.scope, "");
	judge_attempt(&route, &p, &o, 1000 + 60 * MINUTE, &j);
	assert_string_equal(j.scope, ROUTE);
	assert_int_equal(j.class, CLASS_GREYLISTING);
	p.first_attempt.wall_ms = 0;
	judge_attempt(&route, &p, &o, 1000 + 60 * MINUTE, &j);
	assert_string_equal(j.scope, "");
}

static void
a_system_is_named_or_spoken_to_or_configured(void **state)
{
	(void)state;
	assert_string_equal(judge_system(&named, "mx1.far.example"),
	    "gateway");
	assert_string_equal(judge_system(&found, "mx1.far.example"),
	    "mx1.far.example");
	assert_string_equal(judge_system(&plain, ""), "MX.Example.");
	assert_string_equal(judge_system(&found, ""), "");
}

static void
a_domain_without_a_host_is_judged_by_its_name(void **state)
{
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct route		r = route;
	struct judgement	j;

	(void)state;
	r.server = &found;
	outcome_init(&o);
	o.stage = STAGE_LOOKUP;
	o.class = CLASS_DNS;
	o.verdict = VERDICT_TEMPORARY;
	judge_attempt(&r, &p, &o, 2000, &j);
	assert_string_equal(j.scope, "system far.example");
	/* Whichever host takes the mail, the domain was found. */
	assert_true(judge_speaks(j.scope, &r, "mx7.far.example"));
	assert_false(judge_speaks("system mx1.far.example", &r,
	    "mx7.far.example"));
	assert_false(judge_speaks("system far.example", &route,
	    "mx.example"));
	found.domain = domain;
	assert_string_equal(judge_domain(&r), "far.example");
	found.domain = empty;
}

static void
scopes_cover_their_routes_and_no_others(void **state)
{
	(void)state;
	assert_true(judge_covers("system mx.example", &route));
	assert_false(judge_covers("system mx2.example", &route));
	assert_false(judge_covers("system ", &route));
	assert_true(judge_covers("recipient canary@far.example", &route));
	assert_false(judge_covers("recipient x@far.example", &route));
	assert_true(judge_covers("route r1", &route));
	assert_false(judge_covers("route r", &route));
	assert_true(judge_covers("mailbox box", &route));
	assert_true(judge_covers("mailbox return", &route));
	assert_false(judge_covers("mailbox other", &route));
	assert_true(judge_covers("monitor", &route));
	assert_false(judge_covers("nonsense r1", &route));
	assert_false(judge_covers("", &route));
}

static void
an_accept_speaks_about_its_system_only(void **state)
{
	(void)state;
	assert_true(judge_speaks("system mx.example", &route, "mx.EXAMPLE"));
	assert_false(judge_speaks("system mx.example", &route,
	    "mx2.example"));
	assert_true(judge_speaks("recipient canary@far.example", &route,
	    "mx.example"));
	assert_true(judge_speaks("route r1", &route, "mx.example"));
	assert_false(judge_speaks("mailbox box", &route, "mx.example"));
	assert_false(judge_speaks("monitor", &route, "mx.example"));
}

/* What two ports of one host know of each other. */
static void
a_listener_s_trouble_is_no_other_listener_s(void **state)
{
	struct server	other = plain;
	struct route	r = route;

	(void)state;
	other.port = 587;
	r.server = &other;
	assert_true(judge_covers(PORT, &route));
	assert_false(judge_covers(PORT, &r));
	assert_true(judge_speaks(PORT, &route, "MX.example"));
	assert_false(judge_speaks(PORT, &r, "mx.example"));
	assert_true(judge_speaks("system mx.example:587", &r, "mx.example"));
	assert_false(judge_speaks("system mx.example:58", &r, "mx.example"));
	/* The system is everybody's, also as it was called before. */
	assert_true(judge_covers(SYSTEM, &r));
	assert_true(judge_speaks(SYSTEM, &r, "mx.example"));
	assert_true(judge_is_listener(PORT));
	assert_false(judge_is_listener(SYSTEM));
	assert_true(judge_is_of_system(PORT, "MX.example"));
	assert_true(judge_is_of_system(SYSTEM, "mx.example"));
	assert_false(judge_is_of_system(PORT, "mx.exampl"));
	assert_false(judge_is_of_system("route mx.example", "mx.example"));
}

static void
an_address_with_colons_is_told_from_its_port(void **state)
{
	static char		address[] = "2001:DB8::25";
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct server		six = plain;
	struct route		r = route;
	struct judgement	j;

	(void)state;
	six.host = six.system = address;
	r.server = &six;
	outcome_init(&o);
	o.stage = STAGE_CONNECT;
	o.class = CLASS_NETWORK;
	o.verdict = VERDICT_TEMPORARY;
	judge_attempt(&r, &p, &o, 2000, &j);
	assert_string_equal(j.scope, "system [2001:db8::25]:25");
	assert_true(judge_is_listener(j.scope));
	assert_true(judge_speaks(j.scope, &r, ""));
	assert_true(judge_is_of_system(j.scope, "2001:db8::25"));
	assert_false(judge_is_listener("system 2001:db8::25"));
	assert_true(judge_speaks("system 2001:db8::25", &r, ""));
	assert_true(judge_is_of_system("system 2001:db8::25",
	    "2001:db8::25"));
}

static void
a_login_is_a_listener_s_and_a_look_up_our_resolver_s(void **state)
{
	static const struct {
		enum stage		 stage;
		enum outcome_class	 class;
		bool			 blind;
		const char		*scope;
	} one[] = {
		{ STAGE_AUTH, CLASS_AUTH, true, PORT },
		{ STAGE_DOT, CLASS_BLIND, true, PORT },
		{ STAGE_LOOKUP, CLASS_DNS, true, "resolver" },
		{ STAGE_LOOKUP, CLASS_DNS, false, SYSTEM },
		{ STAGE_GREETING, CLASS_SYSTEM_FULL, false, SYSTEM },
		{ STAGE_GREETING, CLASS_CONGESTION, false, SYSTEM },
		{ STAGE_CONNECT, CLASS_RATE_LIMIT, false, SYSTEM },
		{ STAGE_EHLO, CLASS_NO_SUCH_USER, false, PORT },
	};
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct judgement	j;

	(void)state;
	for (size_t i = 0; i < NITEMS(one); i++) {
		outcome_init(&o);
		o.stage = one[i].stage;
		o.class = one[i].class;
		o.verdict = VERDICT_TEMPORARY;
		o.blind = one[i].blind;
		judge_attempt(&route, &p, &o, 2000, &j);
		if (strcmp(j.scope, one[i].scope) != 0)
			fail_msg("row %zu: %s", i, j.scope);
	}
}

static void
age_belongs_to_the_route_and_blindness_to_the_mailbox(void **state)
{
	struct judgement	j;

	(void)state;
	judge_age(&route, "mx.example", &j);
	assert_string_equal(j.scope, ROUTE);
	assert_int_equal(j.class, CLASS_UNDELIVERED);
	assert_int_equal(j.origin, EPISODE_BY_AGE);
	judge_mailbox("box", &j);
	assert_string_equal(j.scope, "mailbox box");
	assert_int_equal(j.class, CLASS_BLIND);
	assert_int_equal(j.event, EPISODE_EV_BLIND);
}

static void
what_one_mail_host_says_is_its_word_alone(void **state)
{
	static const struct {
		enum stage		 stage;
		enum outcome_class	 class;
		const char		*scope;
	} one[] = {
		{ STAGE_MAIL, CLASS_SYSTEM_FULL, "system mx1.far.example" },
		{ STAGE_RCPT, CLASS_MAILBOX_FULL,
		    "recipient canary@far.example via mx1.far.example" },
		{ STAGE_RCPT, CLASS_POLICY, "route r1 via mx1.far.example" },
	};
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct route		r = route;
	struct judgement	j;

	(void)state;
	r.server = &each;
	for (size_t i = 0; i < NITEMS(one); i++) {
		outcome_init(&o);
		o.stage = one[i].stage;
		o.class = one[i].class;
		o.verdict = VERDICT_TEMPORARY;
		text_copy(o.host, sizeof o.host, "MX1.far.example");
		judge_attempt(&r, &p, &o, 2000, &j);
		assert_string_equal(j.scope, one[i].scope);
		assert_true(judge_speaks(j.scope, &r, "mx1.Far.example"));
		assert_false(judge_speaks(j.scope, &r, "mx2.far.example"));
		assert_false(judge_speaks(j.scope, &route,
		    "mx2.far.example"));
	}
	judge_age(&r, "mx2.far.example", &j);
	assert_string_equal(j.scope, "route r1 via mx2.far.example");
	assert_false(judge_speaks(j.scope, &r, "mx1.far.example"));
	/* Said before any host was known: any of them ends it. */
	assert_true(judge_speaks(ROUTE, &r, "mx1.far.example"));
	assert_true(judge_speaks(PERSON, &r, "mx1.far.example"));
}

static void
limits_follow_the_class(void **state)
{
	struct episode		e = { .class = CLASS_SYSTEM_FULL };
	struct episode_limits	lim;

	(void)state;
	judge_limits(&alerts, &e, &lim);
	assert_int_equal(lim.misses_to_fail, 3);
	assert_int_equal(lim.fail_for_ms, 0);
	assert_int_equal(lim.accepts_to_mend, 5);
	assert_int_equal(lim.settle_ms, 11 * MINUTE);
	e.class = CLASS_NETWORK;
	judge_limits(&alerts, &e, &lim);
	assert_int_equal(lim.misses_to_fail, 4);
	assert_int_equal(lim.fail_for_ms, 7 * MINUTE);
	e.class = CLASS_BLIND;
	judge_limits(&alerts, &e, &lim);
	assert_int_equal(lim.misses_to_fail, 1);
	assert_int_equal(lim.fail_for_ms, 9 * MINUTE);
	e.class = CLASS_UNDELIVERED;
	e.origin = EPISODE_BY_AGE;
	judge_limits(&alerts, &e, &lim);
	assert_int_equal(lim.misses_to_fail, 1);
	assert_int_equal(lim.fail_for_ms, 0);
	/* No section: the manual's defaults. */
	e.class = CLASS_SYSTEM_FULL;
	e.origin = EPISODE_BY_ATTEMPT;
	judge_limits(NULL, &e, &lim);
	assert_int_equal(lim.misses_to_fail, 1);
	assert_int_equal(lim.accepts_to_mend, 2);
	assert_int_equal(lim.settle_ms, 30 * MINUTE);
}

/* A host of MX records is a stranger's word. */
static void
a_scope_holds_no_foreign_controls(void **state)
{
	static struct outcome	o;
	struct probe		p = { .first_attempt = { .wall_ms = 1000 } };
	struct route		r = route;
	struct judgement	j;

	(void)state;
	r.server = &found;
	outcome_init(&o);
	o.stage = STAGE_MAIL;
	o.class = CLASS_SYSTEM_FULL;
	o.verdict = VERDICT_TEMPORARY;
	text_copy(o.host, sizeof o.host, "mx\r\nBcc: a@b");
	judge_attempt(&r, &p, &o, 2000, &j);
	assert_false(text_has_controls(j.scope));
	memset(o.host, 'a', sizeof o.host - 1);
	judge_attempt(&r, &p, &o, 2000, &j);
	assert_true(judge_speaks(j.scope, &r, o.host));
}

static void
lists_of_names_are_exact_and_bounded(void **state)
{
	char		list[24] = "", word[8];
	const char	*at;

	(void)state;
	assert_true(words_add(list, sizeof list, "alpha"));
	assert_false(words_add(list, sizeof list, "alpha"));
	assert_true(words_add(list, sizeof list, "alp"));
	assert_false(words_has(list, "lph"));
	assert_false(words_has(list, ""));
	assert_true(words_has(list, "alp"));
	assert_true(words_add(list, sizeof list, "be"));
	assert_false(words_add(list, sizeof list, "gammagamma"));
	assert_string_equal(list, "alpha alp be ...");
	assert_false(words_add(list, sizeof list, "x"));
	assert_string_equal(list, "alpha alp be ...");
	at = list;
	assert_true(words_next(&at, word, sizeof word));
	assert_string_equal(word, "alpha");
	assert_true(words_next(&at, word, sizeof word));
	assert_string_equal(word, "alp");
	assert_true(words_next(&at, word, sizeof word));
	assert_false(words_next(&at, word, sizeof word));
}

struct answer {
	enum stage	 stage;
	int		 code;
	enum verdict	 verdict;
	int		 reached;
};

static void
an_answer_of_any_kind_shows_that_a_host_is_there(void **state)
{
	static const struct answer	answers[] = {
		{ STAGE_NONE, 0, T, 0 },	{ STAGE_LOOKUP, 0, T, -1 },
		{ STAGE_LOOKUP, 0, P, 1 },	{ STAGE_CONNECT, 0, T, -1 },
		{ STAGE_GREETING, 0, T, 1 },	{ STAGE_GREETING, 421, T, 1 },
		{ STAGE_DOT, 0, VERDICT_UNCERTAIN, 1 },
		{ STAGE_DOT, 250, VERDICT_ACCEPTED, 1 },
	};
	static struct outcome		o;

	(void)state;
	for (size_t i = 0; i < NITEMS(answers); i++) {
		outcome_init(&o);
		o.stage = answers[i].stage;
		o.code = answers[i].code;
		o.verdict = answers[i].verdict;
		assert_int_equal(judge_reached(&o), answers[i].reached);
	}
}

static bool
begins_with_a(const void *arg, const char *known)
{
	(void)arg;
	return (known[0] == 'a');
}

static void
only_the_silence_of_all_is_our_own(void **state)
{
	static struct reach	r;
	char			host_name[16];

	(void)state;
	reach_note(&r, "a", false, false, 1000);
	reach_note(&r, "b", false, false, 1000);
	assert_int_equal(reach_none(&r, 1000), 0);
	reach_note(&r, "", false, false, 1000);
	reach_note(&r, "B", false, false, 1000);
	assert_int_equal(reach_none(&r, 1000), 0);
	reach_note(&r, "c", false, false, 1000);
	assert_int_equal(reach_none(&r, 1000), 3);
	reach_note(&r, "d", true, false, 1000);
	assert_int_equal(reach_none(&r, 1000), 0);
	/* What was seen long ago counts for neither side. */
	reach_note(&r, "a", false, false, 5000);
	reach_note(&r, "b", false, false, 5000);
	reach_note(&r, "c", false, false, 5000);
	assert_int_equal(reach_none(&r, 1001 + REACH_STALE_MS), 3);
	assert_int_equal(reach_none(&r, 5001 + REACH_STALE_MS), 0);
	/* An open mailbox is seen without being told again. */
	reach_note(&r, "d", true, true, 1000);
	assert_int_equal(reach_none(&r, 1001 + REACH_STALE_MS), 0);
	reach_keep(&r, begins_with_a, NULL);
	assert_int_equal(r.count, 1);
	for (int i = 0; i < 2 * REACH_HOSTS; i++) {
		snprintf(host_name, sizeof host_name, "h%d", i);
		reach_note(&r, host_name, false, false, 6000 + i);
	}
	assert_int_equal(r.count, REACH_HOSTS);
	assert_int_equal(reach_none(&r, 7000), REACH_HOSTS);
}

static const struct {
	struct server		*server;
	enum outcome_class	 class;
	const char		*system, *host;	/* named by it; spoken to */
	enum outcome_class	 judged;
	const char		*scope;
} reports[] = {
	{ &plain, CLASS_SYSTEM_FULL, "next.example", "mx.example",
	    CLASS_SYSTEM_FULL, "system next.example" },
	{ &plain, CLASS_OTHER, "next.example", "mx.example",
	    CLASS_UNDELIVERED, "system next.example" },
	{ &plain, CLASS_POLICY, "Next.Example.", "mx.example", CLASS_POLICY,
	    "system next.example" },
	{ &plain, CLASS_MAILBOX_FULL, "next.example", "mx.example",
	    CLASS_MAILBOX_FULL, PERSON },
	{ &plain, CLASS_NO_SUCH_USER, "", "mx.example", CLASS_NO_SUCH_USER,
	    PERSON },
	/* Our server reports of itself, under the name we gave it. */
	{ &named, CLASS_SYSTEM_FULL, "mx.example", "mx.example",
	    CLASS_SYSTEM_FULL, "system gateway" },
	{ &found, CLASS_CONGESTION, "mx2.far.example", "mx2.far.example",
	    CLASS_CONGESTION, "system mx2.far.example" },
	/* Nobody is named. */
	{ &plain, CLASS_SYSTEM_FULL, "", "mx.example", CLASS_SYSTEM_FULL,
	    ROUTE },
};

static void
a_report_is_the_trouble_of_the_system_it_names(void **state)
{
	struct episode_limits	lim;
	struct episode		e = { .class = CLASS_SYSTEM_FULL,
				    .origin = EPISODE_BY_BOUNCE };
	struct route		r = route;
	struct judgement	j;

	(void)state;
	for (size_t i = 0; i < NITEMS(reports); i++) {
		r.server = reports[i].server;
		judge_report(&r, reports[i].class, reports[i].system,
		    reports[i].host, &j);
		assert_int_equal(j.event, EPISODE_EV_MISS);
		assert_int_equal(j.origin, EPISODE_BY_BOUNCE);
		assert_int_equal(j.class, reports[i].judged);
		assert_string_equal(j.scope, reports[i].scope);
	}
	/* One is enough, whatever it takes in sessions of our own. */
	judge_limits(&alerts, &e, &lim);
	assert_int_equal(lim.misses_to_fail, 1);
	assert_int_equal(lim.fail_for_ms, 0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(each_class_is_somebody_s_trouble),
		cmocka_unit_test(greylisting_counts_only_after_its_grace),
		cmocka_unit_test(a_system_is_named_or_spoken_to_or_configured),
		cmocka_unit_test(what_one_mail_host_says_is_its_word_alone),
		cmocka_unit_test(a_domain_without_a_host_is_judged_by_its_name),
		cmocka_unit_test(scopes_cover_their_routes_and_no_others),
		cmocka_unit_test(an_accept_speaks_about_its_system_only),
		cmocka_unit_test(a_listener_s_trouble_is_no_other_listener_s),
		cmocka_unit_test(an_address_with_colons_is_told_from_its_port),
		cmocka_unit_test(
		    a_login_is_a_listener_s_and_a_look_up_our_resolver_s),
		cmocka_unit_test(
		    age_belongs_to_the_route_and_blindness_to_the_mailbox),
		cmocka_unit_test(limits_follow_the_class),
		cmocka_unit_test(a_scope_holds_no_foreign_controls),
		cmocka_unit_test(
		    an_answer_of_any_kind_shows_that_a_host_is_there),
		cmocka_unit_test(only_the_silence_of_all_is_our_own),
		cmocka_unit_test(a_report_is_the_trouble_of_the_system_it_names),
		cmocka_unit_test(lists_of_names_are_exact_and_bounded),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
