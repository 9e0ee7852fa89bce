#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mailboxes/bounce.h"
#include "mailboxes/bounce_foreign.h"
#include "mailboxes/charset.h"
#include "mailboxes/mime.h"
#include "monitor/mem.h"
#include "monitor/phrase.h"

#define TOKEN	"mf1abcdefghijklmnopqrstuvwxyz2345672"
#define OTHER	"mf1zyxwvutsrqponmlkjihgfedcba7654327"

static struct bounce	b;

static void
read_for(const char *mail, const char *ours)
{
	size_t	 len = strlen(mail);
	char	*copy = mem_alloc(len + 1);

	memcpy(copy, mail, len);
	bounce_read(copy, len, ours, &b);
	mem_free(copy);
}

/* "failed 4.3.1 system-full lost" */
static void
check(const char *mail, const char *wanted)
{
	char	got[128];

	read_for(mail, "");
	snprintf(got, sizeof got, "%s %s %s %s",
	    b.action[0] != '\0' ? b.action : "-",
	    b.status[0] != '\0' ? b.status : "-", class_name(b.class),
	    bounce_outcome_name(b.outcome));
	if (strcmp(got, wanted) != 0)
		fail_msg("%s, not %s, for:\n%s", got, wanted, mail);
}

#define DAEMON								\
	"Return-Path: <>\nFrom: Mail Delivery System "			\
	"<MAILER-DAEMON@relay.example.net>\n"				\
	"Subject: Undelivered Mail Returned to Sender\n"
#define PERSON(subject)							\
	"From: Ann <ann@example.com>\nSubject: " subject "\n"

#define OFFICE								\
	"Return-Path: <postmaster@example.net>\n"			\
	"From: Postmaster <postmaster@example.net>\n"

#define REPORT_IN(type, fields, returned)				\
	DAEMON "Content-Type: " type "\n\n"				\
	"--b1\nContent-Type: text/plain\n\nIt failed.\n\n"		\
	"--b1\nContent-Type: message/delivery-status\n\n" fields	\
	"\n--b1\nContent-Type: text/rfc822-headers\n\n" returned	\
	"\n--b1--\n"
#define REPORT(fields, returned)					\
	REPORT_IN("multipart/report; report-type=delivery-status; "	\
	    "boundary=b1", fields, returned)

#define MESSAGE		"Reporting-MTA: dns; relay.example.net\n\n"
#define BOX		"Final-Recipient: rfc822; box@example.net\n"
#define FULL		"Action: failed\nStatus: 4.3.1\n"			\
			"Diagnostic-Code: smtp; 452 4.3.1 Mail system full\n"
#define LOST_FULL	"failed 4.3.1 system-full lost"

/* The table of cases that lies in the tree. */

static char *
read_file(const char *dir, const char *name, const char *ext, size_t *len)
{
	const char	*srcdir = getenv("srcdir");
	char		*path, *bytes;
	FILE		*f;

	path = mem_printf("%s/%s/%s%s", srcdir != NULL ? srcdir : ".", dir,
	    name, ext);
	f = fopen(path, "r");
	if (f == NULL)
		fail_msg("%s: cannot be read", path);
	bytes = mem_alloc(BOUNCE_INPUT + 1);
	*len = fread(bytes, 1, BOUNCE_INPUT, f);
	fclose(f);
	mem_free(path);
	return (bytes);
}

/* One of the words in a list parted by ";", as the table has it for several
 * recipients, "(none)" or empty where there is none. */
static bool
listed(const char *list, const char *word)
{
	size_t	n;

	if (list[0] == '\0' || strcmp(list, "(none)") == 0)
		return (word[0] == '\0');
	for (;; list += n + 1) {
		n = strcspn(list, ";");
		if (strlen(word) == n && strncmp(list, word, n) == 0)
			return (true);
		if (list[n] == '\0')
			return (false);
	}
}

static void
check_case(char *row)
{
	char	*column[8], *mail, *outcome;
	size_t	 len, i;

	for (i = 0; i < NITEMS(column); i++)
		if ((column[i] = strsep(&row, "\t")) == NULL)
			fail_msg("a row is too short");
	mail = read_file("tests/kit/dsn", column[1], ".eml", &len);
	bounce_read(mail, len, "", &b);
	mem_free(mail);
	outcome = strstr(column[7], "-or-unmatched");
	if (outcome != NULL)
		*outcome = '\0';
	if (!listed(column[3], b.action) || !listed(column[4], b.status) ||
	    strcmp(column[6], class_name(b.class)) != 0 ||
	    strcmp(column[7], bounce_outcome_name(b.outcome)) != 0)
		fail_msg("%s: %s %s %s %s", column[0], b.action, b.status,
		    class_name(b.class), bounce_outcome_name(b.outcome));
	if (column[5][0] != '\0' && strchr(column[5], ';') == NULL)
		assert_int_equal(b.reply.code, atoi(column[5]));
}

static void
the_cases_end_as_their_table_says(void **state)
{
	size_t	 len;
	char	*table, *rest, *row;
	int	 rows = 0;

	(void)state;
	table = rest = read_file("tests/kit/dsn", "expected", ".tsv", &len);
	strsep(&rest, "\n");	/* the names of the columns */
	while ((row = strsep(&rest, "\n")) != NULL && row[0] != '\0') {
		check_case(row);
		rows++;
	}
	assert_int_equal(rows, 38);
	mem_free(table);
}

/* "name TAB action TAB status TAB class TAB outcome", as explain --tsv. */
static int
check_more(char *row)
{
	char	*name = strsep(&row, "\t"), *mail, got[128];
	size_t	 len;

	mail = read_file("tests/kit/dsn/more", name, ".eml", &len);
	bounce_read(mail, len, "", &b);
	mem_free(mail);
	snprintf(got, sizeof got, "%s\t%s\t%s\t%s",
	    b.action[0] != '\0' ? b.action : "(none)",
	    b.status[0] != '\0' ? b.status : "(none)", class_name(b.class),
	    bounce_outcome_name(b.outcome));
	if (strcmp(got, row) == 0)
		return (0);
	print_error("%s: %s, not %s\n", name, got, row);
	return (1);
}

static void
more_cases_end_as_their_table_says(void **state)
{
	size_t	 len;
	char	*table, *rest, *row;
	int	 rows = 0, wrong = 0;

	(void)state;
	table = rest = read_file("tests/kit/dsn/more", "expected", ".tsv",
	    &len);
	strsep(&rest, "\n");	/* the names of the columns */
	for (; (row = strsep(&rest, "\n")) != NULL && row[0] != '\0'; rows++)
		wrong += check_more(row);
	assert_int_equal(rows, 93);
	assert_int_equal(wrong, 0);
	mem_free(table);
}

/* Fields. */

