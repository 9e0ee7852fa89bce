#include <stdio.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/route.h"
#include "monitor/smtp_session.h"
#include "monitor/text.h"

/*
 * The login, as far as it is not the library's, which knows no OAuth.
 * Whatever fails here is told as auth and blind, and ends the session: none
 * goes on without its login.
 */

/* A command may have so much (RFC 5321 4.5.3.1.4), its CRLF included. */
#define COMMAND_MAX	512

static int
refuse(struct smtp_session *s, const char *why)
{
	return (smtp_end(s, CLASS_AUTH, VERDICT_TEMPORARY, true, "%s", why));
}

/* By 235 and nothing else (RFC 4954 4). */
int
smtp_login_taken(struct smtp_session *s, const struct reply *r)
{
	char	quoted[OUTCOME_REPLY];

	if (r->code == 235) {
		s->logged_in = true;
		return (0);
	}
	if (r->code / 100 != 2 && r->code / 100 != 3)
		return (smtp_expect(s, r, 2));
	s->out->code = r->code;
	reply_print(r, quoted, sizeof quoted);
	return (smtp_end(s, CLASS_AUTH, VERDICT_TEMPORARY, true, "the server "
	    "does not say that the login is taken (235): %s", quoted));
}

static int
exchange(struct smtp_session *s, const char *line, const char *shown,
    struct reply *r)
{
	if (smtp_say(s, line, shown) != 0)
		return (-1);
	return (smtp_hear(s, s->job->timeout_ms, r, NULL, NULL));
}

/* OAuth */

/*
 * The server's 334 explains what it has against the token; only after an
 * answer to that does it say its 535.  Not all bother to.
 */
static int
oauth_refused(struct smtp_session *s, struct reply *r,
    enum sasl_mechanism mechanism)
{
	char	said[OUTCOME_REPLY], why[OUTCOME_REPLY + 64], line[16];

	sasl_explained(r->text, said, sizeof said);
	sasl_scrub(said, s->job->secret);
	snprintf(why, sizeof why, "the server does not take the token: %s",
	    said[0] != '\0' ? said : "it does not say why");
	smtp_note(s, "%s", why);
	snprintf(line, sizeof line, "%s\r\n", sasl_acknowledge(mechanism));
	if (exchange(s, line, NULL, r) != 0 || r->code < 400) {
		s->out->code = 334;	/* all that it has said */
		return (refuse(s, why));
	}
	if (said[0] != '\0') {
		text_append(r->text, sizeof r->text, " ");
		text_append(r->text, sizeof r->text, said);
	}
	return (smtp_expect(s, r, 2));
}

static bool
is_asked_for(const struct reply *r)
{
	char	said[8];

	sasl_explained(r->text, said, sizeof said);
	return (r->code == 334 && said[0] == '\0');
}

/*
 * A long token does not fit into the command and is sent when the server
 * asks for it (RFC 4954 4): some read no more than a command's bytes.
 */
static int
say_token(struct smtp_session *s, const char *name, const char *coded,
    struct reply *r)
{
	char	line[2 * FRAME_SECRET_SIZE + 32], shown[32];
	int	said;

	snprintf(line, sizeof line, "AUTH %s %s\r\n", name, coded);
	snprintf(shown, sizeof shown, "AUTH %s ***", name);
	if (strlen(line) > COMMAND_MAX) {
		snprintf(line, sizeof line, "AUTH %s\r\n", name);
		snprintf(shown, sizeof shown, "AUTH %s", name);
	}
	said = exchange(s, line, shown, r);
	if (said == 0 && is_asked_for(r)) {
		snprintf(line, sizeof line, "%s\r\n", coded);
		said = exchange(s, line, "***", r);
	}
	mem_wipe(line, sizeof line);
	return (said);
}

static int
oauth_login(struct smtp_session *s, enum sasl_mechanism mechanism)
{
	char		coded[2 * FRAME_SECRET_SIZE];
	struct reply	r;
	int		said;

	if (sasl_response(mechanism, s->job->user, s->job->secret, s->host,
	    s->job->port, coded, sizeof coded) == 0)
		return (refuse(s, "the access token is too long"));
	said = say_token(s, mechanism == SASL_XOAUTH2 ? "XOAUTH2" :
	    "OAUTHBEARER", coded, &r);
	mem_wipe(coded, sizeof coded);
	if (said != 0)
		return (-1);
	if (r.code == 334)
		return (oauth_refused(s, &r, mechanism));
	return (smtp_login_taken(s, &r));
}

/* The one with an RFC, where the server has both. */
static int
oauth(struct smtp_session *s)
{
	return (oauth_login(s, (s->features.auth & SASL_OAUTHBEARER) != 0 ?
	    SASL_OAUTHBEARER : SASL_XOAUTH2));
}

int
smtp_login(struct smtp_session *s)
{
	unsigned	want = s->job->oauth ?
			    SASL_XOAUTH2 | SASL_OAUTHBEARER :
			    SASL_PLAIN | SASL_LOGIN;

	if (s->job->user[0] == '\0' || s->job->kind == JOB_CHECK)
		return (0);
	smtp_stage(s, STAGE_AUTH);
	if (!transport_verified(s->server) && !s->job->insecure_auth)
		return (refuse(s, "the login is withheld: the connection is "
		    "not encrypted and verified"));
	if ((s->features.auth & want) == 0)
		return (smtp_end(s, CLASS_AUTH, VERDICT_TEMPORARY, true,
		    "the server offers no login that can be done here (AUTH: "
		    "%s)", s->features.auth_names[0] != '\0' ?
		    s->features.auth_names : "none"));
	/* A password is the library's turn, in smtp_pump(). */
	return (s->job->oauth ? oauth(s) : 0);
}
