#include "monitor/phrase.h"

#include <string.h>
#include <strings.h>

#include "monitor/text.h"

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z');
}

static char
lower(char c)
{
	return ((char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

/* What U+00C0..U+00FF are without their accents; 0: no letter. */
static char
folded(unsigned char second)
{
	static const char	plain[] =
	    "aaaaaaaceeeeiiii" "dnooooo\0ouuuuyts";

	if (second < 0x80 || second > 0xbf)
		return ('\0');
	return (plain[second & 0x1f]);
}

static bool
in_name(char c)
{
	return (is_letter(lower(c)) || text_is_digit(c) ||
	    (c != '\0' && strchr("._%+=@-", c) != NULL));
}

/* "smtp.example.org", "example.com": lower case, a top level we know of. */
static bool
is_host(const char *s, size_t len)
{
	static const char	known[] =
	    " com net org edu gov mil int info biz name arpa invalid test "
	    "local localdomain email cloud online site example ";
	char			tail[16] = " ";
	size_t			dot = len, i;

	for (i = 0; i < len; i++) {
		if (s[i] >= 'A' && s[i] <= 'Z')
			return (false);
		if (s[i] == '.')
			dot = i;
	}
	if (dot == len || dot == 0 || len - dot - 1 < 2 || len - dot > 12)
		return (false);
	for (i = dot + 1; i < len; i++)
		if (!is_letter(s[i]))
			return (false);
	if (len - dot - 1 == 2)
		return (true);
	memcpy(tail + 1, s + dot + 1, len - dot - 1);
	tail[len - dot] = ' ';
	tail[len - dot + 1] = '\0';
	return (strstr(known, tail) != NULL);
}

/* The length of a URL, address or host name at s: no word of the reply. */
static size_t
name_length(const char *s)
{
	size_t	n = 0, trim;

	if (strncasecmp(s, "http://", 7) == 0 ||
	    strncasecmp(s, "https://", 8) == 0 ||
	    strncasecmp(s, "www.", 4) == 0)
		return (strcspn(s, " \t<>\"')"));
	while (in_name(s[n]))
		n++;
	if (memchr(s, '@', n) != NULL)
		return (n);
	for (trim = n; trim > 0 && s[trim - 1] == '.'; trim--)
		continue;
	return (is_host(s, trim) ? trim : 0);
}

/* The end of the run of name characters at s, at least one byte on. */
static size_t
run_length(const char *s)
{
	size_t	n = 0;

	while (in_name(s[n]))
		n++;
	return (n > 0 ? n : 1);
}

struct words {
	char	*out;		/* borrowed */
	size_t	 len;
	size_t	 size;
};

static void
add_char(struct words *w, char c)
{
	if (c == ' ' && w->len > 0 && w->out[w->len - 1] == ' ')
		return;
	if (w->len + 1 < w->size)
		w->out[w->len++] = c;
}

/* Adds len bytes of s as words; sequences of UTF-8 but folded ones stay. */
static void
add_words(struct words *w, const char *s, size_t len)
{
	char	c;

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)s[i] == 0xc3 && i + 1 < len &&
		    (c = folded((unsigned char)s[i + 1])) != '\0') {
			add_char(w, c);
			i++;
			continue;
		}
		c = lower(s[i]);
		add_char(w, is_letter(c) || text_is_digit(c) ||
		    (unsigned char)c >= 0x80 ? c : ' ');
	}
}

void
phrase_prepare(struct phrase_text *t, const char *s)
{
	struct words	w = { t->words, 0, sizeof t->words - 1 };
	size_t		i, n;

	for (i = 0; s[i] != '\0' && i < sizeof t->raw - 1; i++)
		t->raw[i] = lower(s[i]);
	t->raw[i] = '\0';
	add_char(&w, ' ');
	while (*s != '\0') {
		n = name_length(s);
		if (n > 0) {
			add_char(&w, ' ');
		} else {
			n = (unsigned char)*s == 0xc3 && s[1] != '\0' ? 2 :
			    run_length(s);
			add_words(&w, s, n);
		}
		s += n;
	}
	add_char(&w, ' ');
	t->words[w.len] = '\0';
}

/* One phrase: "unknown user", "!quota", "=grey.rbl". */
static bool
word_matches(const struct phrase_text *t, const char *word, size_t len)
{
	const char	*in = t->words;
	bool		 wanted = true;

	if (len > 0 && *word == '!') {
		wanted = false;
		word++, len--;
	}
	if (len > 0 && *word == '=') {
		in = t->raw;
		word++, len--;
	}
	return ((memmem(in, strlen(in), word, len) != NULL) == wanted);
}

static bool
all_match(const struct phrase_text *t, const char *words, size_t len)
{
	const char	*end = words + len, *stop;

	for (;; words = stop + 1) {
		stop = memchr(words, '&', (size_t)(end - words));
		if (stop == NULL)
			return (word_matches(t, words, (size_t)(end - words)));
		if (!word_matches(t, words, (size_t)(stop - words)))
			return (false);
	}
}

bool
phrase_match(const struct phrase_text *t, const char *words)
{
	size_t	len;

	if (*words == '\0')
		return (t->raw[0] == '\0');
	for (;; words += len + 1) {
		len = strcspn(words, "|");
		if (all_match(t, words, len))
			return (true);
		if (words[len] == '\0')
			return (false);
	}
}