static void
diagnostic_and_status_are_weighed_together(void **state)
{
	static const struct {
		const char	*status, *diagnostic;
		int		 code;
		const char	*enhanced, *class;
	}	rows[] = {
		/* A next hop that sends no enhanced code. */
		{ "4.0.0", "smtp; 452 Insufficient system storage", 452, "",
		    "system-full" },
		{ "4.0.0", "smtp; 452 4.3.1 full", 452, "4.3.1",
		    "system-full" },
		/* What it left out is filled in, if the class agrees. */
		{ "5.2.2", "smtp; 552 no", 552, "5.2.2", "mailbox-full" },
		{ "5.2.2", "X-Postfix; no", 0, "5.2.2", "mailbox-full" },
		{ "5.2.2", "smtp; 552 5.0.0 no", 552, "5.2.2",
		    "mailbox-full" },
		{ "5.2.2", "smtp; 452 Mail system full", 452, "",
		    "system-full" },
		/* The server's own word weighs more than the reporter's. */
		{ "4.3.1", "smtp; 550 5.1.1 no", 550, "5.1.1",
		    "no-such-user" },
		{ "5.1.1 (bad destination mailbox)", "", 0, "5.1.1",
		    "no-such-user" },
		/* Expired: the quoted reply is the cause. */
		{ "4.4.7", "smtp; 554 4.4.7 Expired after 840 minutes."
		    "<452 4.3.1 Mail system full>", 452, "4.3.1",
		    "system-full" },
		{ "4.4.7", "smtp; 550 4.4.7 QUEUE.Expired; message expired "
		    "{LED=431 4.3.1 Insufficient resources}", 431, "4.3.1",
		    "system-full" },
		/* Codes that refuse nothing: a greeting, an exit code. */
		{ "4.2.1", "smtp; 220 mx.example.net 421 4.3.1 full", 421,
		    "4.3.1", "system-full" },
		{ "5.0.0", "X-Unix; 255", 0, "", "other" },
		/* No type, but what looks like one to the hasty. */
		{ "4.0.0", "452 4.3.1 full; try later", 452, "4.3.1",
		    "system-full" },
		{ "4.3.0", "lmtp; 451 4.3.0 x: No space left on device", 451,
		    "4.3.0", "system-full" },
		/* The reporter speaks for itself. */
		{ "4.2.0", "X-Postfix; error writing message: No space left "
		    "on device", 0, "4.2.0", "system-full" },
		{ "4.7.4", "X-Postfix; TLS is required, but was not offered by "
		    "host mx.example.org[192.0.2.1]", 0, "4.7.4", "tls" },
		{ "4.4.1", "X-Postfix; connect to mx.example.org[192.0.2.1]:25"
		    ": Connection refused", 0, "4.4.1", "network" },
		{ "5.4.6", "X-Postfix; mail for example.org loops back to "
		    "myself", 0, "5.4.6", "dns" },
		{ "4.7.0", "X-Postfix; x", 0, "4.7.0", "policy" },
	};
	char	*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		mail = mem_printf(REPORT(MESSAGE BOX "Action: failed\n"
		    "Status: %s\nDiagnostic-Code: %s\n", ""), rows[i].status,
		    rows[i].diagnostic);
		read_for(mail, "");
		mem_free(mail);
		if (b.reply.code != rows[i].code ||
		    strcmp(b.reply.enhanced, rows[i].enhanced) != 0 ||
		    strcmp(class_name(b.class), rows[i].class) != 0)
			fail_msg("%s | %s: %d %s %s", rows[i].status,
			    rows[i].diagnostic, b.reply.code,
			    b.reply.enhanced, class_name(b.class));
		assert_int_equal(b.outcome, BOUNCE_LOST);
	}
}

static void
fields_are_read_however_they_are_written(void **state)
{
	(void)state;
	check(REPORT(MESSAGE BOX "ACTION:FAILED (given up)\nstatus:4.3.1\n"
	    "diagnostic-code:smtp;452\n 4.3.1\n\tMail system\n full\n", ""),
	    LOST_FULL);
	assert_string_equal(b.reply.text, "Mail system full");
	check(REPORT(MESSAGE BOX "Action: expired\nStatus: 4.4.1\n", ""),
	    "failed 4.4.1 dns lost");
	check(REPORT(MESSAGE BOX "Action: delayed\nStatus: 4.3.1 (full)\n",
	    ""), "delayed 4.3.1 system-full delayed");
	check(REPORT(MESSAGE BOX "Action: relayed\nStatus: 2.0.0\n", ""),
	    "relayed 2.0.0 other ignore");
	check(REPORT(MESSAGE BOX "Action: deliverable\nStatus: 2.1.5\n", ""),
	    "deliverable 2.1.5 other ignore");
	check(REPORT(MESSAGE BOX "Action: delivered\nStatus: 2.0.0\n", ""),
	    "delivered 2.0.0 other delivered");
	check(REPORT(MESSAGE BOX "Status: 550 no such user\n", ""),
	    "- 5.0.0 other lost");
	check(REPORT(MESSAGE BOX "Action: failed\nStatus: 4.3.10\n", ""),
	    "failed 4.3.10 other lost");
	check(REPORT(MESSAGE BOX "Action: failed\nStatus: 4.3.1000\n", ""),
	    "failed 4.0.0 other lost");
	check(REPORT(MESSAGE BOX "Action: failed\n", ""),
	    "failed - other lost");
	check(REPORT("Reporting-MTA : dns; relay.example.net\n\n"
	    "Final-Recipient\t: rfc822; box@example.net\nAction : failed\n"
	    "Status : 4.3.1\n", ""), LOST_FULL);
	assert_string_equal(bounce_system(&b), "relay.example.net");
	/* Exchange may tell the cause in a field of its own only. */
	check(REPORT(MESSAGE BOX "Action: failed\nStatus: 5.5.0\n"
	    "X-Supplementary-Info: < #5.5.0 smtp;552 5.2.2 full>\n", ""),
	    "failed 5.5.0 mailbox-full lost");
	assert_int_equal(b.reply.code, 552);
	assert_string_equal(b.reply.text, "full");
	check(REPORT(MESSAGE BOX "X-Supplementary-Info: 552 5.2.2 full\n"
	    FULL, ""), LOST_FULL);
}

static void
a_report_without_action_is_final_unless_it_warns(void **state)
{
	(void)state;
	check(REPORT(MESSAGE BOX "Status: 4.3.1\n", ""),
	    "- 4.3.1 system-full lost");
	check("From: MAILER-DAEMON@example.net\n"
	    "Subject: Warning: message delayed\n"
	    "Content-Type: message/delivery-status\n\n"
	    MESSAGE BOX "Status: 4.3.1\n", "- 4.3.1 system-full delayed");
	check(REPORT(MESSAGE BOX "Status: 2.0.0\n", ""),
	    "- 2.0.0 other ignore");
}

static void
the_system_is_the_remote_one_else_the_reporter(void **state)
{
	(void)state;
	check(REPORT(MESSAGE BOX FULL, ""), LOST_FULL);
	assert_string_equal(bounce_system(&b), "relay.example.net");
	check(REPORT(MESSAGE BOX FULL
	    "Remote-MTA: DNS; MX2.Example.COM. (192.0.2.1, port 25)\n", ""),
	    LOST_FULL);
	assert_string_equal(bounce_system(&b), "mx2.example.com");
	check(REPORT(MESSAGE BOX FULL "Remote-MTA: dns;[192.0.2.7]\n", ""),
	    LOST_FULL);
	assert_string_equal(bounce_system(&b), "192.0.2.7");
	check(REPORT(BOX FULL "Remote-MTA: mx.example.net\n", ""), LOST_FULL);
	assert_string_equal(bounce_system(&b), "mx.example.net");
	check(REPORT(BOX FULL "Remote-MTA: dns;\n", ""), LOST_FULL);
	assert_string_equal(bounce_system(&b), "");
}

/* Recipients. */

