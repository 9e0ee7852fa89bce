#include "mailboxes/html.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "monitor/mem.h"

static bool
begins(const char *text, size_t len, const char *with)
{
	size_t	n = strlen(with);

	return (len >= n && strncasecmp(text, with, n) == 0);
}

static const struct entity {
	const char	*name;
	char		 c;
} entities[] = {
	{ "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' },
	{ "&quot;", '"' }, { "&nbsp;", ' ' }, { "&#39;", '\'' },
	{ "&#58;", ':' }, { "&#64;", '@' }, { "&apos;", '\'' },
};

/* Tags that end a line. */
static const char *const breaks[] = { "<br", "<p", "</p", "<div", "</div",
	"<tr", "</tr", "<td", "<li", "<h", "</h", "<table", "<pre", "</pre" };

static char
tag_stands_for(const char *tag, size_t len)
{
	for (size_t i = 0; i < NITEMS(breaks); i++)
		if (begins(tag, len, breaks[i]))
			return ('\n');
	return ('\0');
}

/* The length of the tag at p: up to its ">"; what never ends is text. */
static size_t
tag_length(const char *p, size_t len)
{
	const char	*close;

	if (len < 3 || (p[1] != '/' && p[1] != '!' && !(p[1] >= 'a' &&
	    p[1] <= 'z') && !(p[1] >= 'A' && p[1] <= 'Z')))
		return (0);
	close = memchr(p, '>', len < 2048 ? len : 2048);
	return (close != NULL ? (size_t)(close - p) + 1 : 0);
}

size_t
html_text(char *dst, const char *src, size_t len)
{
	const struct entity	*e;
	size_t			 i, k, n = 0;
	char			 c;

	for (i = 0; i < len;) {
		if (src[i] == '<' && (k = tag_length(src + i, len - i)) > 0) {
			c = tag_stands_for(src + i, k);
			if (c != '\0')
				dst[n++] = c;
			i += k;
			continue;
		}
		c = src[i];
		k = 1;
		if (c == '&')
			for (e = entities; e < entities + NITEMS(entities);
			    e++)
				if (begins(src + i, len - i, e->name)) {
					c = e->c;
					k = strlen(e->name);
					break;
				}
		dst[n++] = c;
		i += k;
	}
	return (n);
}
