#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "mailboxes/folder_name.h"
#include "mailboxes/imap_filter.h"
#include "mailboxes/imap_name.h"
#include "monitor/mem.h"

#define GREETING	"* OK hi\r\n"

/* What the library gets of an input that comes in pieces of that size. */
static const char *
through(struct imap_filter *f, const char *input, size_t len, size_t piece)
{
	static char	out[65536];
	size_t		at, n, have = 0;

	for (at = 0; at < len; at += n) {
		n = len - at < piece ? len - at : piece;
		if (imap_filter_feed(f, input + at, n) < 0)
			break;
	}
	while ((n = imap_filter_take(f, out + have,
	    sizeof out - 1 - have)) > 0)
		have += n;
	out[have] = '\0';
	return (out);
}

/* A filter that has seen its greeting. */
static void
greeted(struct imap_filter *f, unsigned want)
{
	imap_filter_init(f);
	(void)through(f, GREETING, strlen(GREETING), 64);
	imap_filter_command(f, want);
}

/* Same result whatever the pieces: the network cuts where it likes. */
static void
check(unsigned want, const char *input, const char *expected,
    enum imap_filter_end end)
{
	static const size_t	pieces[] = { 1, 2, 7, 65536 };
	struct imap_filter	f;
	size_t			i;

	for (i = 0; i < NITEMS(pieces); i++) {
		greeted(&f, want);
		assert_string_equal(through(&f, input, strlen(input),
		    pieces[i]), expected);
		assert_int_equal(f.end, end);
		imap_filter_free(&f);
	}
}

struct row {
	const char		*what;
	unsigned		 want;
	const char		*input;
	const char		*expected;
	enum imap_filter_end	 end;
};

