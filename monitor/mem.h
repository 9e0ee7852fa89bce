#ifndef MEM_H
#define MEM_H

#include <stddef.h>

/*
 * Memory that is there or the process is not: a daemon that must choose
 * between a half-done deed and a clean restart from its store takes the
 * restart.  Sizes from outside are bounded before they reach these.
 */

void	*mem_alloc(size_t size);			/* zeroed */
void	*mem_grow(void *, size_t count, size_t size);	/* as reallocarray(3) */
char	*mem_strdup(const char *);
char	*mem_printf(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 mem_free(void *);				/* NULL is fine */

/* Overwrites a secret; the compiler may not drop it. */
void	 mem_wipe(void *, size_t);

/* What cannot happen: says so on stderr and aborts. */
void	 panic(const char *, ...)
	    __attribute__((format(printf, 1, 2), noreturn));

#define NITEMS(a)	(sizeof (a) / sizeof *(a))

#endif
