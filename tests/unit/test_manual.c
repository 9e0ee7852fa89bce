/* The manual says what the code does. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "alerts/episode.h"
#include "monitor/csv_row.h"
#include "monitor/mem.h"
#include "monitor/outcome.h"

static char	*manual;	/* mailflowd.8 */

static int
load(void **state)
{
	const char	*top = getenv("srcdir");
	char		*path = mem_printf("%s/man/mailflowd.8",
			    top != NULL ? top : ".");
	FILE		*f = fopen(path, "r");
	size_t		 len;

	(void)state;
	mem_free(path);
	if (f == NULL)
		return (-1);
	manual = mem_alloc(1 << 20);
	len = fread(manual, 1, (1 << 20) - 1, f);
	fclose(f);
	return (len > 0 ? 0 : -1);
}

static int
unload(void **state)
{
	(void)state;
	mem_free(manual);
	return (0);
}

/* Where the section of this heading begins. */
static const char *
section(const char *heading)
{
	char	*line = mem_printf("\n.S%s\n", heading);
	char	*at = strstr(manual, line);

	if (at == NULL)
		fail_msg("no section \"%s\"", heading);
	at += strlen(line);
	mem_free(line);
	return (at);
}

/* The next line of *at into buf without its newline; false at the end. */
static bool
next_line(const char **at, char *buf, size_t size)
{
	size_t	n = strcspn(*at, "\n");

	if (**at == '\0')
		return (false);
	snprintf(buf, size, "%.*s", (int)n, *at);
	*at += n + ((*at)[n] == '\n');
	return (true);
}

/* The rest of the next line that begins so, within the section. */
static bool
next_item(const char **at, const char *begins, char *buf, size_t size)
{
	char	line[512];

	while (next_line(at, line, sizeof line)) {
		if (strncmp(line, ".Sh", 3) == 0 ||
		    strncmp(line, ".Ss", 3) == 0)
			return (false);
		if (strncmp(line, begins, strlen(begins)) == 0) {
			snprintf(buf, size, "%s", line + strlen(begins));
			return (true);
		}
	}
	return (false);
}

static void
every_csv_column_is_described_in_its_order(void **state)
{
	static const struct {
		enum csv_kind	 kind;
		const char	*heading;
	} files[] = {
		{ CSV_LATENCY, "s latency-YYYY-MM-DD.csv" },
		{ CSV_ATTEMPTS, "s attempts-YYYY-MM-DD.csv" },
		{ CSV_EPISODES, "s episodes.csv" },
	};
	char	*header, *rest, *column, item[512];

	(void)state;
	for (size_t i = 0; i < NITEMS(files); i++) {
		const char	*at = section(files[i].heading);

		rest = header = mem_strdup(csv_header(files[i].kind));
		while ((column = strsep(&rest, ",\r\n")) != NULL) {
			if (*column == '\0')
				continue;
			assert_true(next_item(&at, ".It Va ", item,
			    sizeof item));
			assert_string_equal(item, column);
		}
		assert_false(next_item(&at, ".It Va ", item, sizeof item));
		mem_free(header);
	}
}

static void
every_class_is_described_in_its_order(void **state)
{
	const char	*at = section("s Classes");
	char		 item[512];

	(void)state;
	for (int c = CLASS_NONE + 1; c < CLASSES; c++) {
		assert_true(next_item(&at, ".It Cm ", item, sizeof item));
		assert_string_equal(item, class_name((enum outcome_class)c));
	}
	assert_false(next_item(&at, ".It Cm ", item, sizeof item));
}

/* The episode table. */

#define ROWS	64

struct row {
	char	state[16], event[16], condition[32], next[16], notices[64];
};

static size_t
read_table(struct row *rows)
{
	const char	*at = section("s Episodes");
	char		 item[512];
	size_t		 n = 0;

	while (n < ROWS && next_item(&at, ".It ", item, sizeof item)) {
		struct row	*r = &rows[n];

		if (sscanf(item, "%15s Ta %15s Ta %31[^T]Ta %15s Ta %63[^\n]",
		    r->state, r->event, r->condition, r->next,
		    r->notices) != 5)
			continue;
		r->condition[strlen(r->condition) - 1] = '\0';
		n++;
	}
	return (n);
}

