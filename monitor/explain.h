#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "monitor/outcome.h"

/*
 * The text of "mailflowctl explain": what a reply means and what to do.
 * Makes text from bytes; the only I/O is on the stream it is given.
 */

/* Bytes of a reply or a line that are looked at; the rest is not read. */
#define EXPLAIN_INPUT	65536
/* Enough for one line of explain_tsv_line(). */
#define EXPLAIN_LINE	256
/* Enough for one explain_text(). */
#define EXPLAIN_TEXT	8192

/*
 * One line of explain --tsv: in[0..len) is "stage<TAB>reply" without its
 * newline, "-" for an unknown stage; in the reply the two characters \n
 * stand for the end of a line, \r for CR, \t for TAB, \\ for a backslash.  A
 * line without TAB is all reply.  Any bytes will do.  Writes
 * "class<TAB>temporary|permanent|success<TAB>code<TAB>enhanced<TAB>advice"
 * without newline, "-" for a code that is not there; returns its length.
 * An uncertain outcome is "temporary" there, as it is nobody's refusal.
 */
size_t	 explain_tsv_line(const char *in, size_t len, char *out, size_t size);

/* What is wrong with such a line; NULL: nothing, or it is empty. */
const char	*explain_tsv_fault(const char *in, size_t len);

/*
 * The explanation for people, at most 80 columns wide: the reply, its class,
 * what it means, what happens, what to do, what to check.  Escapes in reply
 * as above.  True if it fitted into buf.
 */
bool	 explain_text(enum stage, const char *reply, char *buf, size_t size);

/* The same onto a stream. */
void	 explain_print(enum stage, const char *reply, FILE *);

/*
 * What a mail reports about another one (mailboxes/bounce.h), for people or,
 * with tsv, as one line "action<TAB>status<TAB>class<TAB>outcome", "(none)"
 * for a field that the report does not have.  The outcome is lost, delayed,
 * delivered or ignore; any other mail is ignore.  Any bytes will do.
 */
void	 explain_message(const char *message, size_t len, bool tsv, FILE *);

#endif
