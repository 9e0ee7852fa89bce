#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/phrase.h"

static void
a_text_becomes_plain_words(void **state)
{
	static const char *const	pairs[][2] = {
		{ "", " " },
		{ "User unknown", " user unknown " },
		{ "  Mailbox_Full!! (try-again, later)...",
		    " mailbox full try again later " },
		{ "Bo\xc3\xaete PLEINE \xc3\x89t\xc3\xa9",
		    " boite pleine ete " },
		{ "gro\xc3\x9f", " gros " },
		{ "3 \xc3\x97 4", " 3 \xc3\x97 4 " },
		{ "\xe3\x83\xa1 full", " \xe3\x83\xa1 full " },
		{ "\xc3", " \xc3 " },
		{ "no <spam@example.org>: no", " no no " },
		{ "a@b.c: user unknown", " user unknown " },
		{ "at mx.full.example.org, sorry", " at sorry " },
		{ "at example.de. Sorry", " at sorry " },
		{ "see https://x.example/spam?full=1 now", " see now " },
		{ "see <HTTP://x/spam> now", " see now " },
		{ "STOREDRV.Deliver.Exception:QuotaExceeded",
		    " storedrv deliver exception quotaexceeded " },
		{ "full.Please", " full please " },
		{ "RESOLVER.ADR.RecipNotFound; not found",
		    " resolver adr recipnotfound not found " },
		{ "wait 4.5.3", " wait 4 5 3 " },
		{ "...", " " },
	};
	struct phrase_text		t;

	(void)state;
	for (size_t i = 0; i < NITEMS(pairs); i++) {
		phrase_prepare(&t, pairs[i][0]);
		assert_string_equal(t.words, pairs[i][1]);
	}
}

static void
phrases_are_found(void **state)
{
	static const struct {
		const char	*phrases;
		bool		 found;
	} rows[] = {
		{ "mailbox", true }, { "box is", true }, { " box", false },
		{ " is full ", true }, { "full mailbox", false },
		{ "quota|full", true }, { "quota|disk", false },
		{ "mailbox&full", true }, { "full&mailbox", true },
		{ "mailbox&disk", false }, { "disk&mailbox", false },
		{ "!disk&full", true }, { "!mailbox&full", false },
		{ "full&!disk", true }, { "full&!the ", false },
		{ "!mailbox&full|the mailbox", true },
		{ "!mailbox&full|!the&full", false },
		{ "example", false }, { "=example.org/x", true },
		{ "!=example.org", false }, { "=The", false },
		{ "=the mailbox is full,", true }, { "", false },
	};
	struct phrase_text	t;

	(void)state;
	phrase_prepare(&t, "The mailbox is FULL, see http://example.org/x");
	for (size_t i = 0; i < NITEMS(rows); i++)
		if (phrase_match(&t, rows[i].phrases) != rows[i].found)
			fail_msg("'%s'", rows[i].phrases);
	phrase_prepare(&t, "");
	assert_true(phrase_match(&t, ""));
	assert_false(phrase_match(&t, "x"));
	assert_true(phrase_match(&t, "!x"));
}

static void
a_text_of_any_length_fits(void **state)
{
	char			text[4 * OUTCOME_REPLY];
	struct phrase_text	t;

	(void)state;
	for (size_t len = 0; len < sizeof text - 1; len++) {
		text[len] = len % 7 == 0 ? ' ' : len % 5 == 0 ? '@' : 'a';
		text[len + 1] = '\0';
		if (len % 97 != 0 && len < sizeof text - 3)
			continue;
		phrase_prepare(&t, text);
		assert_true(strlen(t.words) < sizeof t.words);
		assert_true(strlen(t.raw) < sizeof t.raw);
	}
	memset(text, 'b', sizeof text - 1);
	phrase_prepare(&t, text);
	assert_int_equal(strlen(t.words), sizeof t.words - 2);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_text_becomes_plain_words),
		cmocka_unit_test(phrases_are_found),
		cmocka_unit_test(a_text_of_any_length_fits),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