/* The row that speaks of this cell when its condition holds, or does not. */
static const struct row *
row_of(const struct row *rows, size_t n, int state, int event, bool holds)
{
	const struct row	*unconditional = NULL;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].state, episode_state_name(
		    (enum episode_state)state)) != 0 ||
		    strcmp(rows[i].event, episode_event_name(
		    (enum episode_event)event)) != 0)
			continue;
		if (strcmp(rows[i].condition, "-") == 0)
			unconditional = &rows[i];
		else if (holds)
			return (&rows[i]);
	}
	return (unconditional);
}

/* An episode in which every condition holds, or none. */
static void
episode_with(struct episode *e, int state, bool by_signs, bool holds)
{
	memset(e, 0, sizeof *e);
	e->class = CLASS_NETWORK;
	e->state = (enum episode_state)state;
	e->origin = by_signs ? EPISODE_BY_AGE : EPISODE_BY_ATTEMPT;
	e->misses = holds ? 10 : 0;
	e->accepts = holds ? 10 : 0;
	e->acked = !holds;
	e->first_miss_ms = 1;
	e->swings = state >= EPISODE_FAILING;
	e->opened_ms = state >= EPISODE_FAILING ? 1 : 0;
}

static unsigned
owed_by(const char *notices)
{
	unsigned	owes = 0;

	if (strstr(notices, "failing") != NULL)
		owes |= EPISODE_OWES_FAILING;
	if (strstr(notices, "reminder") != NULL)
		owes |= EPISODE_OWES_REMINDER;
	if (strstr(notices, "accepting") != NULL)
		owes |= EPISODE_OWES_ACCEPTING;
	if (strstr(notices, "delivered") != NULL)
		owes |= EPISODE_OWES_DELIVERED;
	if (strstr(notices, "unwatched") != NULL)
		owes |= EPISODE_OWES_UNWATCHED;
	return (owes);
}

static void
check_cell(const struct row *rows, size_t n, int state, int event, bool holds)
{
	static const struct episode_limits	lim = { 3, 0, 3, 1000 };
	const struct row	*r = row_of(rows, n, state, event, holds);
	const char		*next = r != NULL ? r->next :
				    episode_state_name(
				    (enum episode_state)state);
	bool			 by_signs = r != NULL &&
				    strcmp(r->condition, "by signs") == 0;
	struct episode		 e;
	unsigned		 owes;

	episode_with(&e, state, by_signs, holds);
	owes = episode_step(&e, (enum episode_event)event, &lim, 100000);
	if (strcmp(episode_state_name(e.state), next) != 0 ||
	    owes != (r != NULL ? owed_by(r->notices) : 0))
		fail_msg("%s, %s, %s: becomes %s, owes %#x", episode_state_name(
		    (enum episode_state)state), episode_event_name(
		    (enum episode_event)event), holds ? "holds" : "does not",
		    episode_state_name(e.state), owes);
}

/*
 * A doubt ends with its first accept whatever the count: there is no way in
 * which "enough accepts" does not hold but that accepts cannot be seen.
 */
static bool
always_holds(int state, int event)
{
	return (state == EPISODE_SUSPECT && event == EPISODE_EV_ACCEPT);
}

static void
the_episode_table_is_that_of_the_code(void **state)
{
	struct row	rows[ROWS];
	size_t		n = read_table(rows);

	(void)state;
	assert_int_equal(n, 14);
	for (int s = 0; s < EPISODE_STATES; s++)
		for (int event = 0; event < EPISODE_EVENTS; event++) {
			check_cell(rows, n, s, event, true);
			if (!always_holds(s, event))
				check_cell(rows, n, s, event, false);
		}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(every_csv_column_is_described_in_its_order),
		cmocka_unit_test(every_class_is_described_in_its_order),
		cmocka_unit_test(the_episode_table_is_that_of_the_code),
	};

	return (cmocka_run_group_tests(tests, load, unload));
}
