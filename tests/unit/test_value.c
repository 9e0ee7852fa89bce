#include "monitor/value.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/mem.h"

#define BAD	INT64_C(-1)

struct row {
	const char	*text;
	int64_t		 value;
};

typedef int	(*reader)(const char *, int64_t *, const char **);

/* Every refusal gives a reason, and no reason is empty. */
static void
check(const struct row *rows, size_t n, reader read)
{
	size_t	i;

	for (i = 0; i < n; i++) {
		const char	*why = NULL;
		int64_t		 value = 0;
		int		 status = read(rows[i].text, &value, &why);

		if (status != (rows[i].value == BAD ? -1 : 0))
			fail_msg("\"%s\" gave %d", rows[i].text, status);
		if (status == -1)
			assert_true(why != NULL && *why != '\0');
		else if (value != rows[i].value)
			fail_msg("\"%s\" is %lld", rows[i].text,
			    (long long)value);
	}
}

static void
a_span_is_one_number_and_one_unit(void **state)
{
	static const struct row	rows[] = {
		{ "0", 0 }, { "0s", 0 }, { "500ms", 500 }, { "20s", 20000 },
		{ "5m", 300000 }, { "4h", 14400000 }, { "5d", 432000000 },
		{ "1ms", 1 }, { "36500d", VALUE_SPAN_MAX },
		{ "", BAD }, { "5", BAD }, { "5 m", BAD }, { "m", BAD },
		{ "1.5h", BAD }, { "1h30m", BAD }, { "5M", BAD },
		{ "5min", BAD }, { "-5m", BAD }, { "+5m", BAD },
		{ "010s", BAD }, { "00", BAD }, { "0x10s", BAD },
		{ "36501d", BAD }, { "9223372036854775807d", BAD },
		{ "9223372036854775808ms", BAD },
		{ "99999999999999999999999ms", BAD }, { " 5m", BAD },
		{ "5m ", BAD }, { "5mm", BAD },
	};

	(void)state;
	check(rows, NITEMS(rows), value_span);
}

static void
a_span_prints_so_that_it_reads_the_same(void **state)
{
	static const struct {
		int64_t		 ms;
		const char	*text;
	} rows[] = {
		{ 0, "0" }, { 1, "1ms" }, { 1500, "1500ms" }, { 2000, "2s" },
		{ 60000, "1m" }, { 90000, "90s" }, { 3600000, "1h" },
		{ 86400000, "1d" }, { 86400001, "86400001ms" },
		{ VALUE_SPAN_MAX, "36500d" },
	};
	const char	*why;
	char		 buf[32];
	int64_t		 ms;
	size_t		 i;

	(void)state;
	for (i = 0; i < NITEMS(rows); i++) {
		assert_string_equal(value_print_span(rows[i].ms, buf,
		    sizeof buf), rows[i].text);
		assert_int_equal(value_span(buf, &ms, &why), 0);
		assert_int_equal(ms, rows[i].ms);
	}
}

static void
a_number_with_a_leading_zero_is_refused_not_taken_for_octal(void **state)
{
	static const struct row	rows[] = {
		{ "0", 0 }, { "10", 10 }, { "9223372036854775807", INT64_MAX },
		{ "010", BAD }, { "00", BAD }, { "0x10", BAD }, { "1e3", BAD },
		{ "-1", BAD }, { "", BAD }, { "10 ", BAD },
		{ "9223372036854775808", BAD },
	};
	const char	*why;
	int64_t		 n;

	(void)state;
	check(rows, NITEMS(rows), value_number);
	assert_int_equal(value_number("010", &n, &why), -1);
	assert_non_null(strstr(why, "leading zero"));
}

static void
a_size_counts_in_powers_of_1024(void **state)
{
	static const struct row	rows[] = {
		{ "0", 0 }, { "512", 512 }, { "10k", 10240 }, { "10K", 10240 },
		{ "5M", 5242880 }, { "1G", 1073741824 },
		{ "8589934591G", INT64_C(8589934591) << 30 },
		{ "8589934592G", BAD }, { "1T", BAD }, { "1kb", BAD },
		{ "", BAD }, { "k", BAD }, { "1.5k", BAD }, { "-1", BAD },
	};
	const char	*why;
	char		 buf[32];
	int64_t		 n;

	(void)state;
	check(rows, NITEMS(rows), value_size);
	assert_string_equal(value_print_size(10240, buf, sizeof buf), "10k");
	assert_string_equal(value_print_size(10241, buf, sizeof buf), "10241");
	assert_int_equal(value_size(value_print_size(5242880, buf, sizeof buf),
	    &n, &why), 0);
	assert_int_equal(n, 5242880);
}

static int
read_time(const char *s, int64_t *r, const char **why)
{
	int	minutes = 0, status = value_time_of_day(s, &minutes, why);

	*r = minutes;
	return (status);
}

