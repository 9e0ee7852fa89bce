#include "tests/sim/rows.h"

#include <stdbool.h>
#include <string.h>

void
rows_field(const char *row, unsigned n, char *buf, size_t size)
{
	bool	quoted = false;
	size_t	out = 0;

	for (; *row != '\0' && (quoted || *row != '\n'); row++) {
		if (*row == '"')
			quoted = !quoted;
		else if (*row == ',' && !quoted) {
			if (n-- == 0)
				break;
		} else if (n == 0 && out + 1 < size && *row != '\r')
			buf[out++] = *row;
	}
	buf[out] = '\0';
}

struct count {
	unsigned	 column, other, n;
	const char	*value;
};

static void
count(void *arg, const char *row)
{
	struct count	*c = arg;
	char		 have[256], also[256] = "1";

	rows_field(row, c->column, have, sizeof have);
	if (c->other != 0)
		rows_field(row, c->other, also, sizeof also);
	if ((c->value[0] == '\0' || strcmp(have, c->value) == 0) &&
	    also[0] != '\0')
		c->n++;
}

unsigned
rows_count(const char *directory, enum rows_file file, unsigned column,
    const char *value, unsigned other)
{
	struct count	c = { column, other, 0, value };

	rows_each(directory, file, count, &c);
	return (c.n);
}
