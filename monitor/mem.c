#include "monitor/mem.h"

#include <openssl/crypto.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
panic(const char *fmt, ...)
{
	va_list	ap;

	fputs("panic: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static void *
checked(void *p)
{
	if (p == NULL)
		panic("out of memory");
	return (p);
}

void *
mem_alloc(size_t size)
{
	return (checked(calloc(1, size > 0 ? size : 1)));
}

void *
mem_grow(void *p, size_t count, size_t size)
{
	return (checked(reallocarray(p, count > 0 ? count : 1, size)));
}

char *
mem_strdup(const char *s)
{
	return (checked(strdup(s)));
}

char *
mem_printf(const char *fmt, ...)
{
	va_list	 ap;
	char	*s;
	int	 n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return (checked(n < 0 ? NULL : s));
}

void
mem_free(void *p)
{
	free(p);
}

void
mem_wipe(void *p, size_t size)
{
	if (p != NULL)
		OPENSSL_cleanse(p, size);
}
