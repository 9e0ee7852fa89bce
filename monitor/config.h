#ifndef CONFIG_H
#define CONFIG_H

#include <stdio.h>

#include "monitor/route.h"

/*
 * Reads mailflowd.conf(5).  All mistakes are collected and reported, each as
 * one line "file:line: option: problem".
 */

/* Called once per line, without its newline. */
typedef void	(*config_report)(void *arg, const char *line);

/*
 * The configuration in file, whole and checked, or NULL with every mistake
 * reported, in file order.  Warnings, "file:line: option: warning: ...", do
 * not fail; they are reported once there is no mistake left.  Checks what the
 * file names: secret files (present, regular, not readable or writable by
 * group or others, not empty), CA files, references between sections.  Creates
 * and changes nothing.
 */
struct config	*config_load(const char *file, config_report, void *arg);

/*
 * The control socket that file or what it includes names; owned.  Nothing else
 * in it need be right, nor the secrets be readable that it names.  NULL: it
 * cannot be read, or names none.
 */
char		*config_control(const char *file);

/* Prints the effective configuration in the file's own syntax (-n). */
void		 config_print(const struct config *, FILE *);

void		 config_free(struct config **);

#endif