#define THREE								\
	MESSAGE								\
	"Final-Recipient: rfc822; one@example.net\n"			\
	"Action: failed\nStatus: 5.1.1\n\n\n"				\
	"Original-Recipient: rfc822; two+2Btag@example.net\n"		\
	"Final-Recipient: rfc822; store2@example.net\n"			\
	"Action: delayed\nStatus: 4.3.1\n\n"				\
	"Final-Recipient: utf-8; b\\x{F6}x@example.net\n"		\
	"Action: delivered\nStatus: 2.0.0\n"

static void
the_group_of_our_recipient_counts(void **state)
{
	(void)state;
	read_for(REPORT(THREE, ""), "TWO+tag@example.net");
	assert_int_equal(b.outcome, BOUNCE_DELAYED);
	assert_string_equal(b.final_recipient, "store2@example.net");
	assert_int_equal(b.recipients, 3);
	read_for(REPORT(THREE, ""), "b\xc3\xb6x@example.net");
	assert_int_equal(b.outcome, BOUNCE_DELIVERED);
	/* Not named: the first. */
	read_for(REPORT(THREE, ""), "four@example.net");
	assert_string_equal(b.final_recipient, "one@example.net");
	check(REPORT(THREE, "To: Ann <ONE@example.net>\n"),
	    "failed 5.1.1 no-such-user lost");
	check(REPORT(THREE, "To: store2@example.net\n"),
	    "delayed 4.3.1 system-full delayed");
	/* A message that is returned under another type. */
	check(DAEMON "Content-Type: multipart/mixed; boundary=o\n\n"
	    "--o\nContent-Type: message/delivery-status\n\n" THREE
	    "--o\nContent-Type: text/plain\n\nTo whom it concerns\n"
	    "--o\nContent-Type: application/octet-stream; name=x.eml\n\n"
	    "From: p@example.net\nTo: store2@example.net\n\nx\n--o--\n",
	    "delayed 4.3.1 system-full delayed");
	/* Several addresses in To say nothing. */
	check(REPORT(THREE, "To: store2@example.net, x@example.net\n"),
	    "failed 5.1.1 no-such-user lost");
}

static void
a_report_may_have_one_part_for_each_recipient(void **state)
{
	(void)state;
	read_for(REPORT(MESSAGE "Final-Recipient: rfc822; a@example.net\n"
	    "Action: failed\nStatus: 5.1.1\n\n--b1\n"
	    "Content-Type: message/delivery-status\n\n"
	    BOX "Action: delayed\nStatus: 4.3.1\n", ""), "box@example.net");
	assert_int_equal(b.recipients, 2);
	assert_int_equal(b.outcome, BOUNCE_DELAYED);
	assert_string_equal(bounce_system(&b), "relay.example.net");
}

static void
groups_are_told_apart_without_empty_lines(void **state)
{
	(void)state;
	read_for(REPORT("Reporting-MTA: dns; relay.example.net\n"
	    "Final-Recipient: rfc822; one@example.net\n"
	    "Action: failed\nStatus: 5.1.1\n"
	    "Final-Recipient: rfc822; box@example.net\n"
	    "Action: delayed\nStatus: 4.3.1\n", ""), "box@example.net");
	assert_int_equal(b.outcome, BOUNCE_DELAYED);
	assert_int_equal(b.recipients, 2);
	/* One group, although an empty line is in it; action first. */
	read_for(REPORT(MESSAGE "Action: failed\n" BOX "\nStatus: 4.3.1\n",
	    ""), "");
	assert_int_equal(b.recipients, 1);
	assert_string_equal(b.status, "4.3.1");
	read_for(REPORT(MESSAGE
	    "Action: failed\nFinal-Recipient: rfc822; a@example.net\n"
	    "Status: 5.1.1\n\n"
	    "Action: delayed\nFinal-Recipient: rfc822; box@example.net\n"
	    "Status: 4.3.1\n", ""), "box@example.net");
	assert_int_equal(b.recipients, 2);
	assert_string_equal(b.action, "delayed");
}

/* Parts. */

/* The same text with another end of line. */
static char *
with_ends(const char *mail, const char *end)
{
	char	*out = mem_alloc(strlen(mail) * 2 + 1), *at = out;

	for (; *mail != '\0'; mail++)
		at = *mail == '\n' ? stpcpy(at, end) :
		    (*at = *mail, at + 1);
	return (out);
}

static void
any_line_ends_will_do(void **state)
{
	static const char *const	ends[] = { "\n", "\r\n", "\r",
		"\r\r\n" };
	char				*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(ends); i++) {
		mail = with_ends(REPORT(MESSAGE BOX FULL, "Subject: " TOKEN
		    "\n"), ends[i]);
		check(mail, LOST_FULL);
		assert_int_equal(b.token_count, 1);
		mem_free(mail);
		/* Where words follow an empty line, it must be kept. */
		mail = with_ends(DAEMON "\n\nThe mail system of "
		    "relay.example.net is full:\n\n452 4.3.1 Insufficient "
		    "system storage\n", ends[i]);
		check(mail, "failed - system-full lost");
		mem_free(mail);
	}
}

static void
boundaries_are_found_however_they_are_named(void **state)
{
	static const char *const	types[] = {
		"multipart/report; boundary=\"b1\"",
		"MULTIPART/REPORT;\n\tBoundary = \"b1\" ;\n report-type=x",
		"multipart/report (made here); boundary=b1 (\"b0\")",
		"multipart/report; x=\"; boundary=b0\"; boundary=b1",
		"multipart/report; boundary=\"b\\1\"",
		"multipart/report",			/* not named */
		"multipart/report; boundary=\"\"",
		"multipart/report; boundary=other",	/* wrongly named */
		"multipart/mixed; boundary=b1",
	};
	char				*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(types); i++) {
		mail = mem_printf(REPORT_IN("%s", MESSAGE BOX FULL, ""),
		    types[i]);
		check(mail, LOST_FULL);
		mem_free(mail);
	}
	/* Another's boundary that begins like ours is not ours. */
	check(REPORT(MESSAGE BOX "--b12\n" FULL, ""), LOST_FULL);
}

static void
reports_inside_other_parts_are_found(void **state)
{
	(void)state;
	check(DAEMON "Content-Type: multipart/mixed; boundary=o\n\n"
	    "--o\nContent-Type: multipart/report; boundary=o1\n\n"
	    "--o1\nContent-Type: text/plain\n\nx\n"
	    "--o1\nContent-Type: message/delivery-status\n\n"
	    MESSAGE BOX FULL
	    "\n--o\nContent-Type: text/plain\n\nA footer.\n--o--\n",
	    LOST_FULL);
	/* No empty line behind a part's header. */
	check(DAEMON "Content-Type: multipart/report; boundary=o\n"
	    "--o\nContent-Type: message/delivery-status\n"
	    "Reporting-MTA: dns; relay.example.net\n" BOX FULL "--o--\n",
	    LOST_FULL);
	/* Not in a multipart; without any header. */
	check(DAEMON "Content-Type: message/delivery-status\n\n"
	    MESSAGE BOX FULL, LOST_FULL);
	check("--o\nContent-Type: message/global-delivery-status\n\n"
	    MESSAGE BOX FULL "--o--\n", LOST_FULL);
	check(DAEMON "Content-Type: text/plain\n\nSorry.\n\n"
	    MESSAGE BOX FULL, LOST_FULL);
}

