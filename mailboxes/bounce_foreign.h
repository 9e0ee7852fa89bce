#ifndef BOUNCE_FOREIGN_H
#define BOUNCE_FOREIGN_H

/*
 * What bounces say in other languages than English, in the words of the mail
 * systems that are seen most (Exchange in front): phrases for phrase_match(),
 * for subjects and texts.  Pure.
 */

extern const char	bounce_foreign_failures[];	/* given up */
extern const char	bounce_foreign_delays[];	/* still being tried */

#endif
