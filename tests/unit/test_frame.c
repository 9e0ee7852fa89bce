#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/frame.h"
#include "monitor/text.h"

static void
fill_outcome(struct frame_outcome *f)
{
	memset(f, 0, sizeof *f);
	outcome_init(&f->outcome);
	f->job = 0x1122334455667788;
	f->outcome.stage = STAGE_MAIL;
	f->outcome.class = CLASS_SYSTEM_FULL;
	f->outcome.verdict = VERDICT_TEMPORARY;
	f->outcome.code = 452;
	text_copy(f->outcome.enhanced, OUTCOME_ENHANCED, "4.3.1");
	text_copy(f->outcome.reply, OUTCOME_REPLY,
	    "452 4.3.1 Insufficient system storage");
	f->outcome.started.wall_ms = 1700000000123;
	f->outcome.started.boot_ms = 77;
	f->outcome.started.boot_id = UINT64_MAX;
	f->outcome.stage_ms[STAGE_MAIL] = 12;
}

static void
an_outcome_crosses_unchanged(void **state)
{
	static struct frame_outcome	in;
	static union frame_body		out;
	unsigned char			buf[FRAME_MAX];
	const char			*why = NULL;
	size_t				n;

	(void)state;
	fill_outcome(&in);
	n = frame_encode(buf, FRAME_OUTCOME, &in);
	assert_int_not_equal(n, 0);
	assert_int_equal(frame_decode(buf, n, &out, &why), FRAME_OUTCOME);
	assert_memory_equal(&out.outcome, &in, sizeof in);
}

static void
negative_numbers_survive(void **state)
{
	struct frame_arrival	in = { .id = 3, .hops = -1,
				    .slowest_hop_ms = STAMP_NO_SPAN,
				    .skew_ms = -5000 };
	static union frame_body	out;
	unsigned char		buf[FRAME_MAX];
	const char		*why = NULL;
	size_t			n;

	(void)state;
	n = frame_encode(buf, FRAME_ARRIVAL, &in);
	assert_int_equal(frame_decode(buf, n, &out, &why), FRAME_ARRIVAL);
	assert_int_equal(out.arrival.hops, -1);
	assert_true(out.arrival.slowest_hop_ms == STAMP_NO_SPAN);
	assert_true(out.arrival.skew_ms == -5000);
}

static void
every_cut_and_every_addition_is_refused(void **state)
{
	static struct frame_outcome	in;
	static union frame_body		out;
	unsigned char			buf[FRAME_MAX + 1];
	const char			*why;
	size_t				n;

	(void)state;
	fill_outcome(&in);
	n = frame_encode(buf, FRAME_OUTCOME, &in);
	for (size_t cut = 0; cut < n; cut++) {
		why = NULL;
		assert_int_equal(frame_decode(buf, cut, &out, &why), 0);
		assert_non_null(why);
	}
	buf[n] = 0;
	assert_int_equal(frame_decode(buf, n + 1, &out, &why), 0);
	assert_string_equal(why, "bytes left over");
}

static void
a_bad_frame_is_refused_with_its_reason(void **state)
{
	static const struct {
		size_t		 at;
		unsigned char	 byte;
		const char	*why;
	} rows[] = {
		{ 0, 0, "not a frame" },
		{ 2, FRAME_VERSION + 1, "another version" },
		{ 3, 0, "unknown type" },
		{ 3, FRAME_TYPES, "unknown type" },
		{ 12, 0xff, "number out of range" },	/* the stage */
	};
	static struct frame_outcome	in;
	static union frame_body		out;
	unsigned char			buf[FRAME_MAX];
	const char			*why;
	size_t				n;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fill_outcome(&in);
		n = frame_encode(buf, FRAME_OUTCOME, &in);
		buf[rows[i].at] = rows[i].byte;
		why = "";
		assert_int_equal(frame_decode(buf, n, &out, &why), 0);
		assert_string_equal(why, rows[i].why);
	}
}

static void
a_nul_inside_a_text_is_refused(void **state)
{
	struct frame_hello	in = { .pid = 1, .program = "abc",
				    .version = "1" };
	static union frame_body	out;
	unsigned char		buf[FRAME_MAX];
	const char		*why;
	size_t			n;

	(void)state;
	n = frame_encode(buf, FRAME_HELLO, &in);
	buf[4 + 8 + 2 + 1] = '\0';		/* the b of abc */
	assert_int_equal(frame_decode(buf, n, &out, &why), 0);
	assert_string_equal(why, "NUL in text");
}

/* Whatever the bytes, the decoder says no or gives terminated strings. */
static void
random_bytes_never_hurt(void **state)
{
	static union frame_body	out;
	unsigned char		buf[512];
	const char		*why;

	(void)state;
	srandom(1);
	for (int i = 0; i < 200000; i++) {
		size_t	n = 4 + (size_t)random() % (sizeof buf - 4);

		for (size_t k = 0; k < n; k++)
			buf[k] = (unsigned char)(random() % 8 == 0 ?
			    random() : 0);
		buf[0] = 'M';
		buf[1] = 'F';
		buf[2] = FRAME_VERSION;
		buf[3] = (unsigned char)(1 + random() % (FRAME_TYPES - 1));
		(void)frame_decode(buf, n, &out, &why);
	}
}

static void
the_largest_job_fits(void **state)
{
	static struct frame_job	in;
	unsigned char		buf[FRAME_MAX];

	(void)state;
	memset(in.message, 'm', sizeof in.message - 1);
	memset(in.secret, 's', sizeof in.secret - 1);
	memset(in.from, 'f', sizeof in.from - 1);
	memset(in.to, 't', sizeof in.to - 1);
	memset(in.ca_file, 'c', sizeof in.ca_file - 1);
	assert_int_not_equal(frame_encode(buf, FRAME_JOB, &in), 0);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(an_outcome_crosses_unchanged),
		cmocka_unit_test(negative_numbers_survive),
		cmocka_unit_test(every_cut_and_every_addition_is_refused),
		cmocka_unit_test(a_bad_frame_is_refused_with_its_reason),
		cmocka_unit_test(a_nul_inside_a_text_is_refused),
		cmocka_unit_test(random_bytes_never_hurt),
		cmocka_unit_test(the_largest_job_fits),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
