/* What a login says, in whatever protocol. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/mem.h"
#include "monitor/sasl.h"

static void
a_secret_is_found_in_base_64_wherever_it_begins(void **state)
{
	static const char	*const around[] = { "", "u", "us", "use",
				    "n,a=u,\001auth=Bearer " };
	char			 coded[256], text[512], plain[128];

	(void)state;
	for (size_t i = 0; i < NITEMS(around); i++) {
		snprintf(plain, sizeof plain, "%shunter22%s", around[i],
		    around[i]);
		assert_true(sasl_base64(coded, sizeof coded, plain,
		    strlen(plain)) > 0);
		snprintf(text, sizeof text, "bad login (%s), sorry", coded);
		sasl_scrub(text, "hunter22");
		coded[strcspn(coded, "=")] = '\0';
		assert_null(strstr(text, coded));
		assert_non_null(strstr(text, "bad login (***"));
		assert_non_null(strstr(text, "), sorry"));
	}
}

/* That of RFC 7628 4.1, and of the makers of XOAUTH2. */
static void
an_oauth_login_is_put_together(void **state)
{
	char	coded[256];

	(void)state;
	sasl_response(SASL_XOAUTH2, "someuser@example.com",
	    "ya29.vF9dft4qmTc2Nvb3RlckBhdHRhdmlzdGEuY29tCg", "", 0, coded,
	    sizeof coded);
	assert_string_equal(coded, "dXNlcj1zb21ldXNlckBleGFtcGxlLmNvbQFhdXRoPU"
	    "JlYXJlciB5YTI5LnZGOWRmdDRxbVRjMk52YjNSbGNrQmhkSFJoZG1semRHRXVZMj"
	    "l0Q2cBAQ==");
	sasl_response(SASL_OAUTHBEARER, "user@example.com",
	    "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg==", "server.example.com",
	    143, coded, sizeof coded);
	assert_string_equal(coded, "bixhPXVzZXJAZXhhbXBsZS5jb20sAWhvc3Q9c2Vydm"
	    "VyLmV4YW1wbGUuY29tAXBvcnQ9MTQzAWF1dGg9QmVhcmVyIHZGOWRmdDRxbVRjMk"
	    "52YjNSbGNrQmhiSFJoZG1semRHRXVZMjl0Q2c9PQEB");
	assert_int_equal(sasl_response(SASL_XOAUTH2, "user@example.com",
	    "vF9dft4qmT", "", 0, coded, 20), 0);
}

static void
a_users_comma_does_not_end_his_name(void **state)
{
	char	have[256], want[256];

	(void)state;
	sasl_response(SASL_OAUTHBEARER, "a,b=c", "t", "h", 25, have,
	    sizeof have);
	sasl_base64(want, sizeof want, "n,a=a=2Cb=3Dc,\001host=h\001port=25"
	    "\001auth=Bearer t\001\001", 45);
	assert_string_equal(have, want);
}

static void
what_a_server_has_against_a_token_is_read(void **state)
{
	static const struct {
		const char	*challenge;
		const char	*said;
	} rows[] = {
		{ "eyJzdGF0dXMiOiJpbnZhbGlkX3Rva2VuIn0=",
		  "{\"status\":\"invalid_token\"}" },
		{ "eyJzdGF0dXMiOiI0MDAifQ", "{\"status\":\"400\"}" },
		{ "ewoiYSI6IvAfIn0K",	"{ \"a\":\"? \"} " },
		{ "",			"" },
		{ "=",			"" },
		{ "VXNlcm5hbWU6",	"" },
		{ "go ahead",		"" },
	};
	char	said[256];

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		sasl_explained(rows[i].challenge, said, sizeof said);
		assert_string_equal(said, rows[i].said);
	}
}

/* That of RFC 4616 4, with the fields that we have no use for left empty. */
static void
a_password_is_put_together_for_plain(void **state)
{
	char	coded[64];

	(void)state;
	assert_int_equal(sasl_response(SASL_PLAIN, "tim", "tanstaaftanstaaf",
	    "", 0, coded, sizeof coded), 28);
	assert_string_equal(coded, "AHRpbQB0YW5zdGFhZnRhbnN0YWFm");
	assert_int_equal(sasl_response(SASL_PLAIN, "tim", "tanstaaftanstaaf",
	    "", 0, coded, 28), 0);
}

static void
what_explains_a_refusal_is_acknowledged_as_each_mechanism_wants(void **state)
{
	(void)state;
	assert_string_equal(sasl_acknowledge(SASL_OAUTHBEARER), "AQ==");
	assert_string_equal(sasl_acknowledge(SASL_XOAUTH2), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_is_found_in_base_64_wherever_it_begins),
		cmocka_unit_test(an_oauth_login_is_put_together),
		cmocka_unit_test(a_users_comma_does_not_end_his_name),
		cmocka_unit_test(what_a_server_has_against_a_token_is_read),
		cmocka_unit_test(a_password_is_put_together_for_plain),
		cmocka_unit_test(what_explains_a_refusal_is_acknowledged_as_each_mechanism_wants),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
