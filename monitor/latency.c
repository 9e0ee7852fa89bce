#include "monitor/latency.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

static int64_t
span(struct latency *l, const struct stamp *from, const struct stamp *to)
{
	bool	exact;
	int64_t	ms = stamp_span_ms(from, to, &exact);

	if (ms != STAMP_NO_SPAN && !exact)
		l->wall_clock = true;
	return (ms);
}

/* In an uncertain probe the stamp is that of the dot: no 250 ever came. */
struct stamp
latency_accepted(const struct probe *p)
{
	return (p->class == CLASS_UNCERTAIN ? (struct stamp){ 0 } :
	    p->accepted);
}

void
latency_of(const struct probe *p, struct latency *l)
{
	struct stamp	accepted = latency_accepted(p);

	*l = (struct latency){ 0 };
	l->total_ms = span(l, &p->first_attempt, &p->arrived);
	l->accept_ms = span(l, &p->first_attempt, &accepted);
	l->transit_ms = span(l, &accepted, &p->arrived);
}

static bool
has_word(const char *note, const char *word)
{
	size_t	n = strlen(word);

	for (const char *p = note; (p = strstr(p, word)) != NULL; p++)
		if ((p == note || p[-1] == ' ') &&
		    (p[n] == ' ' || p[n] == '\0'))
			return (true);
	return (false);
}

void
latency_note(char *note, size_t size, const char *word)
{
	if (*word == '\0' || has_word(note, word))
		return;
	if (*note != '\0')
		text_append(note, size, " ");
	text_append(note, size, word);
}

void
latency_notes(const struct latency *l, char *note, size_t size)
{
	if (l->wall_clock)
		latency_note(note, size, "wall-clock");
	if (l->transit_ms != STAMP_NO_SPAN && l->transit_ms < 0)
		latency_note(note, size, "arrived-before-250");
}

/* The result of one method, "method=word" with nothing before it. */
static void
note_result(char *note, size_t size, const char *results, const char *method)
{
	const char	*p = results;
	char		 word[32] = "";
	size_t		 n = strlen(method), len;

	for (; (p = strcasestr(p, method)) != NULL; p += n)
		if ((p == results || strchr(" ;\t", p[-1]) != NULL) &&
		    p[n] == '=')
			break;
	if (p == NULL)
		return;
	len = strspn(p + n + 1, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	if (len == 0 || len > 16)
		return;
	(void)text_appendf(word, sizeof word, "%s=%.*s", method, (int)len,
	    p + n + 1);
	latency_note(note, size, word);
}

void
latency_authentication(char *note, size_t size, const char *auth_results)
{
	static const char	*const methods[] = { "spf", "dkim", "dmarc" };

	for (size_t i = 0; i < NITEMS(methods); i++)
		note_result(note, size, auth_results, methods[i]);
}

/*
 * The stamp of a wall time shortly before seen: BOOTTIME is reckoned back
 * from seen, but only within one boot and never before the last look.
 */
static struct stamp
back_from(const struct stamp *seen, const struct stamp *last, int64_t wall_ms)
{
	struct stamp	s = { .wall_ms = wall_ms };

	if (last->wall_ms == 0 || seen->boot_id != last->boot_id)
		return (s);
	s.boot_id = seen->boot_id;
	s.boot_ms = seen->boot_ms - (seen->wall_ms - wall_ms);
	if (s.boot_ms < last->boot_ms)
		s.boot_ms = last->boot_ms;
	return (s);
}

const char *
latency_arrived(const struct frame_arrival *a, int64_t poll_ms,
    struct stamp *arrived_r)
{
	int64_t	gap = stamp_span_ms(&a->last_look, &a->seen, NULL);

	*arrived_r = a->seen;
	if (gap != STAMP_NO_SPAN && gap <= 2 * poll_ms)
		return ("");
	if (a->internal_ms == 0)
		return ("seen-after-gap");
	if (a->internal_ms >= a->seen.wall_ms)
		return ("internaldate");
	*arrived_r = a->last_look.wall_ms != 0 &&
	    a->internal_ms <= a->last_look.wall_ms ? a->last_look :
	    back_from(&a->seen, &a->last_look, a->internal_ms);
	return ("internaldate");
}

static int
by_value(const void *a, const void *b)
{
	int64_t	x = *(const int64_t *)a, y = *(const int64_t *)b;

	return ((x > y) - (x < y));
}

/* The least value that at least percent of all are not above. */
static int64_t
nearest_rank(const int64_t *sorted, size_t count, size_t percent)
{
	return (sorted[(count * percent + 99) / 100 - 1]);
}

void
latency_summarise(int64_t *ms, size_t count, struct latency_summary *s)
{
	*s = (struct latency_summary){
		.count = count,
		.p50_ms = STAMP_NO_SPAN,
		.p95_ms = STAMP_NO_SPAN,
		.max_ms = STAMP_NO_SPAN,
	};
	if (count == 0)
		return;
	qsort(ms, count, sizeof *ms, by_value);
	s->p50_ms = nearest_rank(ms, count, 50);
	s->p95_ms = nearest_rank(ms, count, 95);
	s->max_ms = ms[count - 1];
}
