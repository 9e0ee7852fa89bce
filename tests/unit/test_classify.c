#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/classify.h"
#include "monitor/mem.h"

/*
 * replies.tsv: reply, class, temporary|permanent, ...
 * replies-more.tsv: stage, reply, class, temporary|permanent, server.
 */
struct table {
	const char	*file;
	size_t		 first;		/* column of the reply */
	size_t		 least;		/* rows it must have */
};

static const struct table tables[] = {
	{ "replies.tsv", 0, 172 },
	{ "replies-more.tsv", 1, 600 },
};

static size_t	*earned;	/* per row of the classifier */

static size_t
unescape(char *s)
{
	char	*out = s, *start = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] != '\0' && strchr("nrt\\", s[1])) {
			s++;
			*out++ = *s == 'n' ? '\n' : *s == 'r' ? '\r' :
			    *s == 't' ? '\t' : '\\';
		} else {
			*out++ = *s;
		}
	}
	return ((size_t)(out - start));
}

static struct meaning
meaning_of(enum stage stage, const char *reply)
{
	struct reply	r;

	reply_parse(&r, reply, strlen(reply));
	return (classify(stage, &r));
}

static const char *
word(enum verdict v)
{
	return (verdict_name(v == VERDICT_UNCERTAIN ? VERDICT_TEMPORARY : v));
}

/* 1 if the row of the table is answered wrongly. */
static size_t
try_row(char *line, size_t first)
{
	char		*f[5] = { NULL };
	enum stage	 stage = STAGE_NONE;
	struct reply	 r;
	struct meaning	 m;

	for (size_t i = 0; i < NITEMS(f) && line != NULL; i++)
		f[i] = strsep(&line, "\t");
	assert_non_null(f[first + 2]);
	if (first > 0 && strcmp(f[0], "-") != 0) {
		stage = stage_of(f[0]);
		assert_int_not_equal(stage, STAGE_NONE);
	}
	reply_parse(&r, f[first], unescape(f[first]));
	m = classify(stage, &r);
	earned[classify_row(stage, &r)]++;
	if (strcmp(class_name(m.class), f[first + 1]) == 0 &&
	    strcmp(word(m.verdict), f[first + 2]) == 0)
		return (0);
	print_error("%s %s: wanted %s %s, got %s %s by row %zu\n",
	    stage_name(stage), f[first], f[first + 1], f[first + 2],
	    class_name(m.class), word(m.verdict), classify_row(stage, &r));
	return (1);
}

static void
try_table(const struct table *t)
{
	const char	*srcdir = getenv("srcdir");
	char		 name[512], *line = NULL;
	size_t		 size = 0, rows = 0, wrong = 0;
	ssize_t		 len;
	FILE		*f;

	snprintf(name, sizeof name, "%s/tests/unit/%s",
	    srcdir != NULL ? srcdir : ".", t->file);
	f = fopen(name, "r");
	assert_non_null(f);
	assert_true(getline(&line, &size, f) > 0);	/* the header */
	while ((len = getline(&line, &size, f)) > 0) {
		line[len - 1] = '\0';
		wrong += try_row(line, t->first);
		rows++;
	}
	free(line);
	fclose(f);
	assert_true(rows >= t->least);
	assert_int_equal(wrong, 0);
}

static void
every_known_reply_has_its_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(tables); i++)
		try_table(&tables[i]);
}

/* Runs after the one above. */
static void
every_row_of_the_table_is_earned_by_a_reply(void **state)
{
	size_t	idle = 0;

	(void)state;
	for (size_t i = 0; i < classify_rows(); i++)
		if (earned[i] == 0) {
			print_error("row %zu (%s) decides nothing\n", i,
			    classify_row_words(i));
			idle++;
		}
	assert_int_equal(idle, 0);
}

/* As the text is prepared; behind "=" as it stands on the wire. */
static bool
is_spelled_well(const char *words)
{
	bool	raw = false;

	for (const char *w = words; *w != '\0'; w++) {
		if (*w == '|' || *w == '&')
			raw = false;
		else if (*w == '=')
			raw = true;
		if ((unsigned char)*w < 0x80 && strchr("abcdefghijklmnopqrstuv"
		    "wxyz0123456789 |&!=.", *w) == NULL &&
		    (!raw || strchr(":/_", *w) == NULL))
			return (false);
	}
	return (true);
}

/* Words can only be found if they are spelled as the text is prepared. */
static void
every_word_is_spelled_as_texts_are_prepared(void **state)
{
	const char	*w;

	(void)state;
	for (size_t i = 0; i < classify_rows(); i++) {
		w = classify_row_words(i);
		if (*w == '\0')
			continue;
		if (!is_spelled_well(w))
			fail_msg("row %zu: odd letter in %s", i, w);
		if (strstr(w, "||") != NULL || strstr(w, "&&") != NULL ||
		    strstr(w, "  ") != NULL || w[strlen(w) - 1] == '|' ||
		    *w == '|')
			fail_msg("row %zu: an empty word in %s", i, w);
	}
}

static void
the_first_digit_decides_about_the_message(void **state)
{
	char		text[32];
	enum verdict	wanted;

	(void)state;
	for (int code = 200; code < 600; code++) {
		wanted = code < 400 ? VERDICT_ACCEPTED : code < 500 ?
		    VERDICT_TEMPORARY : VERDICT_PERMANENT;
		snprintf(text, sizeof text, "%d %d.3.1 x", code,
		    code < 500 ? 5 : 4);
		assert_int_equal(meaning_of(STAGE_NONE, text).verdict, wanted);
		if (code >= 400)
			assert_int_equal(meaning_of(STAGE_RCPT, text).class,
			    CLASS_SYSTEM_FULL);
	}
	assert_int_equal(meaning_of(STAGE_NONE, "5.3.1 full").verdict,
	    VERDICT_PERMANENT);
	assert_int_equal(meaning_of(STAGE_NONE, "4.3.1 full").verdict,
	    VERDICT_TEMPORARY);
}

