/* What servers say to a login, and whether the password is to blame. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mailboxes/imap_refusal.h"
#include "monitor/mem.h"

struct row {
	const char	*code, *text;
	bool		 refusal;
};

static const struct row	rows[] = {
	{ "AUTHENTICATIONFAILED", "Invalid credentials (Failure)", true },
	{ "AUTHENTICATIONFAILED", "try again later", true },
	{ "AUTHORIZATIONFAILED", "not as somebody else", true },
	{ "EXPIRED", "password expired", true },
	{ "PRIVACYREQUIRED", "not in the clear", true },
	{ "AUTH", "wrong", true },
	{ "", "LOGIN failed.", true },
	{ "", "Login failed.", true },
	{ "", "LOGIN Login error or password error or server error", true },
	{ "ALERT", "Please log in via your web browser: https://x/ (Failure)",
	    true },
	{ "ALERT", "Application-specific password required (Failure)", true },
	{ "X-ODD", "no", true },
	{ "UNAVAILABLE", "Temporary authentication failure.", false },
	{ "LIMIT", "Maximum number of connections from user+IP exceeded",
	    false },
	{ "INUSE", "password", false },
	{ "SERVERBUG", "password", false },
	{ "CONTACTADMIN", "password", false },
	{ "ALERT", "Too many simultaneous connections. (Failure)", false },
	{ "ALERT", "Account exceeded command or bandwidth limits. (Failure)",
	    false },
	{ "SYS/TEMP", "System error, contact support", false },
	{ "TEMPFAIL", "Temporary authentication failure.", false },
	{ "RATE-LIMIT", "Rate limit hit.", false },
	{ "", "Server busy", false },
	{ "", "Login throttled", false },
	{ "", "Internal login failure. Refer to server log.", false },
	{ "", "LOGIN connection limit reached", false },
	{ "", "Server Unavailable. 15", false },
	{ "", "Authentication backend timed out", false },
};

/* Of what is no NO. */
static const struct row	others[] = {
	{ "AUTHENTICATIONFAILED", "Invalid credentials", true },
	{ "", "Login failed: wrong user name or password", true },
	{ "", "Authentication failed.", true },
	{ "", "Invalid credentials s0123456789", true },
	{ "", "Command is unknown or its arguments are invalid", false },
	{ "", "Error in IMAP command received by server.", false },
	{ "", "Autologout; idle for too long", false },
	{ "", "Internal login failure. Refer to server log.", false },
	{ "", "Too many wrong passwords", false },
	{ "UNAVAILABLE", "Authentication failed.", false },
	{ "X-ODD", "no", false },
};

static void
check(const struct row *r, enum imap_condition said)
{
	print_message("[%s] %s\n", r->code, r->text);
	assert_int_equal(imap_refusal(said, r->code, r->text), r->refusal);
}

static void
the_password_is_to_blame_unless_another_reason_is_given(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++)
		check(&rows[i], IMAP_NO);
}

static void
bad_and_bye_are_about_it_if_they_say_so(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(others); i++) {
		check(&others[i], IMAP_BAD);
		check(&others[i], IMAP_PENDING);
	}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(
		    the_password_is_to_blame_unless_another_reason_is_given),
		cmocka_unit_test(bad_and_bye_are_about_it_if_they_say_so),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
