#include "mailboxes/bounce_text.h"

#include <string.h>
#include <strings.h>

#include "monitor/mem.h"
#include "monitor/outcome.h"
#include "monitor/phrase.h"
#include "monitor/text.h"

#define LINE_SHOWN	512	/* bytes of a line that are searched */

/* Words, as in phrase.h. */

static const char	system_names[] =
    "=mailer-daemon|=mailer_daemon|=mailerdaemon|=mailer daemon|"
    "=mail-daemon|=maildaemon|=mail daemon|=mdaemon|=postmaster|"
    "=mail delivery|=maildelivery|=mail-delivery|=delivery system|"
    "=delivery subsystem|=system administrator|=mail administrator|"
    "=mailadmin|=mail system|=mailsystem|=mail-system|=mail server|"
    "=mailserver|=postoffice|=post office|=mail router|=bounce|"
    "=mail transfer|=mail service|=mail_service|=antivirus|=interscan|"
    "=email delivery|=internet mail|=daemon@|=<>|"
    "=microsoft exchange|=exchange@|=delivery notification|=delivery agent";

static const char	bounce_subjects[] =
    "undeliver|un deliver|delivery fail|delivery has failed|"
    "delivery failure|failure notice|failure notif|failed mail|"
    "failed delivery|mail failed|returning to sender|returned mail|"
    "returned email|returned message|"
    "mail delivery|delivery status|delivery notif|delivery report|"
    "delivery error|delivery problem|non delivery|nondelivery|"
    "nondeliver|mail system error|mail error|returned to sender|"
    "return to sender|not be delivered|t be delivered|not delivered|"
    "unable to deliver|cannot deliver|can t deliver|could not send|"
    "not deliver|message status|message delivery|mail failure|"
    "email failure|bounce|warning message& delayed|delayed mail|"
    "delivery delay|delivery deferred|error sending your mail|"
    "problem delivering|postmaster not|mailer error|mail not sent|"
    "message could not|email could not|mail could not|user unknown|"
    "service unavailable|rejected mail|mail rejected|message rejected|"
    "could not send message|nicht zugestellt|unzustellbar|zustellung|"
    "zustellbar|nicht ausgeliefert|non remis|non distribu|non delivre|"
    "echec de|no se ha podido|no se pudo|no entregado|fallo de|"
    "devuelto|mancata consegna|non recapitat|non consegnat|"
    "nao entregue|falha na entrega|devolvid|onbestelbaar|niet bezorgd|"
    "olevererbar|ej levererat|ikke levert|kan ikke levere|nedorucen|"
    "niedostarcz|nie dostarczon|\xd0\xb5\xd0\xb4\xd0\xbe\xd1\x81\xd1\x82"
    "\xd0\xb0\xd0\xb2\xd0\xbb\xd0\xb5\xd0\xbd|\xd0\xbd\xd0\xb5 \xd0\xb4"
    "\xd0\xbe\xd1\x81\xd1\x82\xd0\xb0\xd0\xb2\xd0\xbb\xd0\xb5\xd0\xbd";

static const char	bounce_bodies[] =
    "error message below|mail delivery software|qmail send|"
    "mail delivery system|"
    "this is the mail system|mail system created|created automatically|"
    "generated automatically|automatically generated|"
    "wasn t able to deliver|not able to deliver|unable to deliver|"
    "could not deliver|cannot deliver|couldn t deliver|can t deliver|"
    "could not be delivered|cannot be delivered|couldn t be delivered|"
    "can t be delivered|was not delivered|not been delivered|"
    "t delivered|not be delivered|not deliverable|undeliver|"
    "following address|addresses failed|following recipient|"
    "recipients failed|failed recipient|permanent fatal errors|"
    "transcript of session|did not reach|didn t reach|"
    "delivery to the following|delivery has failed|delivery failed|"
    "failed to deliver|failed permanently|permanent error|"
    "permanent failure|returned to sender|could not be sent|"
    "still in the queue|has been delayed|delivery status|"
    "error occurred while trying to deliver|mail server rejected|"
    "rejected your message|was rejected|reason of the failure|"
    "unable to send|could not send|no longer accepts|user unknown|"
    "unknown user|nicht zugestellt|zustellung|konnte nicht|"
    "n a pas pu etre|no se pudo|no ha podido|non e stato possibile|"
    "nao foi possivel";

/* Not in a subject that speaks of failure. */
static const char	delay_subjects[] =
    "delay|warning|deferred|not yet|verzoger|retard|retraso|ritard|"
    "atras|still being";
static const char	final_words[] =
    "permanent|giving up|gave up|given up|give up|final|no further|"
    "not be retried|will not retry|fatal error|undeliverable|"
    "has failed|delivery failed|rejected";
