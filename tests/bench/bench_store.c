#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "monitor/clock.h"
#include "monitor/csv.h"
#include "monitor/store.h"
#include "monitor/text.h"

/*
 * What the store costs: the life of a lone probe is four commits (made,
 * body allowed, outcome, arrival) and two CSV rows.  Prints wall time and
 * CPU per probe, without and with the CSV.
 *
 *	bench_store DIRECTORY [PROBES]
 */

static int64_t
cpu_us(void)
{
	struct rusage	r;

	getrusage(RUSAGE_SELF, &r);
	return ((r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
	    r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void
must(int rc, struct store *s)
{
	if (rc != -1)
		return;
	fprintf(stderr, "%s\n", store_error(s));
	exit(1);
}

static void
end_turn(struct store *s, struct csv *c)
{
	if (c != NULL)
		must(csv_flush(c), s);
	must(store_commit(s), s);
}

static void
live(struct store *s, struct csv *c, const struct probe *model, int n)
{
	struct frame_arrival	a = { .uid = (uint32_t)n, .folder = "INBOX",
				    .is_probe = true, .hops = 2 };
	struct probe		p = *model;
	struct outcome		o;

	outcome_init(&o);
	o.verdict = VERDICT_ACCEPTED;
	o.class = CLASS_ACCEPTED;
	o.started = p.first_attempt;
	o.finished = p.accepted;
	snprintf(p.token, sizeof p.token, "mf1%08x%025d",
	    (unsigned)n * 2654435761U, n);
	p.state = PROBE_SENDING;
	must(store_probe_put(s, &p), s);
	end_turn(s, c);
	p.state = PROBE_COMMITTED;
	must(store_probe_put(s, &p), s);
	end_turn(s, c);
	p.state = PROBE_ACCEPTED;
	must(store_probe_put(s, &p), s);
	must(store_attempt_put(s, &p, &o), s);
	if (c != NULL)
		csv_attempt(c, &p, &o, "outbound");
	end_turn(s, c);
	p.state = PROBE_DONE;
	p.end = PROBE_END_DELIVERED;
	must(store_probe_put(s, &p), s);
	text_copy(a.token, sizeof a.token, p.token);
	must(store_arrival_put(s, "gmail", &a), s);
	if (c != NULL)
		csv_latency(c, &p);
	end_turn(s, c);
}

static void
run(const char *name, struct store *s, struct csv *c, int first, int count)
{
	struct stamp	 now = clock_now();
	struct probe	 p;
	int64_t		 wall, cpu;

	probe_init(&p);
	text_copy(p.route, sizeof p.route, "office-to-gmail");
	text_copy(p.server, sizeof p.server, "outbound");
	text_copy(p.mailbox, sizeof p.mailbox, "gmail");
	text_copy(p.from, sizeof p.from, "probe@example.org");
	text_copy(p.to, sizeof p.to, "canary@example.com");
	text_copy(p.reply, sizeof p.reply, "250 2.0.0 Ok: queued as 4Q0ABC");
	p.scheduled_ms = p.finished_ms = now.wall_ms;
	p.first_attempt = p.accepted = p.arrived = now;
	wall = clock_boot_ms();
	cpu = cpu_us();
	for (int i = first; i < first + count; i++)
		live(s, c, &p, i);
	printf("%s: %d probes, %.3f ms wall, %.3f ms CPU per probe, "
	    "%.2f commits\n", name, count,
	    (double)(clock_boot_ms() - wall) / count,
	    (double)(cpu_us() - cpu) / 1000 / count,
	    (double)store_commits(s) / (first + count));
}

int
main(int argc, char **argv)
{
	char		 why[512], *path = NULL;
	int		 count = argc > 2 ? atoi(argv[2]) : 1000;
	struct store	*s;
	struct csv	*c;

	if (argc < 2 || count < 1) {
		fprintf(stderr, "usage: bench_store DIRECTORY [PROBES]\n");
		return (2);
	}
	s = store_open(argv[1], why, sizeof why);
	if (s == NULL || asprintf(&path, "%s/csv", argv[1]) == -1 ||
	    (c = csv_open(path, s, why, sizeof why)) == NULL) {
		fprintf(stderr, "%s\n", why);
		return (1);
	}
	run("store", s, NULL, 0, count);
	run("store and csv", s, c, count, count);
	csv_close(&c);
	store_close(&s);
	free(path);
	return (0);
}
