#include "mailboxes/bounce_text.h"

#include <string.h>
#include <strings.h>

#include "mailboxes/bounce_foreign.h"
#include "monitor/mem.h"
#include "monitor/outcome.h"
#include "monitor/phrase.h"
#include "monitor/text.h"

#define LINE_SHOWN	512	/* bytes of a line that are searched */

/* Words, as in phrase.h. */

static const char	program_names[] =
    "=mailer-daemon|=mailer_daemon|=mailerdaemon|=mailer daemon|"
    "=mail-daemon|=maildaemon|=mail daemon|=mdaemon|"
    "=mail delivery|=maildelivery|=mail-delivery|=delivery system|"
    "=delivery subsystem|=mail system|=mailsystem|=mail-system|"
    "=mail server|=mailserver|=mail router|=bounce|"
    "=mail transfer|=mail service|=mail_service|=antivirus|=interscan|"
    "=email delivery|=internet mail|=daemon@|=<>|"
    "=microsoft exchange|=exchange@|=delivery notification|=delivery agent";

/* People write under these, too. */
static const char	office_names[] =
    "=postmaster|=system administrator|=mail administrator|=mailadmin|"
    "=postoffice|=post office";

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
    "could not send message|zustellung|zustellbar|echec de|fallo de|"
    "no se ha podido|no se pudo|devuelto|devolvid";

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

/* What else mail systems write about, in words like those of a bounce. */
static const char	other_subjects[] =
    "quarantine|digest|almost full|nearly full|is full|limit warning|"
    "size limit|quota warning|storage warning|over quota warning|"
    "storage limit|your mailbox|account warning|smtp server errors from|"
    "statistic|logwatch| summary";

/* Not in a subject that speaks of failure. */
static const char	delay_subjects[] =
    "delay|warning|deferred|not yet|verzoger|retard|retraso|ritard|"
    "atras|still being|still trying";
static const char	final_words[] =
    "permanent|giving up|gave up|given up|give up|final|no further|"
    "not be retried|will not retry|fatal error|undeliverable|"
    "has failed|delivery failed|rejected";
/* Whatever the subject says. */
static const char	clear_delays[] =
    "warning message only|not need to resend|not need to re send|"
    "transient delivery|transient failure only|delivered yet|"
    "not yet been delivered|not yet delivered|i will keep trying|"
    "will be attempted again|still in the queue and will|"
    "only a warning|just a warning";
static const char	delay_bodies[] =
    "warning message only|not need to resend|not need to re send|"
    "not yet been delivered|has been delayed|is delayed|was delayed|"
    "been deferred|delivered yet|will be attempted again|"
    "still in the queue|still in queue|will continue|"
    "will be retried|will keep trying|will still try|attempts continue|"
    "no action is required|remains in the queue|still trying|"
    "will try again|will be made|will retry|could not be sent for past|"
    "could not send message for past|delivery delayed|"
    "noch nicht zugestellt|wird weiter versucht";

static const char	success_subjects[] =
    "success|delivered &!not&!un&!fail|delivery confirm|relayed";
static const char	success_bodies[] =
    "successfully delivered|successfully relayed|was delivered|"
    "has been delivered|delivery is complete|been successfully|"
    "report that you requested& 250 2 ";
static const char	failure_words[] =
    "fail|undeliver|un deliver|not be |not deliver|t be deliver|unable|"
    "error|rejected|refused|reject|delay|warning|problem|denied";

/* A phrase in a line that introduces the message sent back. */
static const char *const copy_lines[] = { "copy of", "original message",
	"original mail", "unsent message", "returned message",
	"message header", "message follows", "forwarded message",
	"undelivered message", "rejected message", "start of message",
	"headers of", "original headers", "returned mail follows",
	"originalnachricht", "che nachricht", "nachricht folgt",
	"der nachricht", "message d'origine", "mensaje original" };

bool
bounce_from_system(const char *from)
{
	struct phrase_text	t;

	phrase_prepare(&t, from);
	return (phrase_match(&t, program_names) ||
	    phrase_match(&t, office_names));
}

