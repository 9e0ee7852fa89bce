/*
 * Lets Dovecot run from a folder.  The directory of its TLS module is compiled
 * in and no setting moves it; this library, preloaded, makes Dovecot look for
 * its modules below ROOT.  It is never loaded into anything of ours.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define BUILT_IN	"/usr/lib/dovecot/"

/* The name below ROOT, in buf, when it is one of Dovecot's own. */
static const char *
moved(const char *name, char *buf, size_t size)
{
	if (name == NULL || strncmp(name, BUILT_IN, strlen(BUILT_IN)) != 0)
		return (name);
	snprintf(buf, size, "%s%s", ROOT, name);
	return (buf);
}

DIR *
opendir(const char *name)
{
	DIR	*(*next)(const char *);
	char	 buf[4096];

	*(void **)&next = dlsym(RTLD_NEXT, "opendir");
	return (next(moved(name, buf, sizeof(buf))));
}

void *
dlopen(const char *name, int flags)
{
	void	*(*next)(const char *, int);
	char	 buf[4096];

	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	return (next(moved(name, buf, sizeof(buf)), flags));
}
