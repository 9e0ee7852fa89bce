/* mailflowctl explain: what a reply means. */
#include "monitor/ctl_explain.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "mailboxes/bounce.h"
#include "monitor/explain.h"
#include "monitor/mem.h"
#include "monitor/text.h"

struct options {
	enum stage	 stage;
	bool		 tsv;
	const char	*message;	/* borrowed: argv; NULL: none */
};

static int
usage(void)
{
	fputs("usage: mailflowctl explain [--stage STAGE] REPLY...\n"
	    "       mailflowctl explain --tsv < LINES\n"
	    "       mailflowctl explain --message FILE [--tsv]\n"
	    "stages: greeting ehlo starttls auth mail rcpt data dot quit\n",
	    stderr);
	return (EX_USAGE);
}

/* -1: usage was printed. */
static int
read_options(int argc, char **argv, struct options *o)
{
	static const struct option	longs[] = {
		{ "stage", required_argument, NULL, 's' },
		{ "tsv", no_argument, NULL, 't' },
		{ "message", required_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	int				c;

	*o = (struct options){ .stage = STAGE_NONE };
	optind = 0;	/* the caller has read its own options */
	while ((c = getopt_long(argc, argv, "+s:tm:", longs, NULL)) != -1) {
		if (c == 's') {
			o->stage = stage_of(optarg);
			if (o->stage == STAGE_NONE && strcmp(optarg, "-") != 0)
				return (usage(), -1);
		} else if (c == 't') {
			o->tsv = true;
		} else if (c == 'm') {
			o->message = optarg;
		} else {
			return (usage(), -1);
		}
	}
	return (0);
}

/*
 * Reads one line; what is longer than size is read and dropped.  -1 at the
 * end of the file, else its length.
 */
static long
read_line(FILE *f, char *line, size_t size)
{
	size_t	len = 0;
	int	c;

	while ((c = getc(f)) != EOF && c != '\n')
		if (len < size)
			line[len++] = (char)c;
	return (c == EOF && len == 0 ? -1 : (long)len);
}

/* Each line is answered, also one that has a fault. */
static int
explain_lines(FILE *in, FILE *out)
{
	char		*line = mem_alloc(EXPLAIN_INPUT), answer[EXPLAIN_LINE];
	const char	*fault;
	long		 len;
	int		 rc = 0;

	for (size_t n = 1; (len = read_line(in, line,
	    EXPLAIN_INPUT)) != -1; n++) {
		fault = explain_tsv_fault(line, (size_t)len);
		if (fault != NULL) {
			fprintf(stderr, "mailflowctl: line %zu: %s\n", n,
			    fault);
			rc = EX_DATAERR;
		}
		explain_tsv_line(line, (size_t)len, answer, sizeof answer);
		fprintf(out, "%s\n", answer);
		fflush(out);
	}
	mem_free(line);
	return (ferror(in) ? EX_NOINPUT : rc);
}

static int
explain_file(const char *name, bool tsv, FILE *out)
{
	FILE	*f = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
	char	*message;
	size_t	 len, at;
	int	 rc = 0;

	if (f == NULL) {
		perror(name);
		return (EX_NOINPUT);
	}
	message = mem_alloc(BOUNCE_INPUT);
	len = fread(message, 1, BOUNCE_INPUT, f);
	if (ferror(f)) {
		perror(name);
		rc = EX_NOINPUT;
	} else {
		/* Who saves a mail by hand leaves lines before it. */
		for (at = 0; at < len && memchr("\r\n\t ", message[at], 4) !=
		    NULL;)
			at++;
		explain_message(message + at, len - at, tsv, out);
	}
	mem_free(message);
	if (f != stdin)
		fclose(f);
	return (rc);
}

/* The reply may come as one argument or as several words. */
static int
explain_words(int argc, char **argv, enum stage stage, FILE *out)
{
	char	*reply = mem_alloc(EXPLAIN_INPUT);
	int	 i;

	for (i = 0; i < argc; i++) {
		if (i > 0)
			text_append(reply, EXPLAIN_INPUT, " ");
		text_append(reply, EXPLAIN_INPUT, argv[i]);
	}
	explain_print(stage, reply, out);
	mem_free(reply);
	return (0);
}

int
explain_main(int argc, char **argv)
{
	struct options	o;
	int		rc;

	if (read_options(argc, argv, &o) == -1)
		return (EX_USAGE);
	argc -= optind;
	argv += optind;
	if (o.message != NULL && argc == 0 && o.stage == STAGE_NONE)
		rc = explain_file(o.message, o.tsv, stdout);
	else if (o.message == NULL && o.tsv && argc == 0 &&
	    o.stage == STAGE_NONE)
		rc = explain_lines(stdin, stdout);
	else if (o.message == NULL && !o.tsv && argc > 0)
		rc = explain_words(argc, argv, o.stage, stdout);
	else
		return (usage());
	if (fflush(stdout) != 0 && rc == 0)
		rc = EX_IOERR;
	return (rc);
}
