#ifndef CTL_DIAGNOSE_H
#define CTL_DIAGNOSE_H

#include "monitor/ctl.h"

/*
 * mailflowctl diagnose: looks at a server, from here and without the daemon.
 * The exit code is 0 if every address is fine, 1 if some are in trouble, 2 if
 * none could be reached.
 */
int	 ctl_diagnose(const struct ctl *, int argc, char **argv);

#endif
