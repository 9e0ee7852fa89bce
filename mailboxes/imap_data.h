#ifndef IMAP_DATA_H
#define IMAP_DATA_H

#include "mailboxes/imap_filter.h"
#include "mailboxes/imap_lex.h"

/*
 * The untagged responses that reach the library, written anew: a part of
 * imap_filter, for nobody else.  Pure.  The reader stands behind the word
 * that names the response; 0, or -1 when the session is out of step.
 */

/* FETCH of mail number n: UID, INTERNALDATE, a header, a text. */
int	 imap_data_fetch(struct imap_filter *, struct imap_lex, uint32_t n);

/*
 * LIST: junk and trash folders alone, as "\Junk" or "\Trash", with
 * "\Special" if the server's own flags say so, "\Near" if only the name does
 * and it lies at the top or in INBOX.
 */
int	 imap_data_list(struct imap_filter *, struct imap_lex);

/* STATUS: UIDNEXT and UIDVALIDITY, if it has both. */
int	 imap_data_status(struct imap_filter *, struct imap_lex);

/* What they write with. */
void	 imap_emit(struct imap_filter *, const char *text);
void	 imap_emit_literal(struct imap_filter *, const char *, size_t len);

/* Ends the stream; -1. */
int	 imap_broken(struct imap_filter *, const char *why);

#endif
