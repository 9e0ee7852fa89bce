#ifndef CTL_PATH_H
#define CTL_PATH_H

/*
 * The path of the control socket that a configuration names; owned.  The
 * configuration may be wrong in any way, or not be readable at all: who asks
 * a running daemon need not be allowed to read its secrets.
 */
char	*ctl_path(const char *config);

#endif