/* A gateway passes a report on in words of its own. */
static void
a_report_in_the_mail_that_is_returned_says_more(void **state)
{
#define PACKED(from, inside)						\
	from "Content-Type: multipart/mixed; boundary=o\n\n"		\
	"--o\nContent-Type: text/plain\n\nThe following addresses had "	\
	"permanent delivery errors.\n\n"				\
	"--o\nContent-Type: message/rfc822\n\n" inside "\n--o--\n"

	(void)state;
	check(PACKED(DAEMON, REPORT(MESSAGE BOX FULL, "Subject: " TOKEN
	    "\n")), LOST_FULL);
	assert_string_equal(b.reporting_mta, "relay.example.net");
	assert_int_equal(b.token_count, 1);
	check(PACKED(DAEMON, PERSON("Hello") "To: box@example.net\n\nHi.\n"),
	    "failed - other lost");
	/* The outer report is the one about us; the mail is about a mail. */
	check(REPORT(MESSAGE BOX "Action: delayed\nStatus: 4.4.1\n",
	    REPORT(MESSAGE BOX FULL, "")), "delayed 4.4.1 dns delayed");
	/* Nothing in it makes a bounce of what a person passes on. */
	check(PACKED(PERSON("Fwd: Returned mail"), REPORT(MESSAGE BOX FULL,
	    "")), "- - other ignore");
}

static void
fields_in_a_part_of_another_type_are_found(void **state)
{
	static const char *const	types[] = {
		"text/plain",
		("text/plain; name=\"details.txt\"\n"
		    "Content-Disposition: attachment; filename=details.txt"),
		"application/octet-stream; name=details.txt",
		"application/octet-stream\nContent-Transfer-Encoding: 8bit",
	};
	char				*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(types); i++) {
		mail = mem_printf(DAEMON "Content-Type: multipart/mixed; "
		    "boundary=o\n\n--o\nContent-Type: text/plain\n\n"
		    "It failed.\n\n--o\nContent-Type: %s\n\n\n"
		    MESSAGE BOX FULL "\n--o\nContent-Type: message/rfc822\n\n"
		    "To: box@example.net\n\n--o--\n", types[i]);
		check(mail, LOST_FULL);
		assert_int_equal(b.kind, BOUNCE_DSN);
		mem_free(mail);
	}
	/* What is quoted there, and what was returned, tell nothing. */
	check(DAEMON "Content-Type: multipart/mixed; boundary=o\n\n"
	    "--o\nContent-Type: text/plain\n\nIt failed.\n\n"
	    "--o\nContent-Type: text/plain\n\nHe wrote:\n" BOX FULL
	    "--o\nContent-Type: message/rfc822\n\nSubject: x\n\n"
	    "--o\nContent-Type: text/plain\n\n" BOX FULL "--o--\n",
	    "failed - other lost");
}

static void
encoded_parts_are_decoded(void **state)
{
	(void)state;
	check(DAEMON "Content-Type: multipart/report; boundary=o\n\n"
	    "--o\nContent-Type: message/delivery-status\n"
	    "Content-Transfer-Encoding: QUOTED-PRINTABLE (why)\n\n"
	    "Reporting-MTA: dns; relay=2Eexample.net\n\n"
	    "Final-Recipient: rfc822;=\n box@example.net\n"
	    "Action: fai=\nled\nStatus: 4.=\n3.1\n--o--\n", LOST_FULL);
	/* "Final-Recipient: rfc822; a@b\nAction: failed\nStatus: 4.3.1\n" */
	check(DAEMON "Content-Type: multipart/report; boundary=o\n\n"
	    "--o\nContent-Type: message/delivery-status\n"
	    "Content-Transfer-Encoding: base64\n\n"
	    "RmluYWwtUmVjaXBpZW50OiByZmM4MjI7IGFAYgpBY3Rpb246IGZhaWxlZApT\n"
	    "dGF0dXM6IDQuMy4xCg==\n--o--\n", LOST_FULL);
	/* "Subject: mf1..." in the returned header. */
	check(DAEMON "Content-Type: multipart/report; boundary=o\n\n"
	    "--o\nContent-Type: message/rfc822\n"
	    "Content-Transfer-Encoding: base64\n\n"
	    "U3ViamVjdDogbWYxYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoyMzQ1Njcy\n"
	    "Cg==\n"
	    "--o\nContent-Type: message/delivery-status\n\n"
	    MESSAGE BOX FULL "--o--\n", LOST_FULL);
	assert_string_equal(b.tokens[0], TOKEN);
}

static void
a_report_cut_off_anywhere_never_changes_its_mind(void **state)
{
	static const char	mail[] = REPORT(MESSAGE BOX FULL,
				    "Subject: " TOKEN "\n");
	const char		*status = strstr(mail, "Status: 4.3.1\n");
	char			*copy;

	(void)state;
	for (size_t len = 0; len < sizeof mail; len++) {
		copy = mem_alloc(len + 1);
		memcpy(copy, mail, len);
		bounce_read(copy, len, "", &b);
		mem_free(copy);
		assert_true(b.outcome == BOUNCE_LOST ||
		    b.outcome == BOUNCE_IGNORE);
		if (len >= (size_t)(status - mail) + 14) {
			assert_int_equal(b.outcome, BOUNCE_LOST);
			assert_int_equal(b.class, CLASS_SYSTEM_FULL);
		}
	}
}

/* Tokens. */

static void
tokens_are_found_best_place_first(void **state)
{
	(void)state;
	read_for(REPORT("Original-Envelope-Id: " TOKEN "\n" MESSAGE BOX FULL,
	    "Subject: =?utf-8?Q?x_mf1zyxwvutsrqponmlkjihgfedcba7654327?=\n"),
	    "");
	assert_string_equal(b.envid, TOKEN);
	assert_int_equal(b.token_count, 2);
	assert_string_equal(b.tokens[0], TOKEN);
	assert_string_equal(b.tokens[1], OTHER);
	/* Only in the words, or in the bounce's own subject. */
	check(DAEMON "\nYour message " TOKEN " failed: 452 4.3.1 full\n",
	    "failed - system-full lost");
	assert_int_equal(b.token_count, 1);
	check("From: postmaster@example.net\n"
	    "Subject: Undeliverable: =?utf-8?B?"
	    "bWYxYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoyMzQ1Njcy?=\n\n"
	    "mx.example.net #4.3.1\n", "failed - system-full lost");
	assert_string_equal(b.tokens[0], TOKEN);
	read_for(REPORT(MESSAGE BOX FULL, "Subject: hello\n"), "");
	assert_int_equal(b.token_count, 0);
}

static void
a_mail_full_of_tokens_fills_its_room_and_no_more(void **state)
{
	char	*mail = mem_alloc(64 * 1024), *at;

	(void)state;
	at = stpcpy(mail, DAEMON "\n");
	for (int i = 0; i < 500; i++)
		at += sprintf(at, "mf1%c%cbcdefghijklmnopqrstuvwxyz23456a\n",
		    'a' + i % 26, 'a' + i / 26);
	read_for(mail, "");
	assert_int_equal(b.token_count, BOUNCE_TOKENS);
	mem_free(mail);
}

/* Words. */

