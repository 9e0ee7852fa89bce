#include "monitor/config_internal.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"

/*
 * libconfuse's lexer drops characters that it does not know, takes the rest
 * of the file into a string or a comment that does not end, and after a bad
 * escape stays inside of the string for the next file too.  So nothing
 * reaches it that this one does not find good.
 */
struct lexer {
	const char	*text;
	size_t		 at;
	int		 line;
	struct token	*tokens;	/* owned until the end */
	size_t		 count, room;
};

/* What ends a string without quotes. */
#define WORD_END	" #\"'\t\n\r={}()+,*"

#define DIGITS		"0123456789"
#define HEX		DIGITS "abcdefABCDEF"

static struct token *
add(struct lexer *l, enum token_kind kind, size_t start, int line)
{
	struct token	*t;

	if (l->count == l->room) {
		l->room = l->room == 0 ? 64 : l->room * 2;
		l->tokens = mem_grow(l->tokens, l->room, sizeof *l->tokens);
	}
	t = &l->tokens[l->count++];
	*t = (struct token){
		.kind = kind,
		.line = line,
		.start = start,
		.len = l->at - start,
	};
	return (t);
}

/* Moves on by n bytes, counting lines. */
static void
move(struct lexer *l, size_t n)
{
	for (; n > 0; n--)
		if (l->text[l->at++] == '\n')
			l->line++;
}

/* A comment from its opening to its end, if there is one. */
static void
block_comment(struct lexer *l)
{
	const char	*end = strstr(l->text + l->at + 2, "*/");
	size_t		 start = l->at;
	int		 line = l->line;

	if (end != NULL) {
		move(l, (size_t)(end - (l->text + l->at)) + 2);
		return;
	}
	move(l, strlen(l->text + l->at));
	add(l, TOKEN_STRAY, start, line)->bad = "this comment does not end";
}

/* Past white space and comments. */
static void
skip(struct lexer *l)
{
	for (;;) {
		const char	*s = l->text + l->at;

		if (*s == '\r' && s[1] != '\n')
			return;
		if (*s != '\0' && strchr(" \t\r\n", *s) != NULL)
			move(l, 1);
		else if (*s == '#' || (*s == '/' && s[1] == '/'))
			move(l, strcspn(s, "\n"));
		else if (*s == '/' && s[1] == '*')
			block_comment(l);
		else
			return;
	}
}

/*
 * The length of "${NAME}" or "${NAME:-else}" at s; 0 if it does not end
 * where it should, before `stop`.  *bad_r says what is wrong with it.
 */
static size_t
variable(const char *s, const char *stop, const char **bad_r)
{
	size_t	n = 2 + strcspn(s + 2, stop), name;
	char	buf[128];

	if (s[n] != '}') {
		*bad_r = "${ without a } after it";
		return (0);
	}
	name = strcspn(s + 2, ":}");
	if (name == 0 || name >= sizeof buf)
		*bad_r = "${} needs the name of an environment variable";
	else if (s[2 + name] == '}') {
		memcpy(buf, s + 2, name);
		buf[name] = '\0';
		if (getenv(buf) == NULL)
			*bad_r = "names an environment variable that is not set";
	} else if (s[3 + name] != '-')
		*bad_r = "is not ${NAME} or ${NAME:-else}";
	return (n + 1);
}

/* The length of the escape at s, a backslash. */
static size_t
escape(const char *s, const char **bad_r)
{
	static const char	nul[] = "a NUL byte";
	size_t			n = strspn(s + 1, DIGITS);

	if (n > 0) {
		if (n > 3 || strspn(s + 1, "01234567") < n ||
		    (n == 3 && s[1] > '3'))
			*bad_r = "\\ and digits is an octal number up to 377";
		else if (strspn(s + 1, "0") == n)
			*bad_r = nul;
		return (1 + n);
	}
	if (s[1] == 'x' && (n = strspn(s + 2, HEX)) > 0) {
		n = n > 2 ? 2 : n;
		if (strspn(s + 2, "0") >= n)
			*bad_r = nul;
		return (2 + n);
	}
	return (s[1] == '\0' ? 1 : 2);
}

static void
quoted(struct lexer *l)
{
	size_t		 start = l->at, n;
	int		 line = l->line;
	char		 quote = l->text[start];
	const char	*bad = NULL, *s;

	for (move(l, 1);; move(l, n)) {
		s = l->text + l->at;
		n = 1;
		if (*s == '\0' || *s == '\n') {
			/* The text of a bad token is not used. */
			bad = "the closing quote is missing on this line";
			break;
		}
		if (*s == quote) {
			move(l, 1);
			break;
		}
		if (quote == '"' && *s == '\\')
			n = escape(s, &bad);
		else if (*s == '\\')
			n = s[1] == '\0' ? 1 : 2;
		else if (quote == '"' && *s == '$' && s[1] == '{' &&
		    (n = variable(s, "}\"\n", &bad)) == 0)
			n = 1;
	}
	add(l, TOKEN_QUOTED, start, line)->bad = bad;
}

static void
word(struct lexer *l)
{
	const char	*s = l->text + l->at, *bad = NULL;
	size_t		 start = l->at, n;

	if (*s == '$' && s[1] == '{') {
		if ((n = variable(s, "}\n", &bad)) == 0)
			n = 2;
	} else
		n = strcspn(s, WORD_END);
	move(l, n);
	add(l, TOKEN_WORD, start, l->line)->bad = bad;
}

static const struct {
	char		 sign;
	enum token_kind	 kind;
} signs[] = {
	{ '{', TOKEN_OPEN },
	{ '}', TOKEN_CLOSE },
	{ '=', TOKEN_EQUALS },
	{ ',', TOKEN_COMMA },
};

static void
sign(struct lexer *l)
{
	size_t	start = l->at, i;

	if (strncmp(l->text + start, "+=", 2) == 0) {
		move(l, 2);
		add(l, TOKEN_APPEND, start, l->line);
		return;
	}
	move(l, 1);
	for (i = 0; i < NITEMS(signs); i++)
		if (l->text[start] == signs[i].sign) {
			add(l, signs[i].kind, start, l->line);
			return;
		}
	add(l, TOKEN_STRAY, start, l->line);
}

struct token *
config_lex(const char *text)
{
	struct lexer	l = { .text = text, .line = 1 };

	/* The mark that some editors put before a text in UTF-8. */
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		move(&l, 3);
	for (skip(&l); text[l.at] != '\0'; skip(&l)) {
		if (strchr("\"'", text[l.at]) != NULL)
			quoted(&l);
		else if (strchr(WORD_END, text[l.at]) != NULL)
			sign(&l);
		else
			word(&l);
	}
	add(&l, TOKEN_END, l.at, l.line);
	return (l.tokens);
}