static void
a_time_of_day_has_two_digits_each(void **state)
{
	static const struct row	rows[] = {
		{ "00:00", 0 }, { "22:00", 1320 }, { "23:59", 1439 },
		{ "24:00", BAD }, { "12:60", BAD }, { "9:00", BAD },
		{ "09:0", BAD }, { "0900", BAD }, { "", BAD },
		{ "09:000", BAD }, { "-9:00", BAD },
	};

	(void)state;
	check(rows, NITEMS(rows), read_time);
}

static int
read_days(const char *s, int64_t *r, const char **why)
{
	unsigned	days = 0;
	int		status = value_days(s, &days, why);

	*r = days;
	return (status);
}

static void
days_may_be_listed_and_ranges_may_pass_sunday(void **state)
{
	static const struct row	rows[] = {
		{ "sun", 0x01 }, { "sat", 0x40 }, { "mon-fri", 0x3e },
		{ "sat,sun", 0x41 }, { "fri-mon", 0x63 }, { "daily", 0x7f },
		{ "Mon", 0x02 }, { "mon-mon", 0x02 }, { "mon-wed,fri", 0x2e },
		{ "", BAD }, { "mon-", BAD }, { "mon,", BAD }, { ",mon", BAD },
		{ "monday", BAD }, { "mon fri", BAD }, { "xyz", BAD },
		{ "mon-fri-sun", BAD }, { "daily,mon", BAD },
	};
	char	buf[32];

	(void)state;
	check(rows, NITEMS(rows), read_days);
	assert_string_equal(value_print_days(0x41, buf, sizeof buf), "sun,sat");
	assert_string_equal(value_print_days(0x7f, buf, sizeof buf), "daily");
	assert_string_equal(value_print_days(0x7e, buf, sizeof buf),
	    "mon,tue,wed,thu,fri,sat");
}

#define TEN(s)	s s s s s s s s s s
#define L63	TEN("abcdef") "abc"
#define L64	TEN("abcdef") "abcd"

static int
read_address(const char *s, int64_t *r, const char **why)
{
	*r = 0;
	return (value_address(s, why));
}

static void
an_address_that_mail_from_would_not_take_is_refused(void **state)
{
	static const struct row	rows[] = {
		{ "a@b", 0 }, { "probe@example.org", 0 },
		{ "canary+tag=x@example.org", 0 }, { "a.b.c@example.org", 0 },
		{ "\"a b\"@example.org", 0 }, { "\"a@b\"@example.org", 0 },
		{ "\"a\\\"b\"@example.org", 0 }, { "\"\"@example.org", 0 },
		{ "a@[192.0.2.1]", 0 }, { "a@[IPv6:2001:db8::1]", 0 },
		{ L64 "@example.org", 0 }, { "a@" L63 ".example", 0 },
		{ "a@xn--mnchen-3ya.example", 0 },
		{ "", BAD }, { "a", BAD }, { "@b", BAD }, { "a@", BAD },
		{ ".a@b", BAD }, { "a.@b", BAD }, { "a..b@b", BAD },
		{ "a b@c", BAD }, { "a@b c", BAD }, { "<a@b>", BAD },
		{ "a@b@c", BAD }, { "\"a@b", BAD }, { "\"a\\\"@b", BAD },
		{ "\"a\"b@c", BAD }, { "a@b.", BAD }, { "a@.b", BAD },
		{ "a@b..c", BAD }, { "a@-b", BAD }, { "a@b-", BAD },
		{ "a@b_c.example", BAD }, { "a@192.0.2.1", BAD },
		{ "a@[192.0.2.256]", BAD }, { "a@[2001:db8::1]", BAD },
		{ "a@[IPv6:192.0.2.1]", BAD }, { "a@[]", BAD }, { "a@[", BAD },
		{ "a@[IPv6:]", BAD },
		{ "a\r\nRCPT TO:<x@y>@b", BAD }, { "a@b\r\nDATA", BAD },
		{ "a@b\n", BAD }, { "a@b\t", BAD }, { "a\x7f@b", BAD },
		{ "m\xc3\xbcller@b", BAD }, { "a@m\xc3\xbcnchen.example", BAD },
		{ L64 "x@example.org", BAD }, { "a@" L64 ".example", BAD },
		{ "a@" L63 "." L63 "." L63 "." L63 ".example", BAD },
	};

	(void)state;
	check(rows, NITEMS(rows), read_address);
	assert_string_equal(value_address_domain("a@b.c"), "b.c");
	assert_string_equal(value_address_domain("\"x@y\"@b.c"), "b.c");
	assert_string_equal(value_address_domain(""), "");
}

static int
read_host(const char *s, int64_t *r, const char **why)
{
	*r = 0;
	return (value_host(s, why));
}

static void
a_host_is_a_name_or_an_address_without_brackets(void **state)
{
	static const struct row	rows[] = {
		{ "localhost", 0 }, { "smtp.example.org", 0 },
		{ "mx_1.example.org", 0 }, { "192.0.2.1", 0 },
		{ "2001:db8::1", 0 }, { "::1", 0 }, { "3com.example", 0 },
		{ "", BAD }, { "[::1]", BAD }, { "192.0.2.256", BAD },
		{ "192.0.2", BAD }, { "1:2", BAD }, { "host:25", BAD },
		{ "a b", BAD }, { "a..b", BAD }, { "a.", BAD },
		{ "-a", BAD }, { "a/b", BAD }, { "a\nb", BAD },
		{ "m\xc3\xbcnchen.example", BAD }, { L64 ".example", BAD },
	};

	(void)state;
	check(rows, NITEMS(rows), read_host);
}

