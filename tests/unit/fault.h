#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/*
 * Makes writing to disk fail, or kills the process, at its n-th step: SQLite's
 * writes, syncs and truncations through a VFS of ours, and write(),
 * fsync(), fdatasync() and ftruncate() of the objects under test, which the
 * linker wraps.  A write
 * that is hit gets half of its bytes out first.
 */

enum fault_kind {
	FAULT_NONE,
	FAULT_KILL,		/* SIGKILL to ourselves */
	FAULT_ONCE,		/* this one step fails: no space */
	FAULT_LASTING,		/* this one and all after it */
};

/* Once, before the first store is opened. */
void	 fault_install(void);
/* Counts steps anew; the step-th (from 1) is hit. */
void	 fault_arm(enum fault_kind, unsigned step);
/* Steps since then; nothing is hit any more. */
unsigned fault_disarm(void);

#endif