static const char	delay_bodies[] =
    "warning message only|not need to resend|not need to re send|"
    "not yet been delivered|has been delayed|is delayed|was delayed|"
    "been deferred|still in the queue|still in queue|will continue|"
    "will be retried|will keep trying|will still try|attempts continue|"
    "no action is required|remains in the queue|still trying|"
    "will try again|will be made|will retry|could not be sent for past|"
    "could not send message for past|delivery delayed|"
    "noch nicht zugestellt|wird weiter versucht";

static const char	success_subjects[] =
    "success|delivered &!not&!un&!fail|delivery confirm|relayed";
static const char	success_bodies[] =
    "successfully delivered|successfully relayed|was delivered|"
    "has been delivered|delivery is complete|been successfully";
static const char	failure_words[] =
    "fail|undeliver|un deliver|not be |not deliver|t be deliver|unable|"
    "error|rejected|refused|reject|delay|warning|problem|denied";

/* A phrase in a line that introduces the message sent back. */
static const char *const copy_lines[] = { "copy of", "original message",
	"original mail", "unsent message", "returned message",
	"message header", "message follows", "forwarded message",
	"undelivered message", "rejected message", "start of message",
	"headers of", "original headers", "returned mail follows",
	"nachricht", "message d'origine", "mensaje original" };

bool
bounce_from_system(const char *from)
{
	struct phrase_text	t;

	phrase_prepare(&t, from);
	return (phrase_match(&t, system_names));
}

/* The beginning of the text, prepared. */
static void
prepare_opening(struct phrase_text *t, const struct bounce_words *w)
{
	char	opening[OUTCOME_REPLY];

	text_clean(opening, sizeof opening, w->text,
	    bounce_returned(w->text, w->len));
	phrase_prepare(t, opening);
}

bool
bounce_has_signs(const struct bounce_words *w)
{
	return (w->no_sender || w->automatic || w->is_report ||
	    w->failed[0] != '\0' || w->from[0] == '\0' ||
	    bounce_from_system(w->from));
}

bool
bounce_is_success(const struct bounce_words *w)
{
	struct phrase_text	subject, body;

	phrase_prepare(&subject, w->subject);
	prepare_opening(&body, w);
	return ((phrase_match(&subject, success_subjects) ||
	    phrase_match(&body, success_bodies)) &&
	    !phrase_match(&subject, failure_words) &&
	    !phrase_match(&body, failure_words));
}

bool
bounce_is_text(const struct bounce_words *w)
{
	struct phrase_text	subject, body;
	int			points;

	phrase_prepare(&subject, w->subject);
	prepare_opening(&body, w);
	points = 2 * bounce_from_system(w->from) +
	    2 * phrase_match(&subject, bounce_subjects) +
	    2 * phrase_match(&body, bounce_bodies) +
	    3 * (w->failed[0] != '\0') + w->no_sender + 2 * w->is_report;
	return (points >= 4 && bounce_has_signs(w));
}

bool
bounce_is_delay(const struct bounce_words *w)
{
	struct phrase_text	subject, body;

	phrase_prepare(&subject, w->subject);
	if (phrase_match(&subject,
	    "fail|undeliver|returned to sender|unknown"))
		return (false);
	if (phrase_match(&subject, delay_subjects))
		return (true);
	prepare_opening(&body, w);
	return (phrase_match(&body, delay_bodies) &&
	    !phrase_match(&body, final_words));
}

/* The message sent back. */

static size_t
line_end(const char *text, size_t len, size_t at)
{
	const char	*lf = memchr(text + at, '\n', len - at);

	return (lf != NULL ? (size_t)(lf - text) + 1 : len);
}

static bool
blank(char c)
{
	return (c == ' ' || c == '\t' || c == '\n');
}

static bool
begins(const char *text, size_t len, const char *with)
{
	size_t	n = strlen(with);

	return (len >= n && strncasecmp(text, with, n) == 0);
}

/* Whether a line says that the message sent back follows. */
static bool
is_copy_line(const char *line, size_t len)
{
	char	copy[LINE_SHOWN];
	bool	framed;
	size_t	i;

	while (len > 0 && blank(line[len - 1]))
		len--;
	while (len > 0 && blank(*line))
		line++, len--;
	framed = len > 4 && (line[len - 1] == ':' ||
	    (strchr("-=*_#", line[0]) != NULL && line[1] == line[0]));
	if (!framed)
		return (false);
	text_clean(copy, sizeof copy, line, len);
	for (i = 0; i < NITEMS(copy_lines); i++)
		if (strcasestr(copy, copy_lines[i]) != NULL)
			return (true);
	return (false);
}

size_t
bounce_returned(const char *text, size_t len)
{
	size_t	at, end;
	bool	any = false;

	for (at = 0; at < len; at = end) {
		end = line_end(text, len, at);
		if (any && (begins(text + at, end - at, "Received: ") ||
		    begins(text + at, end - at, "Return-Path: ") ||
		    is_copy_line(text + at, end - at)))
			return (at);
		any = any || end - at > 1;
	}
	return (len);
}