static int
read_host_port(const char *s, int64_t *r, const char **why)
{
	char		host[256] = "";
	uint16_t	port = 0;
	int		status = value_host_port(s, host, &port, why);

	*r = port;
	return (status);
}

static void
a_host_and_port_are_parted_at_the_last_colon(void **state)
{
	static const struct row	rows[] = {
		{ "127.0.0.1:9725", 9725 }, { "[::1]:53", 53 },
		{ "resolver.example:5353", 5353 }, { "a:65535", 65535 },
		{ "a:65536", BAD }, { "a:0", BAD }, { "a:", BAD },
		{ ":25", BAD }, { "a", BAD }, { "::1:53", BAD },
		{ "[::1]", BAD }, { "[::1]53", BAD }, { "[127.0.0.1]:53", BAD },
		{ "[]:53", BAD }, { "[::1:53", BAD }, { "a:025", BAD },
		{ "a:smtp", BAD }, { "[]", BAD }, { "", BAD }, { "[:1", BAD },
	};
	const char	*why;
	char		 host[256];
	uint16_t	 port;

	(void)state;
	check(rows, NITEMS(rows), read_host_port);
	assert_int_equal(value_host_port("[2001:db8::1]:53", host, &port, &why),
	    0);
	assert_string_equal(host, "2001:db8::1");
}

static int
read_ip(const char *s, int64_t *r, const char **why)
{
	bool	v6 = false;
	int	status = value_ip(s, &v6, why);

	*r = v6 ? 6 : 4;
	return (status);
}

static void
an_ip_address_tells_its_family(void **state)
{
	static const struct row	rows[] = {
		{ "192.0.2.1", 4 }, { "::", 6 }, { "2001:db8::1", 6 },
		{ "::ffff:192.0.2.1", 6 }, { "192.0.2.01", BAD },
		{ "192.0.2", BAD }, { "localhost", BAD }, { "", BAD },
		{ "fe80::1%eth0", BAD }, { "[::1]", BAD },
	};

	(void)state;
	check(rows, NITEMS(rows), read_ip);
}

static int
read_name(const char *s, int64_t *r, const char **why)
{
	*r = 0;
	return (value_name(s, why));
}

static int
read_instance(const char *s, int64_t *r, const char **why)
{
	*r = 0;
	return (value_instance(s, why));
}

static void
a_name_is_safe_in_a_log_line_and_a_file(void **state)
{
	static const struct row	names[] = {
		{ "gmail", 0 }, { "a.b-c_D9", 0 }, { L64, 0 },
		{ L64 "x", BAD }, { "", BAD }, { "a b", BAD }, { "a/b", BAD },
		{ "a\"", BAD }, { "a\n", BAD }, { "\xc3\xbc", BAD },
	};
	static const struct row	instances[] = {
		{ "probe1", 0 }, { "a-b", 0 },
		{ "abcdefghijklmnopqrstuvwxyz012345", 0 },
		{ "abcdefghijklmnopqrstuvwxyz0123456", BAD },
		{ "Probe", BAD }, { "a.b", BAD }, { "a_b", BAD }, { "", BAD },
	};

	(void)state;
	check(names, NITEMS(names), read_name);
	check(instances, NITEMS(instances), read_instance);
}

static void
a_bool_is_a_word_in_any_case(void **state)
{
	const char	*why;
	bool		 r = false;

	(void)state;
	assert_int_equal(value_bool("Yes", &r, &why), 0);
	assert_true(r);
	assert_int_equal(value_bool("off", &r, &why), 0);
	assert_false(r);
	assert_int_equal(value_bool("true", &r, &why), 0);
	assert_true(r);
	assert_int_equal(value_bool("1", &r, &why), -1);
	assert_int_equal(value_bool("", &r, &why), -1);
	assert_true(r);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(a_span_is_one_number_and_one_unit),
		cmocka_unit_test(a_span_prints_so_that_it_reads_the_same),
		cmocka_unit_test(
		    a_number_with_a_leading_zero_is_refused_not_taken_for_octal),
		cmocka_unit_test(a_size_counts_in_powers_of_1024),
		cmocka_unit_test(a_time_of_day_has_two_digits_each),
		cmocka_unit_test(days_may_be_listed_and_ranges_may_pass_sunday),
		cmocka_unit_test(
		    an_address_that_mail_from_would_not_take_is_refused),
		cmocka_unit_test(
		    a_host_is_a_name_or_an_address_without_brackets),
		cmocka_unit_test(a_host_and_port_are_parted_at_the_last_colon),
		cmocka_unit_test(an_ip_address_tells_its_family),
		cmocka_unit_test(a_name_is_safe_in_a_log_line_and_a_file),
		cmocka_unit_test(a_bool_is_a_word_in_any_case),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