static void
only_a_2yz_to_the_dot_is_accepted(void **state)
{
	(void)state;
	for (int s = STAGE_NONE; s < STAGES; s++)
		assert_int_equal(meaning_of((enum stage)s,
		    "250 2.0.0 Ok: queued as X").class,
		    s == STAGE_DOT ? CLASS_ACCEPTED : CLASS_OTHER);
}

static void
silence_after_the_dot_is_uncertain(void **state)
{
	struct meaning	m = meaning_of(STAGE_DOT, "");

	(void)state;
	assert_int_equal(m.class, CLASS_UNCERTAIN);
	assert_int_equal(m.verdict, VERDICT_UNCERTAIN);
	m = meaning_of(STAGE_MAIL, "");
	assert_int_equal(m.class, CLASS_NETWORK);
	assert_int_equal(m.verdict, VERDICT_TEMPORARY);
}

/* Codes first: words of another class in an address or a link mean nothing. */
static void
addresses_and_links_are_no_words(void **state)
{
	static const char *const	names[] = {
		"<spam@greylist.example.org>", "disk-full.example.org",
		"https://mailbox-full.example.org/quota?exceeded=1",
		"over.quota@example.org", "WWW.example.org/rate_limit",
		"user+unknown@mx.example.co.uk,",
	};
	char				text[128];

	(void)state;
	for (size_t i = 0; i < NITEMS(names); i++) {
		snprintf(text, sizeof text, "451 4.3.0 %s xyzzy", names[i]);
		if (meaning_of(STAGE_NONE, text).class != CLASS_OTHER)
			fail_msg("%s was read as words", names[i]);
	}
	assert_int_equal(meaning_of(STAGE_NONE, "451 4.3.0 disk full").class,
	    CLASS_SYSTEM_FULL);
}

static void
accents_do_not_hide_a_word(void **state)
{
	(void)state;
	assert_int_equal(meaning_of(STAGE_NONE,
	    "552 Bo\xc3\xaete pleine").class, CLASS_MAILBOX_FULL);
	assert_int_equal(meaning_of(STAGE_NONE,
	    "550 USU\xc3\x81RIO INV\xc3\x81LIDO").class, CLASS_NO_SUCH_USER);
}

/* A bare deferral must not raise the alarm this program exists for. */
static void
a_general_code_alone_is_never_system_full(void **state)
{
	static const char *const	replies[] = {
		"452", "452 ", "421", "451", "450", "421 4.3.0",
		"421 4.3.0 Temporary Error", "451 4.3.0", "452 4.3.0",
		"452 4.3.2", "452 4.3.3", "452 4.3.10", "452 4.3.11",
		"452 4.30.1", "452 4.2.2", "452 4.5.3", "552", "550 5.3.0",
		"452 5.3.10", "452 4.4.5", "451 4.4.5", "421 4.4.5",
		"425 4.3.2 Insufficient system storage",
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(replies); i++)
		for (int s = STAGE_NONE; s < STAGES; s++)
			if (meaning_of((enum stage)s, replies[i]).class ==
			    CLASS_SYSTEM_FULL)
				fail_msg("%s at %s", replies[i],
				    stage_name((enum stage)s));
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525U + 1013904223U;
	return (*seed >> 8);
}

static void
any_bytes_have_a_meaning(void **state)
{
	static const char *const	starts[] = { "", "452 ", "5", "550-4.",
					    "421 4.3.1", "25" };
	uint32_t			seed = 20261130;
	char				bytes[256];
	struct reply			r;
	struct meaning			m;
	size_t				len;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		len = strlen(strcpy(bytes,
		    starts[next_random(&seed) % NITEMS(starts)]));
		while (len < sizeof bytes && next_random(&seed) % 64 != 0)
			bytes[len++] = (char)(next_random(&seed) &
			    (i % 2 == 0 ? 0xff : 0x3f));
		reply_parse(&r, bytes, len);
		m = classify((enum stage)(next_random(&seed) % STAGES), &r);
		assert_true(m.class > CLASS_NONE && m.class < CLASSES);
		assert_true(m.verdict > VERDICT_NONE && m.verdict < VERDICTS);
		assert_true(r.code == 0 || (r.code >= 200 && r.code < 600));
	}
}

static int
setup(void **state)
{
	(void)state;
	earned = mem_alloc(classify_rows() * sizeof *earned);
	return (0);
}

static int
teardown(void **state)
{
	(void)state;
	mem_free(earned);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(every_known_reply_has_its_class),
		cmocka_unit_test(every_row_of_the_table_is_earned_by_a_reply),
		cmocka_unit_test(every_word_is_spelled_as_texts_are_prepared),
		cmocka_unit_test(the_first_digit_decides_about_the_message),
		cmocka_unit_test(only_a_2yz_to_the_dot_is_accepted),
		cmocka_unit_test(silence_after_the_dot_is_uncertain),
		cmocka_unit_test(addresses_and_links_are_no_words),
		cmocka_unit_test(accents_do_not_hide_a_word),
		cmocka_unit_test(a_general_code_alone_is_never_system_full),
		cmocka_unit_test(any_bytes_have_a_meaning),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