static const struct row	rows[] = {
	{ "a tagged answer loses its text and code", 0,
	    "7 OK [READ-WRITE] welcome\r\n", "7 OK done\r\n", 0 },
	{ "a tagged answer without text gets one", 0,
	    "7 OK\r\n", "7 OK done\r\n", 0 },
	{ "LF alone ends a line", 0, "7 NO no\n", "7 NO done\r\n", 0 },
	{ "empty lines are nothing", 0, "\r\n\r\n7 OK x\r\n", "7 OK done\r\n", 0 },
	{ "status data of no concern is swallowed", 0,
	    "* OK [ALERT]\r\n* FLAGS (\\Seen)\r\n* OK [PERMANENTFLAGS (] x\r\n"
	    "* OK [BADCHARSET (a)] x\r\n* NAMESPACE ((\r\n* ANNOTATION x\r\n",
	    "", 0 },
	{ "status text may end in what looks like a literal", 0,
	    "* OK look at {3}\r\n7 OK x\r\n", "7 OK done\r\n", 0 },
	{ "FETCH that nobody asked for is swallowed", 0,
	    "* 1 FETCH (UID 4 FLAGS (\\Seen))\r\n", "", 0 },
	{ "FETCH keeps what we ask for, in one form", IMAP_WANT_FETCH,
	    "* 1 FETCH (FLAGS (\\Seen) UID 4 BODY[HEADER.FIELDS (\"To\")]<0> "
	    "{5}\r\na: b\n RFC822.SIZE 3)\r\n",
	    "* 1 FETCH (UID 4 BODY[HEADER] {5}\r\na: b\n)\r\n", 0 },
	{ "a quoted section becomes a literal", IMAP_WANT_FETCH,
	    "* 1 FETCH (BODY[TEXT] \"a\\\"b\\\\\" UID 4)\r\n",
	    "* 1 FETCH (UID 4 BODY[TEXT] {4}\r\na\"b\\)\r\n", 0 },
	{ "an empty literal is an empty value", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 BODY[HEADER] {0}\r\n)\r\n",
	    "* 1 FETCH (UID 4 BODY[HEADER] {0}\r\n)\r\n", 0 },
	{ "NIL stays NIL", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 BODY[HEADER] NIL)\r\n",
	    "* 1 FETCH (UID 4 BODY[HEADER] NIL)\r\n", 0 },
	{ "structures are dropped, with literals in them", IMAP_WANT_FETCH,
	    "* 1 FETCH (ENVELOPE (\"x\" {3}\r\na)b ((NIL))) UID 4)\r\n",
	    "* 1 FETCH (UID 4)\r\n", 0 },
	{ "literal content is never protocol", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 BODY[HEADER] {20}\r\n7 OK x\r\n* BYE x\r\n)\r\n"
	    ")\r\n7 OK x\r\n",
	    "* 1 FETCH (UID 4 BODY[HEADER] {20}\r\n7 OK x\r\n* BYE x\r\n)\r\n"
	    ")\r\n7 OK done\r\n", 0 },
	{ "a FETCH without UID is of no use", IMAP_WANT_FETCH,
	    "* 1 FETCH (BODY[HEADER] {1}\r\nx)\r\n", "", 0 },
	{ "INTERNALDATE is written anew", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 INTERNALDATE \"8-Mar-2026 12:16:47 +0800\")\r\n",
	    "* 1 FETCH (UID 4 INTERNALDATE \"08-Mar-2026 04:16:47 +0000\")\r\n",
	    0 },
	{ "INTERNALDATE that is no date is dropped", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 INTERNALDATE \"00-Jan-0000 00:00:00 +0000\")\r\n"
	    "* 2 FETCH (UID 5 INTERNALDATE NIL)\r\n",
	    "* 1 FETCH (UID 4)\r\n* 2 FETCH (UID 5)\r\n", 0 },
	{ "numbers beyond 32 bits are no numbers", IMAP_WANT_FETCH,
	    "* 4294967296 EXISTS\r\n* 99999999999 FETCH (UID 1)\r\n", "", 0 },
	{ "LIST keeps junk and trash", IMAP_WANT_LIST,
	    "* LIST (\\HasNoChildren) \"/\" INBOX\r\n"
	    "* LIST (\\Junk) \"/\" \"[Gmail]/Spam\"\r\n"
	    "* LIST () \"/\" \"Courrier ind&AOk-sirable\"\r\n"
	    "* LIST () \".\" INBOX.Spam\r\n"
	    "* LIST () \".\" Archive.Spam\r\n"
	    "* LIST () \".\" NotSpam\r\n"
	    "* LIST (\\Trash) NIL {3}\r\nBin\r\n",
	    "* LIST (\\Junk \\Special) NIL {12}\r\n[Gmail]/Spam\r\n"
	    "* LIST (\\Junk \\Near) NIL {24}\r\nCourrier ind&AOk-sirable\r\n"
	    "* LIST (\\Junk \\Near) NIL {10}\r\nINBOX.Spam\r\n"
	    "* LIST (\\Junk) NIL {12}\r\nArchive.Spam\r\n"
	    "* LIST (\\Trash \\Special) NIL {3}\r\nBin\r\n", 0 },
	{ "LIST keeps no folder that holds no mail", IMAP_WANT_LIST,
	    "* LIST (\\Noselect) \"/\" Junk\r\n"
	    "* LIST (\\NONEXISTENT \\Junk) \"/\" Spam\r\n"
	    "* LIST (\\Noinferiors) \"/\" Bulk\r\n",
	    "* LIST (\\Junk \\Near) NIL {4}\r\nBulk\r\n", 0 },
	{ "LIST takes names with quotes and backslashes", IMAP_WANT_LIST,
	    "* LIST (\\Junk) \"/\" \"My \\\"odd\\\" spam\"\r\n"
	    "* LIST (\\Junk) \"/\" \"back\\\\slash\"\r\n"
	    "* LIST () \"\\\\\" \"INBOX\\\\Junk\"\r\n"
	    "* LIST () {1}\r\n\\ {8}\r\nA\\B\\Junk\r\n",
	    "* LIST (\\Junk \\Special) NIL {13}\r\nMy \"odd\" spam\r\n"
	    "* LIST (\\Junk \\Special) NIL {10}\r\nback\\slash\r\n"
	    "* LIST (\\Junk \\Near) NIL {10}\r\nINBOX\\Junk\r\n"
	    "* LIST (\\Junk) NIL {8}\r\nA\\B\\Junk\r\n", 0 },
	{ "LIST drops names that would break a command", IMAP_WANT_LIST,
	    "* LIST (\\Junk) \"/\" {7}\r\na\r\nJunk\r\n"
	    "* LIST (\\Junk) \"/\" \"\"\r\n", "", 0 },
	{ "STATUS keeps what counts", IMAP_WANT_STATUS,
	    "* STATUS Junk (MESSAGES 3 UIDNEXT 9 UIDVALIDITY 2)\r\n",
	    "* STATUS x (UIDNEXT 9 UIDVALIDITY 2)\r\n", 0 },
	{ "STATUS that says too little is nothing", IMAP_WANT_STATUS,
	    "* STATUS x ()\r\n* STATUS x\r\n* STATUS x (UIDNEXT 3)\r\n", "", 0 },
	{ "what came before BYE still counts", 0,
	    "7 OK x\r\n* BYE so long\r\n8 OK x\r\n", "7 OK done\r\n",
	    IMAP_FILTER_BYE },
	{ "a line that is no IMAP ends the session", 0,
	    "Server Unavailable. 15\r\n", "", IMAP_FILTER_BROKEN },
	{ "a tag without a condition as well", 0, "7 + idling\r\n", "",
	    IMAP_FILTER_BROKEN },
	{ "two answers to one command as well", 0, "7 OK x\r\n8 OK x\r\n",
	    "7 OK done\r\n", IMAP_FILTER_BROKEN },
	{ "and a literal out of bounds", IMAP_WANT_FETCH,
	    "* 1 FETCH (BODY[] {4294967295}\r\nabc", "", IMAP_FILTER_BROKEN },
	{ "and one whose length is no number", IMAP_WANT_FETCH,
	    "* 1 FETCH (BODY[] {-1}\r\n", "", IMAP_FILTER_BROKEN },
	{ "and text behind a literal that is no item", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 BODY[HEADER] {2}\r\nabcdef)\r\n", "",
	    IMAP_FILTER_BROKEN },
	{ "and an unbalanced FETCH", IMAP_WANT_FETCH,
	    "* 1 FETCH (UID 4 X ((a)\r\n", "", IMAP_FILTER_BROKEN },
	{ "a continuation reaches who awaits it", IMAP_WANT_PLUS,
	    "+ entering idle mode {3}\r\n", "+ go\r\n", 0 },
	{ "and nobody else", 0, "+ idling\r\n", "", 0 },
};