bool
bounce_from_program(const struct bounce_words *w)
{
	struct phrase_text	t;

	phrase_prepare(&t, w->from);
	return (w->no_sender || w->automatic || w->is_report ||
	    w->failed[0] != '\0' || phrase_match(&t, program_names));
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

/* "5.1.1" */
static bool
is_status(const char *s)
{
	return ((*s == '4' || *s == '5') && s[1] == '.' &&
	    text_is_digit(s[2]) && s[3] == '.' && text_is_digit(s[4]));
}

/*
 * Whether a server's refusal is quoted, which reads the same in every
 * language: "550 5.1.1 ...", "#5.2.2", ": 550 Mailbox not found".
 */
static bool
quotes_refusal(const struct phrase_text *t)
{
	static const char	codes[] = " 421 450 451 452 454 550 551 552 553 554 "
				    "556 571 ";
	char			code[] = " 000 ";
	const char		*p;

	for (p = t->raw; (p = strpbrk(p, "45")) != NULL; p++) {
		if (p > t->raw && (text_is_digit(p[-1]) || p[-1] == '.'))
			continue;
		if (p > t->raw && p[-1] == '#' && is_status(p))
			return (true);
		if (!text_is_digit(p[1]) || !text_is_digit(p[2]) ||
		    (p[3] != ' ' && p[3] != '-'))
			continue;
		memcpy(code + 1, p, 3);
		if (strstr(codes, code) != NULL && (is_status(p + 4) ||
		    (p > t->raw + 1 && strchr(":;>", p[-2]) != NULL)))
			return (true);
	}
	return (false);
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

/* Whether it speaks of a failure or a delay: in these words or foreign ones. */
static bool
speaks_of_it(const struct phrase_text *t, const char *words)
{
	return (phrase_match(t, words) ||
	    phrase_match(t, bounce_foreign_failures) ||
	    phrase_match(t, bounce_foreign_delays));
}

/*
 * Whether a mail that is not entitled like a bounce is about something else:
 * a bounce has no sender to go back to (RFC 5321 4.5.5), or it quotes what it
 * is about.
 */
static bool
is_other_news(const struct bounce_words *w, const struct phrase_text *subject,
    bool refused)
{
	int	hints = w->has_sender + phrase_match(subject, other_subjects);

	return (!w->is_report && w->failed[0] == '\0' && hints > refused);
}

bool
bounce_is_text(const struct bounce_words *w)
{
	struct phrase_text	subject, body;
	bool			from_system, titled, refused;
	int			points;

	phrase_prepare(&subject, w->subject);
	prepare_opening(&body, w);
	from_system = bounce_from_system(w->from);
	titled = speaks_of_it(&subject, bounce_subjects);
	refused = from_system && quotes_refusal(&body);
	if (!titled && is_other_news(w, &subject, refused))
		return (false);
	points = 2 * from_system + 2 * titled +
	    2 * speaks_of_it(&body, bounce_bodies) + refused +
	    3 * (w->failed[0] != '\0') + w->no_sender +
	    (w->no_sender && w->returns) + 2 * w->is_report;
	return (points >= 4 && bounce_has_signs(w));
}

bool
bounce_is_delay(const struct bounce_words *w)
{
	struct phrase_text	subject, body;
	bool			failure;

	phrase_prepare(&subject, w->subject);
	failure = phrase_match(&subject,
	    "fail|undeliver|returned to sender|unknown");
	if (!failure && phrase_match(&subject, bounce_foreign_delays))
		return (true);
	failure = failure || phrase_match(&subject, bounce_foreign_failures);
	if (!failure && phrase_match(&subject, delay_subjects))
		return (true);
	prepare_opening(&body, w);
	return ((phrase_match(&body, failure ? clear_delays : delay_bodies) ||
	    (!failure && phrase_match(&body, bounce_foreign_delays))) &&
	    !phrase_match(&body, final_words));
}

/* The message sent back. */

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
		end = text_line_end(text, len, at);
		if (any && (begins(text + at, end - at, "Received: ") ||
		    begins(text + at, end - at, "Return-Path: ") ||
		    is_copy_line(text + at, end - at)))
			return (at);
		any = any || end - at > 1;
	}
	return (len);
}
