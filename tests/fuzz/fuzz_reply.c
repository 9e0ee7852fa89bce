/*
 * Any bytes as a reply: read, classified, printed and explained.  The first
 * byte is the stage.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/classify.h"
#include "monitor/explain.h"
#include "monitor/reason.h"
#include "monitor/reply.h"
#include "monitor/text.h"

#define CHECK(what)	do { if (!(what)) abort(); } while (0)

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_reply(enum stage stage, const char *bytes, size_t len)
{
	struct reply	r, again;
	struct meaning	m;
	char		text[REPLY_TEXT + 32];

	reply_parse(&r, bytes, len);
	CHECK(r.code == 0 || (r.code >= 200 && r.code < 600));
	CHECK(strnlen(r.text, sizeof r.text) < sizeof r.text);
	CHECK(!text_has_controls(r.text));
	CHECK(strlen(r.enhanced) < sizeof r.enhanced);
	m = classify(stage, &r);
	CHECK(m.class > CLASS_NONE && m.class < CLASSES);
	CHECK(m.verdict > VERDICT_NONE && m.verdict < VERDICTS);
	if (r.code >= 400)
		CHECK((m.verdict == VERDICT_PERMANENT) == (r.code >= 500));
	CHECK(classify_row(stage, &r) < classify_rows());
	CHECK(reply_print(&r, text, sizeof text) < sizeof text);
	if (r.code != 0) {
		/* What we print we can read. */
		reply_parse(&again, text, strlen(text));
		CHECK(again.code == r.code);
		if (r.enhanced[0] != '\0')
			CHECK(strcmp(again.enhanced, r.enhanced) == 0);
	}
	CHECK(*reason_meaning(m.class, m.verdict, r.enhanced) != '\0');
	(void)reason_code(r.enhanced);
}

static void
check_explain(enum stage stage, const char *bytes, size_t len)
{
	char	line[EXPLAIN_LINE], text[EXPLAIN_TEXT], *string;
	size_t	n, tabs = 0;

	n = explain_tsv_line(bytes, len, line, sizeof line);
	CHECK(n == strlen(line) && n < sizeof line - 1);
	for (size_t i = 0; i < n; i++) {
		CHECK(line[i] >= ' ' || line[i] == '\t');
		tabs += line[i] == '\t';
	}
	CHECK(tabs == 4);
	string = calloc(1, len + 1);
	CHECK(string != NULL);
	memcpy(string, bytes, len);
	CHECK(explain_text(stage, string, text, sizeof text));
	free(string);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum stage	stage = STAGE_NONE;

	if (size > 0) {
		stage = (enum stage)(data[0] % STAGES);
		data++, size--;
	}
	check_reply(stage, (const char *)data, size);
	check_explain(stage, (const char *)data, size);
	return (0);
}