static void
each_response_becomes_what_the_library_can_take(void **state)
{
	size_t	i;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++) {
		print_message("%s\n", rows[i].what);
		check(rows[i].want, rows[i].input, rows[i].expected,
		    rows[i].end);
	}
}

static void
a_nul_is_never_in_a_line(void **state)
{
	struct imap_filter	f;

	(void)state;
	greeted(&f, 0);
	assert_int_equal(imap_filter_feed(&f, "* OK \0a\r\n", 9), -1);
	assert_int_equal(f.end, IMAP_FILTER_BROKEN);
	imap_filter_free(&f);
}

static void
a_nul_in_a_literal_does_not_reach_the_library(void **state)
{
	static const char	input[] =
	    "* 1 FETCH (UID 4 BODY[TEXT] {3}\r\na\0b)\r\n";
	struct imap_filter	f;

	(void)state;
	greeted(&f, IMAP_WANT_FETCH);
	assert_string_equal(through(&f, input, sizeof input - 1, 5),
	    "* 1 FETCH (UID 4 BODY[TEXT] {3}\r\na?b)\r\n");
	imap_filter_free(&f);
}

static void
what_grows_without_end_is_ended(void **state)
{
	static char		much[65536];
	struct imap_filter	f;
	int			i;

	(void)state;
	memset(much, 'A', sizeof much);
	greeted(&f, 0);
	assert_int_equal(imap_filter_feed(&f, much, sizeof much), -1);
	imap_filter_free(&f);
	greeted(&f, IMAP_WANT_FETCH);
	for (i = 0; i < 100 && f.end == IMAP_FILTER_OPEN; i++) {
		(void)imap_filter_feed(&f, i == 0 ? "* 1 FETCH (A {60000}\r\n" :
		    " A {60000}\r\n", i == 0 ? 22 : 12);
		(void)imap_filter_feed(&f, much, 60000);
	}
	assert_in_range(i, 2, 4);
	imap_filter_free(&f);
	greeted(&f, 0);
	for (i = 0; i < 100 && f.end == IMAP_FILTER_OPEN; i++)
		(void)imap_filter_feed(&f, "+\r\n", 3);
	assert_int_equal(i, IMAP_PLUS_MAX + 1);
	imap_filter_free(&f);
}

