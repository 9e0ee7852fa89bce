/* What servers say to a login, and whether the password is to blame. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mailboxes/imap_refusal.h"
#include "monitor/mem.h"

static const struct {
	const char	*code, *text;
	bool		 refusal;
} rows[] = {
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

static void
the_password_is_to_blame_unless_another_reason_is_given(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		print_message("[%s] %s\n", rows[i].code, rows[i].text);
		assert_int_equal(imap_refusal(rows[i].code, rows[i].text),
		    rows[i].refusal);
	}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(
		    the_password_is_to_blame_unless_another_reason_is_given),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
