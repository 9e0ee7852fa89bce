#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>
#include <stdio.h>

/*
 * The daemon's report as something to keep: a row a route (RFC 4180), or a
 * page that needs nothing but itself.  What others wrote is made harmless.
 * Pure but for the stream it prints on.
 */

void	 report_csv(const json_t *report, FILE *);
void	 report_html(const json_t *report, FILE *);

#endif