static void
lists_nest_only_so_deep(void **state)
{
	char			line[256] = "* 1 FETCH (UID 4 X ";
	struct imap_filter	f;
	int			i;

	(void)state;
	for (i = 0; i < 25; i++)
		strcat(line, "(");
	for (i = 0; i < 25; i++)
		strcat(line, ")");
	strcat(line, ")\r\n");
	greeted(&f, IMAP_WANT_FETCH);
	assert_int_equal(imap_filter_feed(&f, line, strlen(line)), -1);
	imap_filter_free(&f);
}

static void
the_driver_learns_what_the_library_loses(void **state)
{
	static const char	input[] =
	    "* 3 EXISTS\r\n* 1 RECENT\r\n* OK [UIDVALIDITY 77] v\r\n"
	    "* OK [UIDNEXT 9] n\r\n* 1 EXPUNGE\r\n"
	    "* CAPABILITY IMAP4rev1  idle LITERAL+ +X X-MSG=[\"a\"] "
	    "UIDPLUS AUTH=PLAIN\r\n"
	    "7 NO [AuthenticationFailed] wrong\tpassword\r\n";
	struct imap_filter	f;

	(void)state;
	greeted(&f, 0);
	(void)through(&f, input, sizeof input - 1, 3);
	assert_int_equal(f.exists, 2);
	assert_int_equal(f.grown, 1);
	assert_int_equal(f.stirred, 1);
	assert_int_equal(f.uidvalidity, 77);
	assert_int_equal(f.uidnext, 9);
	assert_int_equal(f.capability, IMAP_CAP_KNOWN | IMAP_CAP_IDLE |
	    IMAP_CAP_UIDPLUS | IMAP_CAP_PLAIN);
	assert_int_equal(f.tagged, IMAP_NO);
	assert_string_equal(f.code, "AUTHENTICATIONFAILED");
	assert_string_equal(f.text, "wrong password");
	imap_filter_free(&f);
}

static void
a_mail_that_comes_after_one_went_is_seen_as_new(void **state)
{
	static const char	input[] =
	    "* 5 EXISTS\r\n* 2 EXPUNGE\r\n* 2 EXPUNGE\r\n* 4 EXISTS\r\n";
	struct imap_filter	f;

	(void)state;
	greeted(&f, 0);
	(void)through(&f, input, sizeof input - 1, 64);
	assert_int_equal(f.grown, 2);
	assert_int_equal(f.exists, 4);
	imap_filter_free(&f);
}