static void
bounces_in_words_are_understood(void **state)
{
	static const struct {
		const char	*from, *subject, *text, *wanted, *system;
	}	rows[] = {
		{ "MAILER-DAEMON@q.example.net", "failure notice",
		    "Hi. This is the qmail-send program at q.example.net.\n"
		    "I'm afraid I wasn't able to deliver your message.\n\n"
		    "<a@example.org>:\n192.0.2.9 does not like recipient.\n"
		    "Remote host said: 452 4.3.1 Mail system full\n"
		    "I'm not going to try again; too long in the queue.\n\n"
		    "--- Below this line is a copy of the message.\n\n"
		    "Return-Path: <p@example.net>\n"
		    "Subject: 550 5.1.1 User unknown\n",
		    "failed - system-full lost", "q.example.net" },
		{ "MAILER-DAEMON@q.example.net", "failure notice",
		    "Hi. This is the qmail-send program.\n\n<a@example.org>:\n"
		    "Sorry, no mailbox here by that name. (#5.1.1)\n",
		    "failed - no-such-user lost", "q.example.net" },
		{ "Mail Delivery System <Mailer-Daemon@e.example.net>",
		    "Mail delivery failed: returning message to sender",
		    "A message could not be delivered.\n\n  a@example.org\n"
		    "    host mx.example.org [192.0.2.1]\n"
		    "    SMTP error from remote mail server after end of "
		    "data:\n    451-4.3.1 Mail system full,\n"
		    "    451 4.3.1 try again later: retry timeout exceeded\n",
		    "failed - system-full lost", "mx.example.org" },
		{ "Mail Delivery System <Mailer-Daemon@e.example.net>",
		    "Warning: message 1a-2b-3c delayed 24 hours",
		    "The message has not yet been delivered to:\n\n"
		    "  a@example.org\n    host mx.example.org [192.0.2.1]:\n"
		    "    452 Space shortage, please try later\n\n"
		    "No action is required on your part.\n",
		    "delayed - system-full delayed", "mx.example.org" },
		{ "Mail Delivery Subsystem <MAILER-DAEMON@s.example.net>",
		    "Returned mail: see transcript for details",
		    "   ----- The following addresses had permanent fatal "
		    "errors -----\n<a@example.org>\n\n"
		    "   ----- Transcript of session follows -----\n"
		    "... while talking to mx.example.org.:\n"
		    ">>> MAIL From:<p@example.net> SIZE=550\n"
		    "<<< 552 5.3.1 Mail system full\n"
		    "554 5.0.0 Service unavailable\n",
		    "failed - system-full lost", "mx.example.org" },
		{ "Mail Delivery Subsystem <MAILER-DAEMON@s.example.net>",
		    "Warning: could not send message for past 4 hours",
		    "    **      THIS IS A WARNING MESSAGE ONLY      **\n\n"
		    "<a@example.org>... Deferred: 452 4.3.1 full\n",
		    "delayed - system-full delayed", "s.example.net" },
		{ "System Administrator <postmaster@x.example.net>",
		    "Undeliverable: hello",
		    "Your message\n\n  To:      a@example.org\n\n"
		    "did not reach the following recipient(s):\n\n"
		    "a@example.org on Mon, 1 Jan 2024 16:00:00 +0000\n"
		    "    The e-mail system was unable to deliver it.\n"
		    "    <mx.example.org #5.2.2 smtp;552 full>\n",
		    "failed - mailbox-full lost", "mx.example.org" },
		{ "Microsoft Exchange <x@example.net>",
		    "Undeliverable: hello",
		    "Diagnostic information for administrators:\n\n"
		    "Generating server: mx7.example.org\n\na@example.org\n"
		    "#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##\n\n"
		    "Original message headers:\n\nReceived: from x\n",
		    "failed - no-such-user lost", "mx7.example.org" },
		{ "MAILER-DAEMON@p.example.net (Mail Delivery System)",
		    "Undelivered Mail Returned to Sender",
		    "This is the mail system at host p.example.net.\n\n"
		    "<a@example.org>: host mx.example.org[192.0.2.1] said: "
		    "452 4.3.1\n    Insufficient system storage (in reply to "
		    "MAIL FROM command)\n",
		    "failed - system-full lost", "mx.example.org" },
		{ "Mail Delivery Subsystem <mailer-daemon@g.example.net>",
		    "Delivery Status Notification (Failure)",
		    "Delivery to the following recipient failed permanently:"
		    "\n\n     a@example.org\n\nTechnical details of permanent "
		    "failure:\nThe error that the other server returned was:\n"
		    "552 5.2.2 The mailbox is over its quota\n",
		    "failed - mailbox-full lost", "g.example.net" },
		{ "postmaster@example.net", "Delivery Failure",
		    "The mail could not be delivered.\n",
		    "failed - other lost", "example.net" },
	};
	char	*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		mail = mem_printf("Return-Path: <>\nFrom: %s\nSubject: %s\n\n"
		    "%s", rows[i].from, rows[i].subject, rows[i].text);
		check(mail, rows[i].wanted);
		assert_int_equal(b.kind, BOUNCE_TEXT);
		assert_string_equal(bounce_system(&b), rows[i].system);
		mem_free(mail);
	}
}

static void
what_is_still_being_tried_is_not_lost(void **state)
{
	static const struct {
		const char	*subject, *text, *wanted;
	}	rows[] = {
		{ "Warning: Transient Delivery Failure",
		    "The attached message had TRANSIENT delivery errors!\n\n"
		    "<-- 452 4.3.1 full\n\nDelivery will be attempted again.",
		    "delayed - system-full delayed" },
		{ "Warning: Transient Delivery Failure",
		    "THIS IS A WARNING MESSAGE ONLY - YOU DO NOT NEED TO RESEND "
		    "YOUR MESSAGE.\n\n<a@example.org>: 452 4.3.1 full",
		    "delayed - system-full delayed" },
		{ "failure notice (delay)",
		    "Hi. This is the qmail-send program. The message to "
		    "<a@example.org> could not be delivered yet; I will keep "
		    "trying. 452 4.3.1 full", "delayed - system-full delayed" },
		{ "Undelivered mail, still trying",
		    "Your mail could not be delivered for 4 hours. It is still "
		    "in the queue and will be retried.\n\n452 4.3.1 full",
		    "delayed - system-full delayed" },
		/* Given up, although it was tried. */
		{ "Warning: Permanent Delivery Failure",
		    "The attached message had PERMANENT fatal delivery errors!"
		    "\n\n<-- 550 5.1.1 no such user",
		    "failed - no-such-user lost" },
		{ "failure notice",
		    "This is the qmail-send program. It could not be delivered "
		    "yet, and I am giving up.\n\n452 4.3.1 full",
		    "failed - system-full lost" },
	};
	char	*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		mail = mem_printf("Return-Path: <>\nFrom: MDaemon@example.net\n"
		    "Subject: %s\n\n%s\n", rows[i].subject, rows[i].text);
		check(mail, rows[i].wanted);
		mem_free(mail);
	}
}

