#include "monitor/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "monitor/clock.h"
#include "monitor/text.h"

#define LOG_LINE	2048

static enum { TO_STDERR, TO_SYSLOG, TO_JOURNAL } target = TO_STDERR;
static const char *name = "mailflowd";

static const struct level {
	int		 priority;	/* syslog(3), and the journal's <n> */
	const char	*word;
} levels[] = {
	[LOG_LEVEL_ERROR]	= { LOG_ERR, "error: " },
	[LOG_LEVEL_WARN]	= { LOG_WARNING, "warning: " },
	[LOG_LEVEL_INFO]	= { LOG_INFO, "" },
	[LOG_LEVEL_DEBUG]	= { LOG_DEBUG, "debug: " },
};

void
log_open(const char *where, const char *program)
{
	name = program;
	if (strcmp(where, "syslog") == 0) {
		openlog(name, LOG_PID, LOG_DAEMON);
		target = TO_SYSLOG;
	} else if (strcmp(where, "journal") == 0)
		target = TO_JOURNAL;
	else
		target = TO_STDERR;
}

static void __attribute__((format(printf, 2, 0)))
emit(enum log_level level, const char *fmt, va_list ap)
{
	const struct level	*l = &levels[level];
	char			 raw[LOG_LINE], line[LOG_LINE];
	char			 when[CLOCK_RFC3339];

	vsnprintf(raw, sizeof raw, fmt, ap);
	text_clean(line, sizeof line, raw, strlen(raw));
	switch (target) {
	case TO_SYSLOG:
		syslog(l->priority, "%s%s", l->word, line);
		break;
	case TO_JOURNAL:
		fprintf(stderr, "<%d>%s%s\n", l->priority, l->word, line);
		break;
	case TO_STDERR:
		fprintf(stderr, "%s %s: %s%s\n",
		    clock_rfc3339(clock_now().wall_ms, when), name, l->word,
		    line);
		break;
	}
}

void
log_at(enum log_level level, const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	emit(level, fmt, ap);
	va_end(ap);
}

void
log_error(const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
}

void
log_warn(const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_WARN, fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_INFO, fmt, ap);
	va_end(ap);
}