static void
while_idle_everything_is_news_and_nothing_reaches_the_library(void **state)
{
	static const char	before[] = "* FLAGS (\\Seen)\r\n"
	    "* OK [PERMANENTFLAGS ()] x\r\n* 7 EXISTS\r\n+ idling\r\n";
	static const char	news[] = "* 8 EXISTS\r\n"
	    "* 1 FETCH (FLAGS (\\Seen {3}\r\nabc))\r\n* OK Still here\r\n";
	struct imap_filter	f;

	(void)state;
	greeted(&f, IMAP_WANT_IDLE | IMAP_WANT_PLUS);
	assert_string_equal(through(&f, before, sizeof before - 1, 9),
	    "+ go\r\n");
	assert_true(f.idling);
	assert_string_equal(through(&f, news, sizeof news - 1, 9), "");
	assert_int_equal(f.grown, 2);
	/* The server ends it by itself. */
	assert_string_equal(through(&f, "7 OK over\r\n", 11, 9), "");
	assert_false(f.idling);
	assert_true(imap_filter_empty(&f));
	imap_filter_free(&f);
}

static void
the_answer_to_done_does_reach_it(void **state)
{
	struct imap_filter	f;

	(void)state;
	greeted(&f, IMAP_WANT_IDLE | IMAP_WANT_PLUS);
	(void)through(&f, "+ idling\r\n", 10, 64);
	imap_filter_command(&f, 0);
	assert_string_equal(through(&f, "* 1 RECENT\r\n7 OK done\r\n", 23, 4),
	    "7 OK done\r\n");
	assert_int_equal(f.tagged, IMAP_OK);
	imap_filter_free(&f);
}

static void
text_behind_the_answer_to_starttls_is_noticed(void **state)
{
	struct imap_filter	f;

	(void)state;
	greeted(&f, 0);
	(void)imap_filter_feed(&f, "7 OK go\r\n", 9);
	assert_int_equal(f.after_tagged, 0);
	imap_filter_free(&f);
	greeted(&f, 0);
	(void)imap_filter_feed(&f, "7 OK go\r\n* 6 EXISTS\r\n", 21);
	assert_int_equal(f.after_tagged, 12);
	imap_filter_free(&f);
	greeted(&f, 0);
	(void)imap_filter_feed(&f, "* CAPABILITY IDLE\r\n", 19);
	imap_filter_secured(&f);
	assert_int_equal(f.capability, 0);
	imap_filter_free(&f);
}

static void
greetings(void **state)
{
	static const struct {
		const char		*line;
		enum imap_greeting	 greeting;
		enum imap_filter_end	 end;
	}	all[] = {
		{ "* OK Server Ready(163com[8db726ec93e9])\r\n",
		    IMAP_GREETING_OK, 0 },
		{ "* OK [ALERT] System shutdown in 10 minutes\r\n",
		    IMAP_GREETING_OK, 0 },
		{ "* OK [BADCHARSET (\"utf-8\")] hi\r\n", IMAP_GREETING_OK, 0 },
		{ "* PREAUTH hi\r\n", IMAP_GREETING_PREAUTH, 0 },
		{ "* BYE overloaded\r\n", 0, IMAP_FILTER_BYE },
		{ "* 3 EXISTS\r\n", 0, IMAP_FILTER_BROKEN },
		{ "220 mail ESMTP\r\n", 0, IMAP_FILTER_BROKEN },
		{ "HTTP/1.1 400 Bad Request\r\n", 0, IMAP_FILTER_BROKEN },
	};
	struct imap_filter	f;
	size_t			i;

	(void)state;
	for (i = 0; i < NITEMS(all); i++) {
		imap_filter_init(&f);
		(void)through(&f, all[i].line, strlen(all[i].line), 5);
		assert_int_equal(f.greeting, all[i].greeting);
		assert_int_equal(f.end, all[i].end);
		if (i == 1)
			assert_string_equal(f.alert,
			    "System shutdown in 10 minutes");
		imap_filter_free(&f);
	}
}

