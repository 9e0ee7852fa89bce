#include "monitor/strain.h"

#include <stdlib.h>
#include <string.h>

#define TIMES		5
#define BEYOND_MS	2000

void
strain_note(struct strain *s, int32_t greeting_ms)
{
	if (greeting_ms < 0)
		return;
	s->ms[s->next] = greeting_ms;
	s->next = (s->next + 1) % STRAIN_SAMPLES;
	if (s->count < STRAIN_SAMPLES)
		s->count++;
}

static int
by_size(const void *a, const void *b)
{
	const int32_t	*x = a, *y = b;

	return ((*x > *y) - (*x < *y));
}

int32_t
strain_usual_ms(const struct strain *s)
{
	int32_t	sorted[STRAIN_SAMPLES];

	if (s->count < STRAIN_FEWEST)
		return (-1);
	memcpy(sorted, s->ms, sizeof sorted);
	qsort(sorted, s->count, sizeof *sorted, by_size);
	return (sorted[s->count / 2]);
}

bool
strain_is_slow(const struct strain *s, int32_t greeting_ms)
{
	int64_t	usual_ms = strain_usual_ms(s);

	return (usual_ms >= 0 && greeting_ms > TIMES * usual_ms &&
	    greeting_ms > usual_ms + BEYOND_MS);
}
