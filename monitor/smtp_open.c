#include <stdio.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/route.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

/* From the TCP connection to the greeting */

/* 0 or -1, nothing decided: an opportunistic failure may be mended. */
static int
handshake(struct smtp_session *s)
{
	enum transport_verify	verify;

	int			rc;

	verify = s->job->tls == TLS_OPPORTUNISTIC ? TRANSPORT_OPPORTUNISTIC :
	    TRANSPORT_VERIFY;
	rc = transport_starttls(s->server, s->host, s->job->ca_file, verify,
	    smtp_step_deadline(s, s->job->timeout_ms));
	s->out->certificate_days = transport_certificate_days(s->server);
	if (rc != 0)
		return (-1);
	text_copy(s->out->tls, sizeof s->out->tls, transport_tls(s->server));
	smtp_note(s, "%s; its certificate ends in %d days", s->out->tls,
	    (int)transport_certificate_days(s->server));
	return (0);
}

/*
 * A certificate that does not hold, or no TLS where it is demanded, is told
 * as tls; a server that falls silent meanwhile as network.
 */
static int
end_handshake(struct smtp_session *s)
{
	enum transport_error	e = transport_error(s->server);
	enum outcome_class	class = e == TRANSPORT_TIMEOUT ?
				    CLASS_NETWORK : e == TRANSPORT_LOCAL ?
				    CLASS_OTHER : CLASS_TLS;

	text_copy(s->out->tls, sizeof s->out->tls, "failed: ");
	text_append(s->out->tls, sizeof s->out->tls,
	    transport_reason(s->server));
	return (smtp_end(s, class, VERDICT_TEMPORARY, e == TRANSPORT_LOCAL,
	    "%s", transport_reason(s->server)));
}

static int
greeting(struct smtp_session *s)
{
	struct reply	r;

	smtp_stage(s, STAGE_GREETING);
	s->out->greeting[0] = '\0';
	if (smtp_hear(s, s->job->timeout_ms, &r, NULL, NULL) != 0)
		return (-1);
	reply_print(&r, s->out->greeting, sizeof s->out->greeting);
	if (smtp_expect(s, &r, 2) != 0)
		return (-1);
	s->greeted = true;
	return (0);
}

static int
connect_to(struct smtp_session *s, const struct sockaddr_storage *address,
    int64_t deadline_boot_ms)
{
	enum transport_error	error;
	char			reason[TRANSPORT_REASON];

	smtp_stage(s, STAGE_CONNECT);
	transport_print_address(address, s->out->address,
	    sizeof s->out->address);
	smtp_note(s, "connecting to %s port %u (%s)", s->out->address,
	    (unsigned)s->job->port, s->host);
	text_copy(s->out->tls, sizeof s->out->tls, "none");
	s->in.len = 0;
	smtp_gather_drop(&s->in, 0);
	s->server = transport_connect(address, s->job->source_address,
	    deadline_boot_ms, &error, reason);
	if (s->server == NULL)
		return (smtp_end_transport(s, error, reason));
	return (0);
}

int
smtp_reach(struct smtp_session *s, const struct sockaddr_storage *address,
    int64_t deadline_boot_ms)
{
	if (connect_to(s, address, deadline_boot_ms) != 0)
		return (-1);
	if (s->job->tls == TLS_IMPLICIT) {
		smtp_stage(s, STAGE_STARTTLS);
		if (handshake(s) != 0)
			return (end_handshake(s));
	}
	return (greeting(s));
}

/* EHLO and STARTTLS */