static void
other_languages_are_understood(void **state)
{
	static const struct {
		const char	*subject, *text, *wanted;
	}	rows[] = {
		{ "Non recapitabile: x", "La cassetta postale del destinatario "
		    "\u00e8 piena.\n<mx.example.org #5.2.2>",
		    "failed - mailbox-full lost" },
		{ "No se puede entregar: x", "Error de entrega para estos "
		    "destinatarios:", "failed - other lost" },
		{ "\u00c9chec de la remise : x", "Votre message n'a pas pu "
		    "\u00eatre remis aux destinataires suivants :",
		    "failed - other lost" },
		{ "Unzustellbar: x", "Fehler bei der Zustellung an folgende "
		    "Empf\u00e4nger:", "failed - other lost" },
		{ "K\u00e9zbes\u00edthetetlen lev\u00e9l", "Az \u00fczenet nem "
		    "k\u00e9zbes\u00edthet\u0151: 452 4.3.1 full",
		    "failed - system-full lost" },
		{ "\u039c\u03b7 \u03c0\u03b1\u03c1\u03b1\u03b4\u03cc\u03c3"
		    "\u03b9\u03bc\u03bf", "x", "failed - other lost" },
		{ "\ubc30\ub2ec\ub418\uc9c0 \uc54a\uc74c: x", "x",
		    "failed - other lost" },
		{ "\u9000\u4fe1", "x", "failed - other lost" },
		{ "\u914d\u4fe1\u3067\u304d\u307e\u305b\u3093", "x",
		    "failed - other lost" },
		{ "Zpo\u017ed\u011bn\u00e9 doru\u010den\u00ed", "Zpr\u00e1va "
		    "zat\u00edm nebyla doru\u010dena.\n\n452 4.3.1 full",
		    "delayed - system-full delayed" },
		{ "Remise retard\u00e9e : x", "La remise aux destinataires "
		    "suivants est retard\u00e9e.", "delayed - other delayed" },
		{ "Entrega retrasada: x", "La entrega a estos destinatarios "
		    "se ha retrasado.", "delayed - other delayed" },
		{ "Recapito ritardato: x", "Il recapito \u00e8 in ritardo.",
		    "delayed - other delayed" },
		{ "Zustellung verz\u00f6gert: x", "Die Zustellung an folgende "
		    "Empf\u00e4nger verz\u00f6gert sich.",
		    "delayed - other delayed" },
		{ "\u914d\u4fe1\u9045\u5ef6", "x", "delayed - other delayed" },
		/* Given up, whatever was tried before. */
		{ "Unzustellbar: x", "Ihre Nachricht wurde noch nicht "
		    "zugestellt.", "failed - other lost" },
		{ "Nedoru\u010diteln\u00e9: x", "Zpr\u00e1va zat\u00edm nebyla "
		    "doru\u010dena.", "failed - other lost" },
	};
	char	*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		mail = mem_printf("Return-Path: <>\nFrom: postmaster@example.net"
		    "\nSubject: %s\n\n%s\n", rows[i].subject, rows[i].text);
		check(mail, rows[i].wanted);
		mem_free(mail);
	}
}

/* They can only be found if they are spelled as texts are prepared. */
static void
foreign_words_are_spelled_as_texts_are_prepared(void **state)
{
	static const char *const	lists[] = { bounce_foreign_failures,
		bounce_foreign_delays };
	struct phrase_text		text;
	char				*copy, *rest, *phrase;

	(void)state;
	for (size_t i = 0; i < NITEMS(lists); i++) {
		copy = rest = mem_printf("%s", lists[i]);
		while ((phrase = strsep(&rest, "|")) != NULL) {
			phrase_prepare(&text, phrase);
			assert_true(phrase[0] != '\0');
			if (strstr(text.words, phrase) == NULL)
				fail_msg("%s is prepared as %s", phrase,
				    text.words);
		}
		mem_free(copy);
	}
}

static void
check_set(const char *set, const char *text, const char *utf8)
{
	size_t	 len = strlen(text);
	char	*copy = mem_alloc(len), *dst;

	memcpy(copy, text, len);
	dst = mem_alloc(CHARSET_GROWS * len + 1);
	assert_int_equal(charset_utf8(set, copy, len, dst), strlen(utf8));
	assert_string_equal(dst, utf8);
	mem_free(copy);
	mem_free(dst);
}

static void
other_character_sets_become_utf8(void **state)
{
	char	many[4001], same[4001];

	(void)state;
	check_set("", "\xe4", "\xe4");
	check_set("utf-8", "\xc3\xa4", "\xc3\xa4");
	check_set("../../x", "\xe4", "\xe4");
	check_set("ISO-8859-1", "f\xfcr", "f\u00fcr");
	check_set("iso-8859-1", "", "");
	check_set("windows-1251", "\xcd\xe5", "\u041d\u0435");
	check_set("iso-2022-jp", "\033$B\x47\x5b\x3f\x2e\033(B 552",
	    "\u914d\u4fe1 552");
	check_set("GBK", "\xcd\xcb\xd0\xc5: 550", "\u9000\u4fe1: 550");
	check_set("shift_jis", "\xb1\xb2", "\uff71\uff72");
	/* What is cut off or makes no sense; too much of it. */
	check_set("gb18030", "x\xcd", "x?");
	check_set("iso-2022-jp", "a\xff" "b", "a?b");
	memset(many, 0xff, 4000);
	memset(same, '?', 1000);
	memset(same + 1000, 0xff, 3000);
	many[4000] = same[4000] = '\0';
	check_set("iso-2022-jp", many, same);
}

static void
a_bounce_in_another_character_set_is_read(void **state)
{
	(void)state;
	check("From: postmaster@example.net\n"
	    "Subject: =?iso-2022-jp?B?GyRCR1s/LkNZMWQbKEI=?=\n"
	    "Content-Type: text/plain; charset=ISO-2022-JP\n"
	    "Content-Transfer-Encoding: base64\n\n"
	    "GyRCR1s/LiQsQ1kkbCRGJCQkXiQ5ISMbKEIK\n",
	    "delayed - other delayed");
	check("From: postmaster@example.net\n"
	    "Subject: =?gb18030?B?z7XNs83L0MU=?=\n"
	    "Content-Type: text/plain; charset=gbk\n\n\xcd\xcb\xd0\xc5\n"
	    "550 Mailbox not found\n", "failed - no-such-user lost");
	check("From: postmaster@example.net\nSubject: x\n"
	    "Content-Type: text/plain; charset=iso-8859-1\n\n"
	    "Votre message n'a pas pu \xeatre remis.\n552 5.2.2 Bo\xeete "
	    "pleine\n", "failed - mailbox-full lost");
	assert_string_equal(b.reply.text, "Bo\u00eete pleine");
}

/* Nothing in the subject or the text is known; a mail system quotes why. */
static void
a_quoted_refusal_needs_no_language(void **state)
{
	static const char *const	refusals[] = {
		"<a@example.org>: 550 5.1.1 x",
		"mx.example.org #5.1.1", "x (#5.1.1)",
		"xx: 550 User unknown", "xx>550-5.1.1 x",
	};
	char				*mail;

	(void)state;
	for (size_t i = 0; i < NITEMS(refusals); i++) {
		mail = mem_printf("Return-Path: <>\n"
		    "From: MAILER-DAEMON@example.net\nSubject: Zzz\n\n%s\n",
		    refusals[i]);
		check(mail, "failed - no-such-user lost");
		mem_free(mail);
	}
	/* No refusal; no mail system. */
	check("Return-Path: <>\nFrom: MAILER-DAEMON@example.net\n"
	    "Subject: Zzz\n\nAt 550 Main Road, room 5.1.1 or 4.550.1\n",
	    "- - other ignore");
	check("Return-Path: <>\nFrom: box@example.net\nSubject: Zzz\n\n"
	    "I left. This is no longer read: 550 user unknown.\n",
	    "- - other ignore");
}

static void
a_bounce_in_words_for_two_speaks_of_ours(void **state)
{
	static const char	mail[] =
	    "From: MAILER-DAEMON@example.net\nSubject: failure notice\n\n"
	    "Sorry.\n\n<one@example.org>:\nNo such user. (#5.1.1)\n\n"
	    "<box@example.org>:\n452 4.3.1 full\n\n"
	    "--- Below this line is a copy of the message.\n\n"
	    "Subject: x\nTo: box@example.org\n";

	(void)state;
	check(mail, "failed - system-full lost");
	read_for(mail, "one@example.org");
	assert_int_equal(b.class, CLASS_NO_SUCH_USER);
}

