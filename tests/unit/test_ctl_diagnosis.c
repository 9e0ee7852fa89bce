#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/ctl_diagnosis.h"
#include "monitor/mem.h"
#include "monitor/text.h"

enum { FIRST, SECOND, COUNT };

static struct diagnosed	seen[COUNT];
static char		said[8192];

static void
fine(struct diagnosed *d, int preference, const char *host)
{
	*d = (struct diagnosed){ .preference = preference,
	    .tls = TLS_OPPORTUNISTIC };
	outcome_init(&d->o);
	text_copy(d->o.host, sizeof d->o.host, host);
	text_copy(d->o.address, sizeof d->o.address, "192.0.2.1");
	text_copy(d->o.greeting, sizeof d->o.greeting, "220 hello");
	text_copy(d->o.tls, sizeof d->o.tls, "TLSv1.3 verified");
	d->o.stage = STAGE_EHLO2;
	d->o.stage_ms[STAGE_GREETING] = 12;
	d->o.certificate_days = 60;
	d->o.class = CLASS_ACCEPTED;
	d->o.verdict = VERDICT_ACCEPTED;
}

static void
fails(struct diagnosed *d, enum stage stage, enum outcome_class class,
    const char *reply)
{
	d->o.stage = stage;
	d->o.class = class;
	d->o.verdict = VERDICT_TEMPORARY;
	d->o.certificate_days = OUTCOME_NO_CERTIFICATE;
	text_copy(d->o.tls, sizeof d->o.tls, "none");
	text_copy(d->o.reply, sizeof d->o.reply, reply);
	if (stage <= STAGE_GREETING)
		d->o.greeting[0] = '\0';
}

/* What is printed, spaces and line ends as one space each. */
static const char *
print(void)
{
	char	*text = NULL, *to = said;
	size_t	 size;
	FILE	*f = open_memstream(&text, &size);
	bool	 space = false;

	assert_non_null(f);
	diagnosis_print(seen, COUNT, f, false);
	fclose(f);
	for (const char *p = text; *p != '\0' &&
	    to < said + sizeof said - 2; p++) {
		if (*p != ' ' && *p != '\n') {
			if (space)
				*to++ = ' ';
			*to++ = *p;
		}
		space = *p == ' ' || *p == '\n';
	}
	*to = '\0';
	free(text);
	return (said);
}

static void
says(const char *words)
{
	if (strstr(print(), words) == NULL)
		fail_msg("not in it: %s\n%s", words, said);
}

static void
says_not(const char *words)
{
	if (strstr(print(), words) != NULL)
		fail_msg("in it: %s\n%s", words, said);
}

static int
setup(void **state)
{
	(void)state;
	fine(&seen[FIRST], 10, "mx1.example");
	fine(&seen[SECOND], 20, "mx2.example");
	return (0);
}

static void
all_is_well_where_all_are_fine(void **state)
{
	(void)state;
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_FINE);
	says("10 mx1.example 192.0.2.1 - 12ms - TLSv1.3 fine 220 hello");
	says("All 2 addresses are fine.");
	says_not("passes over");
}

static void
mail_flows_by_the_second_way_where_the_first_is_closed(void **state)
{
	(void)state;
	fails(&seen[FIRST], STAGE_CONNECT, CLASS_NETWORK,
	    "connection refused");
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_TROUBLE);
	says("1 of 2 addresses is fine.");
	says("passes over mx1.example and hands its mail to mx2.example");
	says("mx1.example [192.0.2.1]: no connection.");
}

static void
nothing_reached_is_a_case_of_its_own(void **state)
{
	(void)state;
	fails(&seen[FIRST], STAGE_LOOKUP, CLASS_DNS, "no such name");
	fails(&seen[SECOND], STAGE_CONNECT, CLASS_NETWORK, "timed out");
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_UNREACHABLE);
	says("No server could be reached.");
	fails(&seen[SECOND], STAGE_GREETING, CLASS_NETWORK, "timed out");
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_TROUBLE);
	says_not("No server could be reached.");
}

