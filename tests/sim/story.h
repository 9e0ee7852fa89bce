#ifndef STORY_H
#define STORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/sim/world.h"

/*
 * A story file: what sim.c says of it.  story.c reads it, deed.c does what
 * its lines say, expect.c looks whether what they expect has come.
 */

#define STORY_WORDS	8

struct line {
	char		*text;		/* owned */
	int		 number;
};

struct story {
	const char	*file;
	char		*title;		/* owned */
	char		*config;	/* owned */
	char		*config2;	/* owned: for reload */
	struct line	*lines;		/* owned */
	size_t		 count;
	bool		 sweep;
};

void	 story_read(struct story *, const char *file);
void	 story_free(struct story *);
/* Splits text into words; a quoted one is one word.  Their number. */
size_t	 story_split(char *text, char *words[static STORY_WORDS]);
/* A mistake in the story itself: says so and exits. */
void	 story_wrong(const struct story *, const struct line *,
	    const char *why) __attribute__((noreturn));

/* Does what the words of a line say. */
void	 deed_do(struct world *, const struct story *, const struct line *,
	    size_t n, char *words[]);

/* Whether an expectation holds; false with why filled.  directory is the
 * world's. */
bool	 expect_holds(struct world *, const char *directory, size_t n,
	    char *words[], char *why, size_t size);

#endif
