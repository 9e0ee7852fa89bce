#include "alerts/cap.h"

#include <stdio.h>

/* The hour's beginning is the fact's value; "told kept" its text. */
#define KIND	"cap"

struct hour {
	int64_t		since_ms;
	unsigned	told, kept;
};

static int
load(struct store *s, const char *alerts, struct hour *h)
{
	char	text[64] = "";
	int	rc;

	*h = (struct hour){ 0 };
	rc = store_fact_get(s, KIND, alerts, &h->since_ms, text, sizeof text);
	if (rc == 1 && sscanf(text, "%u %u", &h->told, &h->kept) != 2)
		*h = (struct hour){ 0 };
	return (rc == -1 ? -1 : 0);
}

static int
save(struct store *s, const char *alerts, const struct hour *h)
{
	char	text[64];

	snprintf(text, sizeof text, "%u %u", h->told, h->kept);
	return (store_fact_put(s, KIND, alerts, h->since_ms, text));
}

int
cap_take(struct store *s, const char *alerts, int64_t now_ms)
{
	struct hour	h;

	if (load(s, alerts, &h) == -1)
		return (-1);
	/* What is kept must be told before a new hour begins. */
	if (h.kept == 0 && now_ms - h.since_ms >= CAP_HOUR_MS)
		h = (struct hour){ .since_ms = now_ms };
	if (h.told < CAP_NOTICES && h.kept == 0) {
		h.told++;
		return (save(s, alerts, &h) == -1 ? -1 : 1);
	}
	h.kept++;
	return (save(s, alerts, &h));
}

int64_t
cap_due_ms(struct store *s, const char *alerts, int64_t *since_ms_r)
{
	struct hour	h;

	if (load(s, alerts, &h) == -1 || h.kept == 0)
		return (0);
	*since_ms_r = h.since_ms;
	return (h.since_ms + CAP_HOUR_MS);
}

int
cap_reset(struct store *s, const char *alerts, int64_t now_ms)
{
	return (save(s, alerts, &(struct hour){ .since_ms = now_ms }));
}