static int
ehlo(struct smtp_session *s, enum stage stage)
{
	char		line[OUTCOME_HOST + 16], raw[SMTP_REPLY_MAX];
	struct reply	r;
	size_t		len;

	smtp_stage(s, stage);
	snprintf(line, sizeof line, "EHLO %s\r\n", s->job->helo);
	if (smtp_say(s, line, NULL) != 0 ||
	    smtp_hear(s, s->job->timeout_ms, &r, raw, &len) != 0)
		return (-1);
	/* A greeting of several lines that forgot its hyphens. */
	if (r.code == 220 && smtp_hear(s, s->job->timeout_ms, &r, raw,
	    &len) != 0)
		return (-1);
	if (r.code / 100 == 5) {	/* RFC 5321 3.2: an old one */
		s->features = (struct smtp_features){ 0 };
		snprintf(line, sizeof line, "HELO %s\r\n", s->job->helo);
		if (smtp_say(s, line, NULL) != 0 ||
		    smtp_hear(s, s->job->timeout_ms, &r, NULL, NULL) != 0)
			return (-1);
		return (smtp_expect(s, &r, 2));
	}
	if (smtp_expect(s, &r, 2) != 0)
		return (-1);
	smtp_features_read(&s->features, raw, len);
	text_copy(s->out->extensions, sizeof s->out->extensions,
	    s->features.extensions);
	s->out->size_limit = s->features.size_limit;
	return (0);
}

/*
 * An opportunistic handshake has failed: the connection is of no more use,
 * and a mail server would deliver without TLS over a new one.  Once.
 */
static int
reopen_plain(struct smtp_session *s, const struct sockaddr_storage *address)
{
	char	why[TRANSPORT_REASON];

	text_copy(why, sizeof why, transport_reason(s->server));
	smtp_note(s, "no TLS: %s; once more without", why);
	transport_close(&s->server);
	s->plain_only = true;
	if (smtp_reach(s, address, smtp_step_deadline(s,
	    s->job->connect_timeout_ms)) != 0 || ehlo(s, STAGE_EHLO) != 0)
		return (-1);
	text_copy(s->out->tls, sizeof s->out->tls, "none: ");
	text_append(s->out->tls, sizeof s->out->tls, why);
	return (0);
}

/* What was said in clear text after the 220 is not from inside TLS. */
static bool
injected(struct smtp_session *s)
{
	if (s->in.len == 0)
		return (false);
	smtp_note(s, "%zu bytes of clear text came behind the reply to "
	    "STARTTLS", s->in.len);
	return (true);
}

static int
starttls(struct smtp_session *s, const struct sockaddr_storage *address)
{
	bool		must = s->job->tls == TLS_STARTTLS;
	char		said[OUTCOME_REPLY];
	struct reply	r;

	smtp_stage(s, STAGE_STARTTLS);
	if (smtp_say(s, "STARTTLS\r\n", NULL) != 0 ||
	    smtp_hear(s, s->job->timeout_ms, &r, NULL, NULL) != 0)
		return (-1);
	if (r.code / 100 != 2) {
		if (must || r.code == 421 || r.code < 400)
			return (smtp_expect(s, &r, 2));
		reply_print(&r, said, sizeof said);
		text_copy(s->out->tls, sizeof s->out->tls,
		    "none: STARTTLS was refused: ");
		text_append(s->out->tls, sizeof s->out->tls, said);
		return (0);
	}
	if (injected(s)) {
		if (must)
			return (smtp_end(s, CLASS_TLS, VERDICT_TEMPORARY, false,
			    "clear text was injected behind the reply to "
			    "STARTTLS"));
		return (reopen_plain(s, address));
	}
	if (handshake(s) != 0) {
		if (must || transport_error(s->server) == TRANSPORT_LOCAL)
			return (end_handshake(s));
		return (reopen_plain(s, address));
	}
	return (ehlo(s, STAGE_EHLO2));
}

int
smtp_shake_hands(struct smtp_session *s, const struct sockaddr_storage *address)
{
	if (ehlo(s, STAGE_EHLO) != 0)
		return (-1);
	if (s->job->tls == TLS_NONE || s->job->tls == TLS_IMPLICIT)
		return (0);
	if (s->features.starttls)
		return (starttls(s, address));
	if (s->job->tls == TLS_OPPORTUNISTIC)
		return (0);
	smtp_stage(s, STAGE_STARTTLS);
	return (smtp_end(s, CLASS_TLS, VERDICT_TEMPORARY, false,
	    "the server does not offer STARTTLS"));
}