static void
a_bounce_in_html_is_read(void **state)
{
	(void)state;
	check("From: postmaster@example.net\nSubject: Undeliverable: x\n"
	    "Content-Type: text/html\n\n<html><style>a { b: 550 }</style>"
	    "<p>Delivery has failed</p><p>a@example.org<br>"
	    "<b>452&nbsp;4.3.1 Mail &lt;system&gt; full</b></p></html>\n",
	    "failed - system-full lost");
}

static void
words_complete_a_report_whose_fields_say_nothing(void **state)
{
	(void)state;
	check(DAEMON "Content-Type: multipart/report; boundary=o\n\n--o\n\n"
	    "<box@example.net>: host mx.example.org[192.0.2.1] said:\n"
	    "    452 4.3.1 full\n\n--o\n"
	    "Content-Type: message/delivery-status\n\n" MESSAGE BOX
	    "Action: failed\nStatus: 4.4.7\n\n--o--\n",
	    "failed 4.4.7 system-full lost");
}

/* What is no bounce. */

static void
other_mails_report_nothing(void **state)
{
	static const struct {
		const char	*mail;
		enum bounce_kind kind;
	}	rows[] = {
		{ PERSON("Lunch") "\nAt noon?\n", BOUNCE_NONE },
		{ PERSON("Re: Undelivered Mail Returned to Sender")
		    "In-Reply-To: <1@example.net>\n\n> 452 4.3.1 full\n> could"
		    " not be delivered\nWhat is it?\n", BOUNCE_NONE },
		{ PERSON("Fwd: Undelivered Mail Returned to Sender")
		    "Content-Type: multipart/mixed; boundary=b1\n\n"
		    "--b1\nContent-Type: message/delivery-status\n\n"
		    MESSAGE BOX FULL "--b1--\n", BOUNCE_NONE },
		{ PERSON("Look") "Content-Type: multipart/mixed; boundary=o"
		    "\n\n--o\nContent-Type: message/rfc822\n\n"
		    REPORT(MESSAGE BOX FULL, "") "--o--\n", BOUNCE_NONE },
		{ PERSON("Undelivered Mail Returned to Sender")
		    "\nLook, it could not be delivered: 452 4.3.1 full\n",
		    BOUNCE_NONE },
		{ PERSON("Look") "Content-Type: multipart/mixed; boundary=b1"
		    "\n\n--b1\nContent-Type: message/delivery-status\n\n"
		    MESSAGE BOX FULL "--b1--\n", BOUNCE_NONE },
		{ "Return-Path: <>\nFrom: postmaster@example.net\n"
		    "Subject: Out of the office\n\nI could not deliver what "
		    "I owe you, my mailbox is full (452 4.3.1)\n",
		    BOUNCE_AUTO_REPLY },
		{ "Return-Path: <>\nFrom: MAILER-DAEMON@example.net\n"
		    "Subject: Successful Mail Delivery Report\n\nThis is the "
		    "mail system. Your message was delivered to a@b.example\n",
		    BOUNCE_TEXT },
		{ PERSON("Out of office") "Auto-Submitted: auto-replied\n"
		    "\nMy mailbox is full (452 4.3.1), back on 5.1.1.\n",
		    BOUNCE_AUTO_REPLY },
		{ PERSON("=?utf-8?Q?R=C3=A9ponse_automatique?=") "\nx\n",
		    BOUNCE_AUTO_REPLY },
		{ PERSON("Thank you") "X-Autoreply: yes\n\nWe got it.\n",
		    BOUNCE_AUTO_REPLY },
		{ PERSON("Read: x") "Content-Type: multipart/report; "
		    "report-type=disposition-notification; boundary=o\n\n--o\n"
		    "Content-Type: message/disposition-notification\n\n" BOX
		    "Disposition: automatic-action/MDN-sent-automatically; "
		    "deleted\n--o--\n", BOUNCE_RECEIPT },
		{ "From: fbl@example.net\nSubject: Abuse report\n"
		    "Content-Type: multipart/report; "
		    "report-type=feedback-report; boundary=o\n\n--o\n"
		    "Content-Type: message/feedback-report\n\n"
		    "Feedback-Type: abuse\n--o--\n", BOUNCE_FEEDBACK },
		/* A postmaster is a person, too. */
		{ OFFICE "Subject: Fwd: Undelivered Mail Returned to Sender\n"
		    "Content-Type: multipart/mixed; boundary=o\n\n"
		    "--o\nContent-Type: text/plain\n\nLook at this, Ann\n\n"
		    "--o\nContent-Type: message/rfc822\n\n"
		    REPORT(MESSAGE BOX FULL, "") "--o--\n", BOUNCE_NONE },
		{ OFFICE "Subject: Fwd: Undelivered Mail Returned to Sender\n"
		    "Content-Type: multipart/mixed; boundary=o\n\n"
		    "--o\nContent-Type: message/delivery-status\n\n"
		    MESSAGE BOX FULL "--o--\n", BOUNCE_NONE },
		/* What a mail system writes about else. */
		{ OFFICE "Subject: Spam quarantine digest\n\n3 messages were "
		    "not delivered to your inbox. Release them.\n",
		    BOUNCE_NONE },
		{ "Return-Path: <>\nFrom: postmaster@example.net\n"
		    "Subject: Spam quarantine digest\n\n3 messages were "
		    "not delivered to your inbox. Release them.\n",
		    BOUNCE_NONE },
		{ OFFICE "Subject: Your mailbox is almost full\n\nIt has "
		    "exceeded its limit; mail could be returned to sender.\n",
		    BOUNCE_NONE },
		{ "Return-Path: <>\nFrom: postmaster@example.net\n"
		    "Subject: Your mailbox is almost full\n\nMail could be "
		    "returned to sender.\n", BOUNCE_NONE },
		{ "Return-Path: <double-bounce@example.net>\n"
		    "From: MAILER-DAEMON@example.net (Mail Delivery System)\n"
		    "Subject: Postfix SMTP server: errors from x\n\n"
		    "Transcript of session follows.\n\n"
		    " Out: 451 4.3.0 Error: queue file write error\n",
		    BOUNCE_NONE },
		{ "Return-Path: <>\nFrom: MAILER-DAEMON@example.net\n"
		    "Subject: Mail Delivery Status Report\n\nThis is the mail "
		    "system. Enclosed is the mail delivery report that you "
		    "requested.\n\n<a@example.org>: delivery via "
		    "mx.example.org: 250 2.0.0 Ok: queued as 4A\n",
		    BOUNCE_TEXT },
		{ "", BOUNCE_NONE },
		{ "\n\n\n", BOUNCE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		check(rows[i].mail, "- - other ignore");
		assert_int_equal(b.kind, rows[i].kind);
	}
}

/* Bounds. */

static void
parts_beyond_the_bounds_are_let_be(void **state)
{
	struct mime_part	*parts;
	char			*mail = mem_alloc(200000), *at = mail;

	(void)state;
	parts = mem_alloc(MIME_PARTS * sizeof *parts);
	at += sprintf(at, "Content-Type: multipart/mixed; boundary=b0\n\n");
	for (int i = 0; i < 30; i++)
		at += sprintf(at, "--b%d\nContent-Type: multipart/mixed; "
		    "boundary=b%d\n\n", i, i + 1);
	for (size_t i = mime_split(mail, strlen(mail), parts); i > 0; i--)
		assert_true(parts[i - 1].depth <= MIME_DEPTH);
	at = mail;
	at += sprintf(at, "Content-Type: multipart/mixed; boundary=b\n\n");
	for (int i = 0; i < 1000; i++)
		at += sprintf(at, "--b\n\nx\n");
	assert_int_equal(mime_split(mail, strlen(mail), parts), MIME_PARTS);
	mem_free(parts);
	mem_free(mail);
}

/* CPU time of one reading, the best of three. */
static double
cost_ms(const char *mail, size_t len)
{
	struct timespec	from, to;
	double		ms, best = 1e9;

	for (int i = 0; i < 3; i++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		bounce_read(mail, len, "box@example.net", &b);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		ms = (double)(to.tv_sec - from.tv_sec) * 1e3 +
		    (double)(to.tv_nsec - from.tv_nsec) / 1e6;
		best = ms < best ? ms : best;
	}
	return (best);
}

/* Mails made to be dear: their cost must grow no faster than they do. */
static void
a_hostile_mail_costs_little(void **state)
{
	static const struct {
		const char	*head, *again;
	}	rows[] = {
		{ DAEMON "\n", "452 4.3.1 full @\n\n" },
		{ DAEMON "\n", "(5.1.1 #4 <450 {450 @@" },
		{ DAEMON "\n", "box@example.net unknown user\n\n" },
		{ DAEMON "Content-Type: multipart/mixed\n\n", "--b\n--c\n" },
		{ DAEMON "Content-Type: multipart/mixed; boundary=b\n\n",
		    "--b\nContent-Type: multipart/mixed; boundary=b\n" },
		{ DAEMON "Content-Type: text/html\n\n", "<<&&<a<p" },
		{ DAEMON "Content-Type: message/delivery-status\n\n",
		    BOX "\n" },
		{ DAEMON "Content-Type: message/delivery-status\n\n" BOX
		    "Diagnostic-Code: smtp; ", "<452 (\n " },
		{ DAEMON "Content-Type: multipart/report; boundary=",
		    "(\"\\" },
		{ DAEMON "\n", "To: (((\"\n\n" },
		{ DAEMON "\n", "mf1abcdefghijklmnopqrstuvwxyz234567" },
		{ DAEMON "Content-Type: text/plain\n"
		    "Content-Transfer-Encoding: base64\n\n", "NDUy" },
		{ DAEMON "Content-Type: text/plain; charset=iso-2022-jp\n\n",
		    "\xff\xff\xff" },
		{ DAEMON "Content-Type: text/plain; charset=gb18030\n\n",
		    "\xcd\xcb\n" },
		{ DAEMON "Content-Type: text/html; charset=shift_jis\n\n",
		    "\xb1<p>" },
		{ DAEMON "Content-Type: multipart/mixed; boundary=b\n\n",
		    "--b\nContent-Type: text/plain\n\n" BOX "\n" },
		{ DAEMON "Content-Type: multipart/mixed; boundary=b\n\n"
		    "--b\n\n--b\n\n", BOX "Action\t : x\n" },
		{ DAEMON "Content-Type: multipart/mixed; boundary=b\n\n"
		    "--b\n\n--b\n\n" BOX, "Action: x\n\n" },
		{ DAEMON "\n", "x #4.3.1: 550 5.1.1 (4 5 421-" },
		{ DAEMON "\n", "#4.3.1 x tls mailbox disk\n\n" },
		{ DAEMON "Content-Type: message/delivery-status\n\n" BOX
		    "X-Supplementary-Info: ", "< #5.5.0 smtp;552 " },
		{ DAEMON "", "X-J: y\n" },
		{ "", "x \t \t \t \t \t" },
		{ "Subject: ", "=?utf-8?Q?" },
		{ "Subject: =?iso-2022-jp?Q?", "=FF" },
		{ "", "Subject: =?utf-8?Q?=?utf-8?Q?=?utf-8?Q?\n" },
		{ DAEMON "Content-Type: message/delivery-status\n\n"
		    "Final-Recipient: ", "=?utf-8?Q?" },
		{ DAEMON "Content-Type: message/delivery-status\n\n",
		    "Action: =?utf-8?Q?a =?utf-8?Q?a =?utf-8?Q?a\n" },
		{ DAEMON "Content-Type: message/rfc822\n\n",
		    "To: =?utf-8?Q?a =?utf-8?Q?a =?utf-8?Q?a\n" },
	};
	char	*mail = mem_alloc(BOUNCE_INPUT);
	double	 ms;
	size_t	 len, n;

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		len = strlen(rows[i].head);
		memcpy(mail, rows[i].head, len);
		n = strlen(rows[i].again);
		for (; len + n <= BOUNCE_INPUT; len += n)
			memcpy(mail + len, rows[i].again, n);
		ms = cost_ms(mail, len);
		if (getenv("VERBOSE") != NULL)
			print_message("%6.2f ms: %s\n", ms, rows[i].again);
		if (ms > 100)
			fail_msg("%.1f ms for %s", ms, rows[i].again);
	}
	mem_free(mail);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(the_cases_end_as_their_table_says),
		cmocka_unit_test(more_cases_end_as_their_table_says),
		cmocka_unit_test(diagnostic_and_status_are_weighed_together),
		cmocka_unit_test(fields_are_read_however_they_are_written),
		cmocka_unit_test(
		    a_report_without_action_is_final_unless_it_warns),
		cmocka_unit_test(
		    the_system_is_the_remote_one_else_the_reporter),
		cmocka_unit_test(the_group_of_our_recipient_counts),
		cmocka_unit_test(
		    a_report_may_have_one_part_for_each_recipient),
		cmocka_unit_test(groups_are_told_apart_without_empty_lines),
		cmocka_unit_test(any_line_ends_will_do),
		cmocka_unit_test(boundaries_are_found_however_they_are_named),
		cmocka_unit_test(reports_inside_other_parts_are_found),
		cmocka_unit_test(
		    a_report_in_the_mail_that_is_returned_says_more),
		cmocka_unit_test(fields_in_a_part_of_another_type_are_found),
		cmocka_unit_test(encoded_parts_are_decoded),
		cmocka_unit_test(
		    a_report_cut_off_anywhere_never_changes_its_mind),
		cmocka_unit_test(tokens_are_found_best_place_first),
		cmocka_unit_test(
		    a_mail_full_of_tokens_fills_its_room_and_no_more),
		cmocka_unit_test(bounces_in_words_are_understood),
		cmocka_unit_test(what_is_still_being_tried_is_not_lost),
		cmocka_unit_test(other_languages_are_understood),
		cmocka_unit_test(
		    foreign_words_are_spelled_as_texts_are_prepared),
		cmocka_unit_test(other_character_sets_become_utf8),
		cmocka_unit_test(a_bounce_in_another_character_set_is_read),
		cmocka_unit_test(a_quoted_refusal_needs_no_language),
		cmocka_unit_test(a_bounce_in_words_for_two_speaks_of_ours),
		cmocka_unit_test(a_bounce_in_html_is_read),
		cmocka_unit_test(
		    words_complete_a_report_whose_fields_say_nothing),
		cmocka_unit_test(other_mails_report_nothing),
		cmocka_unit_test(parts_beyond_the_bounds_are_let_be),
		cmocka_unit_test(a_hostile_mail_costs_little),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