static void
an_idle_filter_holds_no_memory(void **state)
{
	struct imap_filter	f;

	(void)state;
	greeted(&f, 0);
	(void)through(&f, "7 OK x\r\n", 8, 64);
	imap_filter_rest(&f);
	assert_null(f.in.data);
	assert_null(f.out.data);
	(void)imap_filter_feed(&f, "* 1", 3);
	imap_filter_rest(&f);
	assert_non_null(f.in.data);
	imap_filter_free(&f);
}

static void
folder_names_travel_in_seven_bits(void **state)
{
	static const struct {
		const char	*plain, *encoded;
	}	names[] = {
		{ "INBOX", "INBOX" }, { "", "" }, { "A&-B", "A&-B" },
		{ "R&D", "R&-D" }, { "&", "&-" }, { "a&b&-&", "a&-b&-&-" },
		{ "Q&A-Team", "Q&-A-Team" },	/* no whole character */
		{ "x&AGE-", "x&-AGE-" },	/* ASCII needs no coding */
		{ "x&2D0-", "x&-2D0-" },	/* half a pair */
		{ "x&3Kw-", "x&-3Kw-" },
		{ "x&APx-", "x&-APx-" },	/* bits beyond the character */
		{ "Entw&APw-rfe", "Entw&APw-rfe" },
		{ "&2D3c7A-&AOk-", "&2D3c7A-&AOk-" },
		{ "Entw\xc3\xbcrfe", "Entw&APw-rfe" },
		{ "R&D \xc3\xbc", "R&-D &APw-" },
		{ "~peter/mail/\xe5\x8f\xb0\xe5\x8c\x97/"
		    "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
		    "~peter/mail/&U,BTFw-/&ZeVnLIqe-" },
		{ "\xf0\x9f\x93\xac", "&2D3c7A-" },
		{ "cut \xe2\x82", "cut &AII-" },
	};
	char	*encoded;
	size_t	 i;

	(void)state;
	for (i = 0; i < NITEMS(names); i++) {
		encoded = imap_name_encode(names[i].plain);
		assert_string_equal(encoded, names[i].encoded);
		mem_free(encoded);
	}
}

/* There and back again. */
static void
folder_names_are_read_as_people_write_them(void **state)
{
	static const char	*const names[] = { "", "INBOX", "R&D", "a&&b",
		"Entw\xc3\xbcrfe", "&\xc3\xbc-", "\xe6\x97\xa5\xe6\x9c\xac/x",
		("a\xf0\x9f\x93\xac\xf0\x9f\x93\xac" "b"),
		"\xd0\xa1\xd0\xbf\xd0\xb0\xd0\xbc", "\xed\x9f\xbf" };
	static const struct {
		const char	*listed, *plain;
	}	odd[] = {
		{ "R&D", "R&D" }, { "a&APw", "a&APw" }, { "&2D0-x", "&2D0-x" },
		{ "&AGE-", "&AGE-" }, { "&", "&" }, { "&AAA-", "&AAA-" },
		{ "&APz-", "&APz-" }, { "&AP(-&AOk-", "&AP(-\xc3\xa9" },
		{ "raw \xc3\xa9", "raw \xc3\xa9" },
	};
	char	*encoded, *plain;

	(void)state;
	for (size_t i = 0; i < NITEMS(names); i++) {
		encoded = imap_name_encode(names[i]);
		plain = imap_name_decode(encoded, strlen(encoded));
		assert_string_equal(plain, names[i]);
		mem_free(encoded);
		mem_free(plain);
	}
	for (size_t i = 0; i < NITEMS(odd); i++) {
		plain = imap_name_decode(odd[i].listed, strlen(odd[i].listed));
		assert_string_equal(plain, odd[i].plain);
		mem_free(plain);
	}
}

