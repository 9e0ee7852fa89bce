#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "mailboxes/match.h"
#include "monitor/frame.h"

/*
 * A mail that reports about a probe, as the frame that tells the monitor.
 * Pure.
 */

enum report_kind {
	REPORT_NONE,		/* no report: any other mail */
	REPORT_OTHERS,		/* a report, about no probe of ours */
	REPORT_OURS
};

/*
 * Going by its header fields (those of match_fields[]): whether a mail may
 * be a report and is worth reading whole.  A probe is none.
 */
bool		 report_may_be(const char *head, size_t len);

/*
 * Reads a whole mail.  REPORT_OURS: what it says and about which token is in
 * *out; where it lies is for the caller to add.  The token bears our
 * instance's tag, and its MAC is not checked here: it is bound to the mailbox
 * that the probe is for, which is not where reports lie.
 */
enum report_kind report_read(const struct match_rules *, const char *bytes,
		    size_t len, struct frame_report *out);

#endif
