#ifndef MAILDIR_H
#define MAILDIR_H

#include "mailboxes/mailbox.h"

/*
 * The driver that looks into a Maildir on this machine (box->maildir), its
 * folders being directories ".Name" in it.  A mail's two numbers are the
 * halves of a hash of its unique name, which it keeps when it moves from new
 * to cur; a folder's mark is a time in seconds: mails that came before it
 * were told.  Nothing is written there, and only verified probes are removed.
 */

extern const struct mailbox_driver	maildir_driver;

#endif