static void
a_family_that_we_lack_is_not_their_trouble(void **state)
{
	(void)state;
	seen[FIRST].skipped = true;
	outcome_init(&seen[FIRST].o);
	text_copy(seen[FIRST].o.address, OUTCOME_ADDRESS, "2001:db8::1");
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_FINE);
	says("2001:db8::1 - - - - no IPv6 here");
	says_not("passes over");
	seen[SECOND].skipped = true;
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_UNREACHABLE);
}

static void
tls_that_is_offered_and_refused_is_not_as_wanted(void **state)
{
	(void)state;
	text_copy(seen[FIRST].o.tls, OUTCOME_TLS,
	    "none: STARTTLS was refused: 454 4.7.0 not now");
	seen[SECOND].skipped = true;
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_TROUBLE);
	says_not("TLS is as wanted");
	says("0 of 1 addresses are fine.");
	says("failed: STARTTLS was refused: 454 4.7.0 not now");
	says("mx1.example [192.0.2.1]: TLS trouble. It offers STARTTLS");
	/* Mail flows, by this way. */
	seen[SECOND].skipped = false;
	says("1 of 2 addresses is fine.");
	says_not("passes over");
}

static void
a_refused_ehlo_is_shown_as_it_was_said(void **state)
{
	(void)state;
	fails(&seen[FIRST], STAGE_EHLO, CLASS_POLICY, "your HELO is bad");
	seen[FIRST].o.code = 550;
	text_copy(seen[FIRST].o.enhanced, OUTCOME_ENHANCED, "5.7.1");
	says("EHLO: 550 5.7.1 your HELO is bad");
}

static void
a_domain_without_mail_is_told_apart_from_a_broken_one(void **state)
{
	(void)state;
	fails(&seen[FIRST], STAGE_LOOKUP, CLASS_DNS, "null MX");
	seen[FIRST].no_mail = true;
	says("mx1.example: takes no mail at all");
	says_not("send the message again");
}

static void
hints_are_given_without_a_fault(void **state)
{
	(void)state;
	seen[FIRST].o.certificate_days = 13;
	seen[SECOND].o.stage_ms[STAGE_GREETING] = 5000;
	text_copy(seen[SECOND].o.tls, OUTCOME_TLS, "none");
	assert_int_equal(diagnosis_of(seen, COUNT), DIAGNOSIS_FINE);
	says("The certificate of mx1.example ends soon.");
	says("mx2.example [192.0.2.1] takes 5 s to greet.");
	says("mx2.example [192.0.2.1] offers no TLS");
	seen[FIRST].o.certificate_days = 14;
	seen[SECOND].o.stage_ms[STAGE_GREETING] = 4999;
	says_not("ends soon");
	says_not("to greet");
}

static void
nothing_of_theirs_steers_the_terminal(void **state)
{
	(void)state;
	text_copy(seen[FIRST].o.greeting, OUTCOME_GREETING,
	    "220 \033[2Jclear");
	text_copy(seen[FIRST].o.extensions, OUTCOME_EXTENSIONS,
	    "SIZE \033]0;x\a");
	says_not("\033");
	says_not("\a");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test_setup(all_is_well_where_all_are_fine, setup),
		cmocka_unit_test_setup(
		    mail_flows_by_the_second_way_where_the_first_is_closed,
		    setup),
		cmocka_unit_test_setup(nothing_reached_is_a_case_of_its_own,
		    setup),
		cmocka_unit_test_setup(
		    a_family_that_we_lack_is_not_their_trouble, setup),
		cmocka_unit_test_setup(
		    tls_that_is_offered_and_refused_is_not_as_wanted, setup),
		cmocka_unit_test_setup(a_refused_ehlo_is_shown_as_it_was_said,
		    setup),
		cmocka_unit_test_setup(
		    a_domain_without_mail_is_told_apart_from_a_broken_one,
		    setup),
		cmocka_unit_test_setup(hints_are_given_without_a_fault, setup),
		cmocka_unit_test_setup(nothing_of_theirs_steers_the_terminal,
		    setup),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
