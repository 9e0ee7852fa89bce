#ifndef SCRATCH_H
#define SCRATCH_H

#include <stddef.h>

/*
 * A directory for one test, and what the code under test says on stderr: an
 * unexpected line fails the test.
 */

#define SCRATCH_PATH	256

/* cmocka's setup and teardown: *state is the directory's path. */
int	 scratch_setup(void **state);
int	 scratch_teardown(void **state);

/* directory/name, in a buffer that lasts four more calls. */
const char *scratch_path(void **state, const char *name);
/* The whole file as a string, "" if there is none; mem_free() it. */
char	*scratch_read(const char *path);
void	 scratch_write(const char *path, const char *text);

/* Was logged since the last look?  "": fails unless nothing was. */
void	 scratch_logged(const char *part);
/* Whatever was logged may have been. */
void	 scratch_forget_log(void);

#endif
