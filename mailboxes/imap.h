#ifndef IMAP_H
#define IMAP_H

#include "mailboxes/mailbox.h"

/* Mailboxes on IMAP servers (RFC 3501, RFC 9051), through libetpan. */
extern const struct mailbox_driver	imap_driver;

#endif