static void
folders_are_told_by_the_names_of_many_languages(void **state)
{
	static const struct {
		const char	*listed, *role;
	}	names[] = {
		{ "Junk", "\\Junk" },
		{ "Spam", "\\Junk" },
		{ "INBOX.spam", "\\Junk" },
		{ "&V4NXPpCuTvY-", "\\Junk" },
		{ "&j,dg0TDhMPww6w-", "\\Junk" },
		{ "&BB0ENQQ2BDUEOwQwBEIENQQ7BEwEPQQwBE8- &BD8EPgRHBEIEMA-", "\\Junk" },
		{ "&BCEEPwQwBDw-", "\\Junk" },
		{ "Lixo eletr&APM-nico", "\\Junk" },
		{ "Wiadomo&AVs-ci-&AVs-mieci", "\\Junk" },
		{ "U&APg-nsket mail", "\\Junk" },
		{ "S&APg-ppelpost", "\\Junk" },
		{ "Nevy&AX4A4Q-dan&AOE- po&AWE-ta", "\\Junk" },
		{ "Lev&AOk-lszem&AOk-t", "\\Junk" },
		{ "&ANY-nemsiz E-posta", "\\Junk" },
		{ "&wqTTOA-", "\\Junk" },
		{ "&yBXQbA- &ulTHfA-", "\\Junk" },
		{ "Unerw&APw-nschte Werbung", "\\Junk" },
		{ "Correo basura", "\\Junk" },
		{ "Ongewenst", "\\Junk" },
		{ "Quarantaine", "\\Junk" },
		{ "Courrier ind&AOk-sirable", "\\Junk" },
		{ "Skr&AOQ-ppost", "\\Junk" },
		{ "Papierkorb", "\\Trash" },
		{ "INBOX.Gel&APY-schte Elemente", "\\Trash" },
		{ "&AMk-l&AOk-ments supprim&AOk-s", "\\Trash" },
		{ "&BBoEPgRABDcEOAQ9BDA-", "\\Trash" },
		{ "&XfJSIJZkkK5O9g-", "\\Trash" },
		{ "&MFQwf3ux-", "\\Trash" },
		{ "Deleted", "\\Trash" },
		{ "NotSpam", NULL },
		{ "Spam 2025", NULL },
		{ "Entw&APw-rfe", NULL },
		{ "&BCEEPwQwBDwENQRA-", NULL },
		{ "raw \xd0\xa1\xd0\xbf\xd0\xb0\xd0\xbc", NULL },
		{ "\xd0\xa1\xd0\xbf\xd0\xb0\xd0\xbc", "\\Junk" },
	};
	const char	*role;

	(void)state;
	for (size_t i = 0; i < NITEMS(names); i++) {
		print_message("%s\n", names[i].listed);
		role = folder_role(names[i].listed, strlen(names[i].listed),
		    '.');
		assert_string_equal(role != NULL ? role : "none",
		    names[i].role != NULL ? names[i].role : "none");
	}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(each_response_becomes_what_the_library_can_take),
		cmocka_unit_test(a_nul_is_never_in_a_line),
		cmocka_unit_test(a_nul_in_a_literal_does_not_reach_the_library),
		cmocka_unit_test(what_grows_without_end_is_ended),
		cmocka_unit_test(lists_nest_only_so_deep),
		cmocka_unit_test(the_driver_learns_what_the_library_loses),
		cmocka_unit_test(a_mail_that_comes_after_one_went_is_seen_as_new),
		cmocka_unit_test(
		    while_idle_everything_is_news_and_nothing_reaches_the_library),
		cmocka_unit_test(the_answer_to_done_does_reach_it),
		cmocka_unit_test(text_behind_the_answer_to_starttls_is_noticed),
		cmocka_unit_test(greetings),
		cmocka_unit_test(an_idle_filter_holds_no_memory),
		cmocka_unit_test(folder_names_travel_in_seven_bits),
		cmocka_unit_test(folder_names_are_read_as_people_write_them),
		cmocka_unit_test(folders_are_told_by_the_names_of_many_languages),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
