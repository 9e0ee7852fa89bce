#include "monitor/config_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/mem.h"
#include "monitor/text.h"
#include "monitor/value.h"

/*
 * What each type of value is in the file and in its struct: one row per
 * type with a reader, a printer and what frees it.
 */

/* What a reader gets besides the values, and where it says why not. */
struct reading {
	const struct option	*option;
	const char		*folder;
	char			*why;
	size_t			 whysize;
};

#define ZONES	"/usr/share/zoneinfo"

static int	refuse(struct reading *, const char *, ...)
		    __attribute__((format(printf, 2, 3)));

static int
refuse(struct reading *r, const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	vsnprintf(r->why, r->whysize, fmt, ap);
	va_end(ap);
	return (-1);
}

/*
 * Refuses a value and shows it, for the line alone may not tell which it is.
 */
static int
refuse_value(struct reading *r, const char *value, const char *why)
{
	char	shown[64];

	text_clean(shown, sizeof shown, value, strlen(value));
	return (refuse(r, "\"%s\": %s", shown, why));
}

/* Strings: an owned char *. */

static void
store(void *field, const char *s)
{
	*(char **)field = mem_strdup(s);
}

static void
print_quoted(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		/* "$" might begin the name of an environment variable. */
		if (strchr("\"\\$", *s) != NULL)
			fputc('\\', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

static void
print_string(const struct option *o, const void *field, FILE *f)
{
	(void)o;
	print_quoted(f, *(char *const *)field);
}

static void
free_string(void *field)
{
	mem_free(*(char **)field);
	*(char **)field = NULL;
}

/* A test of value.h; an empty string means "not set" and passes. */
typedef int	(*test)(const char *, const char **why_r);

static int
read_tested(struct reading *r, const char *value, void *field, test passes)
{
	const char	*why;

	if (*value != '\0' && passes(value, &why) == -1)
		return (refuse_value(r, value, why));
	store(field, value);
	return (0);
}

static int
test_string(const char *s, const char **why_r)
{
	*why_r = "has a control character";
	return (text_has_controls(s) ? -1 : 0);
}

static int
test_ip(const char *s, const char **why_r)
{
	return (value_ip(s, NULL, why_r));
}

static int
test_host_port(const char *s, const char **why_r)
{
	char		host[256];
	uint16_t	port;

	return (value_host_port(s, host, &port, why_r));
}

static int
test_credential(const char *s, const char **why_r)
{
	*why_r = "is not a file name";
	return (strchr(s, '/') != NULL || strcmp(s, ".") == 0 ||
	    strcmp(s, "..") == 0 || text_has_controls(s) ? -1 : 0);
}

/* A time of day that stays a string, "" for never. */
static int
test_time(const char *s, const char **why_r)
{
	int	minutes;

	return (value_time_of_day(s, &minutes, why_r));
}

/* A name below the zone files; where there are none, any name-like word. */
static int
test_timezone(const char *s, const char **why_r)
{
	char	path[256];

	*why_r = "no such time zone";
	if (strcmp(s, "UTC") == 0)
		return (0);
	if (*s == '/' || strstr(s, "..") != NULL || strlen(s) > 64 ||
	    text_has_controls(s))
		return (-1);
	if (access(ZONES, R_OK) == -1)
		return (0);
	snprintf(path, sizeof path, "%s/%s", ZONES, s);
	return (access(path, R_OK));
}

/* What is wrong is said without the value: a command may hold a secret. */
static int
read_string(struct reading *r, char *const *values, size_t n, void *field)
{
	const char	*why;

	(void)n;
	if (test_string(values[0], &why) == -1)
		return (refuse(r, "%s", why));
	store(field, values[0]);
	return (0);
}

static int
read_path(struct reading *r, char *const *values, size_t n, void *field)
{
	const char	*path = values[0], *why;

	(void)n;
	if (test_string(path, &why) == -1)
		return (refuse_value(r, path, why));
	if (*path == '\0' || *path == '/')
		store(field, path);
	else
		*(char **)field = mem_printf("%s/%s", r->folder, path);
	return (0);
}

#define READ_TESTED(name, passes)					\
static int								\
name(struct reading *r, char *const *values, size_t n, void *field)	\
{									\
	(void)n;							\
	return (read_tested(r, values[0], field, passes));		\
}

READ_TESTED(read_host, value_host)
READ_TESTED(read_ip, test_ip)
READ_TESTED(read_host_port, test_host_port)
READ_TESTED(read_address, value_address)
READ_TESTED(read_instance, value_instance)
READ_TESTED(read_credential, test_credential)
READ_TESTED(read_timezone, test_timezone)
READ_TESTED(read_time_or_none, test_time)

/* Words */

static int
word_index(struct reading *r, const char *value)
{
	const char *const	*w = r->option->words;
	char			 must[160] = "must be ";
	int			 i;

	for (i = 0; w[i] != NULL; i++)
		if (*value != '\0' && strcmp(w[i], value) == 0)
			return (i);
	for (i = 0; w[i] != NULL; i++)
		if (w[i][0] != '\0')
			text_appendf(must, sizeof must, "%s%s", i == 0 ? "" :
			    w[i + 1] == NULL ? " or " : ", ", w[i]);
	return (refuse_value(r, value, must));
}

static int
read_word(struct reading *r, char *const *values, size_t n, void *field)
{
	int	i = word_index(r, values[0]);

	(void)n;
	if (i == -1)
		return (-1);
	store(field, r->option->words[i]);
	return (0);
}

/* All enums of route.h begin at 0 and are as wide as this. */
_Static_assert(sizeof(enum tls_mode) == sizeof(unsigned), "width of an enum");

static int
read_enum(struct reading *r, char *const *values, size_t n, void *field)
{
	int		i = word_index(r, values[0]);
	unsigned	member = (unsigned)i;

	(void)n;
	if (i == -1)
		return (-1);
	memcpy(field, &member, sizeof member);
	return (0);
}

static void
print_enum(const struct option *o, const void *field, FILE *f)
{
	unsigned	member;

	memcpy(&member, field, sizeof member);
	print_quoted(f, o->words[member]);
}

static int
read_bool(struct reading *r, char *const *values, size_t n, void *field)
{
	const char	*why;

	(void)n;
	if (value_bool(values[0], field, &why) == -1)
		return (refuse_value(r, values[0], why));
	return (0);
}

static void
print_bool(const struct option *o, const void *field, FILE *f)
{
	(void)o;
	fputs(*(const bool *)field ? "true" : "false", f);
}

/* Numbers, sizes and spans */

static int
within(struct reading *r, const char *value, int64_t number, int64_t min,
    int64_t max)
{
	char	why[96];

	if (number >= min && number <= max)
		return (0);
	snprintf(why, sizeof why, "is not within %lld and %lld",
	    (long long)min, (long long)max);
	return (refuse_value(r, value, why));
}

static int
number(struct reading *r, const char *value, int64_t min, int64_t max,
    int64_t *number_r)
{
	const char	*why;

	if (value_number(value, number_r, &why) == -1)
		return (refuse_value(r, value, why));
	return (within(r, value, *number_r, min, max));
}

static int
read_port(struct reading *r, char *const *values, size_t n, void *field)
{
	int64_t	port;

	(void)n;
	if (number(r, values[0], 1, UINT16_MAX, &port) == -1)
		return (-1);
	*(uint16_t *)field = (uint16_t)port;
	return (0);
}

static void
print_port(const struct option *o, const void *field, FILE *f)
{
	(void)o;
	fprintf(f, "%u", *(const uint16_t *)field);
}

static int
read_count(struct reading *r, char *const *values, size_t n, void *field)
{
	int64_t	count;

	(void)n;
	if (number(r, values[0], r->option->min, r->option->max, &count) == -1)
		return (-1);
	*(unsigned *)field = (unsigned)count;
	return (0);
}

static void
print_count(const struct option *o, const void *field, FILE *f)
{
	(void)o;
	fprintf(f, "%u", *(const unsigned *)field);
}

static int
read_size(struct reading *r, char *const *values, size_t n, void *field)
{
	const char	*why;
	int64_t		 size;

	(void)n;
	if (value_size(values[0], &size, &why) == -1)
		return (refuse_value(r, values[0], why));
	if (size > r->option->max)
		return (refuse_value(r, values[0], "is too large"));
	*(int64_t *)field = size;
	return (0);
}

static void
print_size(const struct option *o, const void *field, FILE *f)
{
	char	buf[32];

	(void)o;
	fputs(value_print_size(*(const int64_t *)field, buf, sizeof buf), f);
}

static int
span(struct reading *r, const char *value, int64_t *ms_r)
{
	const char	*why;

	if (value_span(value, ms_r, &why) == -1)
		return (refuse_value(r, value, why));
	if (*ms_r < r->option->min)
		return (refuse_value(r, value, "must be more than nothing"));
	return (0);
}

static int
read_span(struct reading *r, char *const *values, size_t n, void *field)
{
	(void)n;
	return (span(r, values[0], field));
}

static void
print_span(const struct option *o, const void *field, FILE *f)
{
	char	buf[32];

	(void)o;
	fputs(value_print_span(*(const int64_t *)field, buf, sizeof buf), f);
}

#define DAY_MS	INT64_C(86400000)

static int
read_whole_days(struct reading *r, char *const *values, size_t n, void *field)
{
	int64_t	days;

	(void)n;
	if (number(r, values[0], r->option->min, r->option->max, &days) == -1)
		return (-1);
	*(int64_t *)field = days * DAY_MS;
	return (0);
}

static void
print_whole_days(const struct option *o, const void *field, FILE *f)
{
	(void)o;
	fprintf(f, "%lld", (long long)(*(const int64_t *)field / DAY_MS));
}

static int
read_backoff(struct reading *r, char *const *values, size_t n, void *field)
{
	struct backoff	*b = field;
	size_t		 i;

	if (n == 0 || n > BACKOFF_MAX)
		return (refuse(r, "must be a list of 1 to %d spans",
		    BACKOFF_MAX));
	for (i = 0; i < n; i++)
		if (span(r, values[i], &b->wait_ms[i]) == -1)
			return (-1);
	b->count = n;
	return (0);
}

static void
print_backoff(const struct option *o, const void *field, FILE *f)
{
	const struct backoff	*b = field;
	size_t			 i;

	fputc('{', f);
	for (i = 0; i < b->count; i++) {
		fputs(i > 0 ? ", " : "", f);
		print_span(o, &b->wait_ms[i], f);
	}
	fputc('}', f);
}

/* Times */

static int
read_time(struct reading *r, char *const *values, size_t n, void *field)
{
	const char	*why;

	(void)n;
	if (value_time_of_day(values[0], field, &why) == -1)
		return (refuse_value(r, values[0], why));
	return (0);
}

static void
print_time(const struct option *o, const void *field, FILE *f)
{
	int	minutes = *(const int *)field;

	(void)o;
	fprintf(f, "\"%02d:%02d\"", minutes / 60, minutes % 60);
}

static int
read_weekdays(struct reading *r, char *const *values, size_t n, void *field)
{
	const char	*why;

	(void)n;
	if (value_days(values[0], field, &why) == -1)
		return (refuse_value(r, values[0], why));
	return (0);
}

static void
print_weekdays(const struct option *o, const void *field, FILE *f)
{
	char	buf[32];

	(void)o;
	print_quoted(f, value_print_days(*(const unsigned *)field, buf,
	    sizeof buf));
}

/* Lists of strings: an owned, NULL-terminated char **. */

static int
check_list(struct reading *r, char *const *values, size_t n, test passes)
{
	const char	*why;
	size_t		 i, j;

	if ((int64_t)n < r->option->min)
		return (refuse(r, "must name at least %lld",
		    (long long)r->option->min));
	if ((int64_t)n > r->option->max)
		return (refuse(r, "must not name more than %lld",
		    (long long)r->option->max));
	for (i = 0; i < n; i++) {
		if (values[i][0] == '\0')
			return (refuse(r, "has an empty member"));
		if (passes(values[i], &why) == -1)
			return (refuse_value(r, values[i], why));
		for (j = 0; j < i; j++)
			if (strcmp(values[i], values[j]) == 0)
				return (refuse_value(r, values[i],
				    "is named twice"));
	}
	return (0);
}

static int
read_list(struct reading *r, char *const *values, size_t n, void *field,
    test passes)
{
	char	**list;
	size_t	  i;

	if (check_list(r, values, n, passes) == -1)
		return (-1);
	list = mem_alloc((n + 1) * sizeof *list);
	for (i = 0; i < n; i++)
		list[i] = mem_strdup(values[i]);
	*(char ***)field = list;
	return (0);
}

static int
read_strings(struct reading *r, char *const *values, size_t n, void *field)
{
	return (read_list(r, values, n, field, test_string));
}

static int
read_addresses(struct reading *r, char *const *values, size_t n, void *field)
{
	return (read_list(r, values, n, field, value_address));
}

static void
print_strings(const struct option *o, const void *field, FILE *f)
{
	char *const	*list = *(char **const *)field;
	size_t		 i;

	(void)o;
	fputc('{', f);
	for (i = 0; list != NULL && list[i] != NULL; i++) {
		fputs(i > 0 ? ", " : "", f);
		print_quoted(f, list[i]);
	}
	fputc('}', f);
}

static void
free_strings(void *field)
{
	char	**list = *(char ***)field;
	size_t	  i;

	for (i = 0; list != NULL && list[i] != NULL; i++)
		mem_free(list[i]);
	mem_free(list);
	*(char ***)field = NULL;
}

/*
 * Names of sections: config_check looks them up; what is here only sees to
 * the form.  All the structs they lead to begin with their name.
 */

static int
read_reference(struct reading *r, char *const *values, size_t n, void *field)
{
	(void)r;
	(void)values;
	(void)n;
	(void)field;
	return (0);
}

static int
read_references(struct reading *r, char *const *values, size_t n, void *field)
{
	(void)field;
	return (check_list(r, values, n, test_string));
}

static void
print_reference(const struct option *o, const void *field, FILE *f)
{
	char *const	*named = *(char *const *const *)field;

	(void)o;
	print_quoted(f, named != NULL ? *named : "");
}

static void
print_references(const struct option *o, const void *field, FILE *f)
{
	struct server *const	*list = *(struct server **const *)field;
	size_t			 i;

	(void)o;
	fputc('{', f);
	for (i = 0; list != NULL && list[i] != NULL; i++) {
		fputs(i > 0 ? ", " : "", f);
		print_quoted(f, list[i]->name);
	}
	fputc('}', f);
}

static void
free_references(void *field)
{
	mem_free(*(struct server ***)field);
	*(struct server ***)field = NULL;
}

static const struct type {
	int	(*read)(struct reading *, char *const *values, size_t, void *);
	void	(*print)(const struct option *, const void *field, FILE *);
	void	(*free)(void *field);
	bool	  list;
	int	  names;	/* the kind of section, or 0 */
} types[TYPES] = {
	[TYPE_STRING]		= { read_string, print_string, .free = free_string },
	[TYPE_PATH]		= { read_path, print_string, .free = free_string },
	[TYPE_HOST]		= { read_host, print_string, .free = free_string },
	[TYPE_IP]		= { read_ip, print_string, .free = free_string },
	[TYPE_HOST_PORT]	= { read_host_port, print_string, .free = free_string },
	[TYPE_ADDRESS]		= { read_address, print_string, .free = free_string },
	[TYPE_INSTANCE]		= { read_instance, print_string, .free = free_string },
	[TYPE_CREDENTIAL]	= { read_credential, print_string, .free = free_string },
	[TYPE_TIMEZONE]		= { read_timezone, print_string, .free = free_string },
	[TYPE_WORD]		= { read_word, print_string, .free = free_string },
	[TYPE_ENUM]		= { read_enum, print_enum, .free = NULL },
	[TYPE_BOOL]		= { read_bool, print_bool, .free = NULL },
	[TYPE_PORT]		= { read_port, print_port, .free = NULL },
	[TYPE_COUNT]		= { read_count, print_count, .free = NULL },
	[TYPE_SIZE]		= { read_size, print_size, .free = NULL },
	[TYPE_SPAN]		= { read_span, print_span, .free = NULL },
	[TYPE_WHOLE_DAYS]	= { read_whole_days, print_whole_days, .free = NULL },
	[TYPE_TIME]		= { read_time, print_time, .free = NULL },
	[TYPE_TIME_OR_NONE]	= { read_time_or_none, print_string, .free = free_string },
	[TYPE_WEEKDAYS]		= { read_weekdays, print_weekdays, .free = NULL },
	[TYPE_BACKOFF]		= { read_backoff, print_backoff, .free = NULL, .list = true },
	[TYPE_STRINGS]		= { read_strings, print_strings, .free = free_strings, .list = true },
	[TYPE_ADDRESSES]	= { read_addresses, print_strings, .free = free_strings, .list = true },
	[TYPE_SERVER]		= { read_reference, print_reference, .free = NULL, .names = KIND_SERVER },
	[TYPE_MAILBOX]		= { read_reference, print_reference, .free = NULL, .names = KIND_MAILBOX },
	[TYPE_ALERTS]		= { read_reference, print_reference, .free = NULL, .names = KIND_ALERTS },
	[TYPE_SERVERS]		= { read_references, print_references, .free = free_references,
				    .list = true, .names = KIND_SERVER },
};

int
config_parse_value(const struct option *o, const char *folder,
    char *const *values, size_t count, void *field, char *why, size_t whysize)
{
	struct reading	r = {
		.option = o,
		.folder = folder,
		.why = why,
		.whysize = whysize,
	};

	return (types[o->type].read(&r, values, count, field));
}

/* An option without a standard begins as nothing: zero, or "". */
void
config_parse_standard(const struct option *o, void *field)
{
	char	 text[64], why[128], *values[BACKOFF_MAX], *rest = text;
	size_t	 n = 0;

	if (o->standard == NULL && types[o->type].free != free_string)
		return;
	if (!text_copy(text, sizeof text, o->standard != NULL ?
	    o->standard : ""))
		panic("%s: long standard", o->name);
	if (!types[o->type].list)
		values[n++] = text;
	else while (n < BACKOFF_MAX &&
	    (values[n] = strtok_r(rest, " ", &rest)) != NULL)
		n++;
	if (config_parse_value(o, "", values, n, field, why, sizeof why) == -1)
		panic("%s: standard %s: %s", o->name, o->standard, why);
}

void
config_print_value(const struct option *o, const void *field, FILE *f)
{
	types[o->type].print(o, field, f);
}

void
config_free_value(const struct option *o, void *field)
{
	if (types[o->type].free != NULL)
		types[o->type].free(field);
}

bool
config_type_is_list(enum value_type type)
{
	return (types[type].list);
}

int
config_type_names(enum value_type type)
{
	return (types[type].names != 0 ? types[type].names : -1);
}
