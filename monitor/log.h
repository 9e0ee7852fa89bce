#ifndef LOG_H
#define LOG_H

/*
 * Edges, not levels: began, ended, how long.  A line reads
 * "route=gmail probe=7f3a state=suspect->failing misses=3".  What others
 * wrote is escaped; secrets have no way in.
 */

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* where: "stderr", "syslog" or "journal" (stderr with <n> prefixes). */
void	 log_open(const char *where, const char *program);

void	 log_error(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 log_warn(const char *, ...) __attribute__((format(printf, 1, 2)));
void	 log_info(const char *, ...) __attribute__((format(printf, 1, 2)));

/* A line at level, as log_info(). */
void	 log_at(enum log_level, const char *, ...)
	    __attribute__((format(printf, 2, 3)));

#endif
