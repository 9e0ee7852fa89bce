/*
 * The table of meanings.
 *
 * Choices that a reader may argue with, and their reasons:
 *
 * - X.3.1 is system-full whatever the text says ("Out of memory", "Backend
 *   failure"): the code is what other servers act on, and the text is shown
 *   beside it.  5.3.1 is the same trouble with a final verdict.  That holds
 *   also where it is quoted from a server further on, under another code.
 * - Without X.3.1 a reply is system-full only if its text names the server's
 *   own storage: "Space shortage", "queue file write error", "disk full", and
 *   not one mailbox or user.  "No space left on device" is the system's even
 *   beside a mailbox's path: a quota has an error of its own.  A bare "not
 *   enough space" in a 45z is the system's, too.  "421 4.3.0 Temporary Error"
 *   is a deferral and opens no such episode, even where a full spool is behind
 *   it: it is also sent for a hundred other reasons.  A bare 452 is `other`
 *   for the same reason.  A shortage of memory is congestion.  431 with no
 *   better code is the old Exchange word for a full disk, unless a mailbox or
 *   a quota is named.  X.3.2 says that the system takes no mail now, so "425
 *   4.3.2 Insufficient system storage" stays congestion.
 * - "452 Requested action not taken: insufficient system storage" is the
 *   standard's own text and is believed, though some servers send it for one
 *   account over quota.  "552 ... exceeded storage allocation", the other
 *   standard text, is size: it is about this message; after RCPT it is about
 *   the mailbox.
 * - Greylisting is known by its words only, and they beat every code but
 *   X.3.1: servers send it with 4.2.0, 4.2.2, 4.7.1 and none.  A time to
 *   wait is among those words only where the text gives no other reason:
 *   "Disk full, retry in 10 minutes" is system-full.
 * - `dns` in a server's reply means names and routes: the next hop cannot be
 *   found or reached, loops included (X.1.2, X.1.10, X.4.0, X.4.1, X.4.3,
 *   X.4.4, X.4.6).  `network` is kept for our own session, where nobody
 *   replied.  X.4.2 and time-outs that a server declares on us are
 *   congestion: it, or the path to it, is too slow.
 * - X.4.7 (expired) tells how long, not why: `other`, unless the text has
 *   the cause.
 * - "Too many recipients" is `other` (the sender sends fewer and is done);
 *   with a span of time ("this hour") it is a rate limit, whatever the code.
 *   "Too many connections" from *you* is a rate limit, from everybody
 *   congestion.
 * - X.1.2 and X.1.10 are about the domain; but some servers send them, and
 *   5.4.1 with "Access denied", for a mailbox that does not exist: there the
 *   text is believed.
 * - X.1.1 is no-such-user even in a 4yz reply and even if the text talks of
 *   policy; only a rate limit, a quota or a full disk that it quotes is
 *   believed against it.  Of X.7.1 texts more is believed, since X.7.1 is sent
 *   for everything.
 * - 454 4.7.0 at AUTH is auth, temporary: the server could not check, the
 *   password need not be wrong.  With a certificate in its text it is tls.
 * - A 421 with X.2.1 closes the session and is congestion, unless its text
 *   says that the mailbox is disabled.  551 is no-such-user unless its text
 *   speaks of an error.
 * - A 5yz that calls the message spam or infected is policy, though it may
 *   quote a subject about a full mailbox.
 * - 450 4.3.2 after RCPT is postscreen's test of new clients: it passes at the
 *   next try and is counted as greylisting; anywhere else X.3.2 is congestion.
 * - Only a 2yz to the dot is `accepted`; without a stage a 250 is `other`.
 * - Where lines carry different basic codes, the last one counts; where basic
 *   and enhanced class disagree, the basic code decides about the message
 *   and the enhanced code about the class.
 */
#include "monitor/classify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/phrase.h"

/*
 * codes: alternatives parted by spaces, "." for any digit, "0" for none.
 * enhanced: likewise; "*" is any number, "20-29" a range, "X" 4 or 5, "-"
 * none; a leading "!" forbids the whole list.
 * NULL: anything.  The first row that matches decides.
 */
struct row {
	unsigned		 stages;	/* bits 1 << stage; 0: any */
	const char		*codes;
	const char		*enhanced;
	const char		*words;		/* as in phrase.h */
	enum outcome_class	 class;
};

#define AT(s)		(1U << STAGE_ ## s)
#define ON_MESSAGE	(AT(MAIL) | AT(DATA) | AT(DOT))
#define ON_WIRE		(AT(CONNECT) | AT(GREETING) | AT(EHLO) | \
			AT(STARTTLS) | AT(EHLO2) | AT(AUTH) | AT(MAIL) | \
			AT(RCPT) | AT(DATA) | AT(QUIT))

/* Before a phrase: not if the text is about one mailbox. */
#define NOT_ONE		"!mailbox&!inbox&!user&!account&!the recipient&" \
			"!recipient s &!recipient has&!recipient is&" \
			"!postfach&!empfanger&"
/* Before a time to wait: not if the text has the reason. */
#define NO_REASON	"!rate&!limit&!too many&!too much&!quota&! full &" \
			"!disk&!space&!storage&!queue file&!spool&!load&" \
			"!busy&!memory&!maintenance&!connections&! locked &" \
			"!blocked by&!blocked using&! tls &! dns &!slow down&"

static const struct row table[] = {

/* What is no trouble.  Only the reply to the dot accepts a message. */
{ AT(DOT),	"2..",	NULL,	NULL,			CLASS_ACCEPTED },
{ 0,		"2.. 3..", NULL, NULL,			CLASS_OTHER },

/* Nobody answered. */
{ AT(LOOKUP),	"0",	"-",	NULL,			CLASS_DNS },
{ AT(DOT),	"0",	"-",	"",			CLASS_UNCERTAIN },

/* By code: the whole system is full. */
{ 0,		NULL,	"X.3.1", NULL,			CLASS_SYSTEM_FULL },
/* The same, said by a server further on and quoted by this one. */
{ 0,		"0 4.. 5..", NULL,
    " 421 4 3 1 | 431 4 3 1 | 450 4 3 1 | 451 4 3 1 | 452 4 3 1 |"
    " 550 5 3 1 | 552 5 3 1 | 554 5 3 1 ",
							CLASS_SYSTEM_FULL },
{ 0,		"4.. 5..", "X.1.* X.4.7",
    " said 4& no space left on device|"
    NOT_ONE "! 4 2 2 & said 4& disk space|"
    NOT_ONE "! 4 2 2 & said 4& disk full| said 4& queue file write error|"
    " said 4& insufficient system storage|"
    " said 4& insufficient system resources",
							CLASS_SYSTEM_FULL },

/* Greylisting has many codes and is told by its words. */
{ 0,		NULL,	NULL,
    "greylist|graylist|grey list|gray list|lista gris| greylst|postgrey|"
    " sqlgrey|"
    " spf gray| spf grey|grey rbl|=grey.rbl| greyed |reconnect to fast|"
    "reconnect too fast|reconnect too soon|reconnected too",
							CLASS_GREYLISTING },
{ 0,		"4..",	"- 4.7.* 4.2.0 4.3.0 4.0.0 4.1.0 4.5.1",
    NO_REASON "come back in |" NO_REASON " come back later|"
    NO_REASON " comeback later|" NO_REASON " come back after |"
    NO_REASON " come again in |"
    NO_REASON " retry in a few m|" NO_REASON " try again in a few m|"
    NO_REASON " try again in & sec|" NO_REASON " try again in & min|"
    NO_REASON " try again after & sec|" NO_REASON " try again after & min|"
    NO_REASON " retry in & sec|" NO_REASON " retry in & min|"
    NO_REASON " retry after & sec|" NO_REASON " retry after & min|"
    NO_REASON "!service& wait & minutes and try again |"
    NO_REASON "!service& wait & seconds and try again |"
    NO_REASON "!service& wait & seconds and retry |"
    NO_REASON " wait & seconds before | first contact & retry|"
    " first contact & try again|"
    "internal resource temporarily unavailable|"
    "internal resource is temporarily unavailable|"
    "internal resources are temporarily unavailable| first time & try |"
    " unknown triplet | new triplet | initial contact |"
    " temporarily deferred for sender verification |"
    " not yet been authorized | not yet authorized to deliver |"
    " triplet | first time we | first attempt |"
    " not seen before ",
							CLASS_GREYLISTING },
{ 0,		"451",	"-",	" temporary failure please try again later ",
							CLASS_GREYLISTING },
{ AT(RCPT),	"450",	"4.3.2", "service currently unavailable",
							CLASS_GREYLISTING },

/* By code: one mailbox, this message; unless it is a limit on the sender. */
{ 0,		NULL,	NULL,
    "submission quota| submissionquota| send quota| sending quota|"
    " transfer quota| queue quota| outbound quota|sender quota|"
    " message quota exceeded for this sender|"
    "daily relay |policy rejection& quota |allowed outgoing messages|"
    "exceeded outgoing|max emails per hour|defers and failures per hour|"
    " you sent to many mails|"
    " you sent too many",
							CLASS_RATE_LIMIT },
{ 0,		NULL,	"X.2.2", NULL,			CLASS_MAILBOX_FULL },
{ 0,		NULL,	"X.2.3 X.3.4 X.7.16",
    "!mailbox full&!policy violation",			CLASS_SIZE },

/* A refused login, whatever the words. */
{ 0,		"535",	NULL,	NULL,			CLASS_AUTH },

/* TLS. */
{ AT(STARTTLS),	"45. 5..", NULL, NULL,			CLASS_TLS },
{ 0,		"523 524 538", NULL, "!message&!list&!recipient", CLASS_TLS },
{ 0,		NULL,	"X.7.10-11", NULL,		CLASS_TLS },
{ 0,		NULL,	"X.7.30", "basic authentication", CLASS_AUTH },
{ 0,		NULL,	"X.7.30", "!dkim",		CLASS_TLS },
{ 0,		NULL,	"X.7.320-325", NULL,		CLASS_TLS },
{ 0,		NULL,	"X.7.5-6",
    "crypto| tls | ssl |certificate",			CLASS_TLS },
{ 0,		"454",	"- X.7.*", "certificate",	CLASS_TLS },
{ 0,		"4.. 53. 54. 55. 57.", "!X.1.1 X.5.2",
    " starttls &!only one | tls & required | tls & not available| tls &"
    " certificate|tlsa record|tls required|tls is required|requires tls|"
    "require tls|required tls|needs tls|must use tls| use tls |"
    " tls currently unavailable| tls not available| tls is not available|"
    " tls unavailable| tls unsupported|not support tls|"
    "not support starttls|tls negotiation|tls handshake|tls channel|"
    "tls connection|tls encryption|tls cipher|tls rate|tls version|"
    "tls error|tls failure|tls protocol|encryption required|"
    "encryption is required|encryption needed|requires encryption|"
    "require encryption|must be encrypted|encrypted connection|unencrypted|"
    "cleartext|clear text|secure connection|ssl required|ssl handshake|"
    "certificate verif|certificate validation|certificate has expired|"
    "certificate expired|security subsystem| mta sts | requiretls |"
    " tls 1 0 | tls 1 1 | tls protected |only tls |ssl certificate|tls verschl|"
    "certificate error|certificate not trusted|certificate is not trusted",
							CLASS_TLS },
{ 0,		"0",	NULL,
    "tls session is required|tls is required|cannot start tls|"
    " ssl connect |did not offer tls",			CLASS_TLS },
{ 0,		"50.",	"!X.1.1 X.5.2",
    "!only one& starttls first| tls not available| tls unavailable|"
    "tls required|not support tls| starttls required| starttls not |"
    " must issue a starttls| tls currently unavailable|"
    "encryption required| ssl attempted| non ssl ",
							CLASS_TLS },

/* How the sender's domain and address are proved: policy, not a login. */
{ 0,		NULL,	"X.7.20-27 X.7.29-30", NULL,	CLASS_POLICY },
{ 0,		NULL,	"!X.1.1 X.4.* X.2.1 X.7.28",
    " dmarc | dkim | spf |=openspf.|sender policy framework| ptr | rdns |"
    " fcrdns |reverse dns|valid reverse|valid hostname|valid host name|"
    "reverse lookup|reverse hostname|reverse host name|reverse mapping|"
    "missing reverse|find your hostname|find your reverse|forward dns|"
    "unresolvable relay| no reverse |helo command rejected|"
    "ehlo command rejected|invalid helo|bad helo| helo name| ehlo name|"
    "helo argument|dynamic ip|dial up|generic host|purported responsible|"
    "sender authentication|required authentication level|"
    "authentication checks|fails authentication|"
    "failed authentication checks|either spf or|email authentication",
							CLASS_POLICY },

/* The login. */
{ 0,		"534",	NULL,	"!message",		CLASS_AUTH },
{ 0,		"530 430 435", "- X.7.* X.5.* X.0.0", NULL, CLASS_AUTH },
{ 0,		"432",	"X.7.*", NULL,			CLASS_AUTH },
{ 0,		"525",	"- X.7.13",
    "!recipient&!mailbox disabled",			CLASS_AUTH },
{ 0,		NULL,	"X.7.8 X.7.12 X.7.14", NULL,	CLASS_AUTH },
{ 0,		"50. 454", "X.7.4 X.5.6", NULL,		CLASS_AUTH },
{ 0,		"454",	"- X.7.0",
    "!relay&!blocked&!rejected&!spam&!try again later&!local problem&"
    "!queue&!too many&!throttl",
							CLASS_AUTH },
{ AT(AUTH),	"5.. 45.", "!X.4.5 X.3.2", NULL,	CLASS_AUTH },
{ 0,		"4.. 5..", "!X.1.1 X.7.28 X.7.5*",
    "authentication required|authentication is required|"
    "requires authentication|require authentication|authentication failed|"
    "authentication failure|authentication unsuccessful|"
    "authentication credentials|authentication error|"
    "authentication mechanism|authentication type|authentication aborted|"
    "authentication not|unable to authenticate|cannot authenticate|"
    "not authenticated|incorrect authentication|authenticate first|"
    "authentification|authentication turned on|must authenticate|"
    "must be authenticated|to authenticate|need to authenticate|"
    "smtp authentication|smtp auth |basic authentication|"
    "server authentication|authorization failure|auth required|"
    "authrequired|auth failed|auth failure|need auth |"
    "unauthenticated senders|unauthenticated relay|unauthenticated user|"
    "anonymous session|invalid credentials|bad credentials|invalid login|"
    "login failed|login denied|login attempts|login incorrect|"
    "failed login|log in before|login not allowed|cannot decode response|"
    "logon failure|login required| log in with | not logged in |"
    " server token|!protected& password |invalid user or password|"
    "username and password|pop before smtp|check for new mail first|"
    "smtpclientauthentication| auth error|authentication canceled|"
    "authentication cancelled|authentication refused|invalid auth string|"
    "too much fail authentication",
							CLASS_AUTH },

/* Unwanted mail is often about full mailboxes; its refusal may quote it. */
{ 0,		"5..",	"- X.0.0 X.6.0 X.7.*",
    " as spam| is spam|spam message|of spam|spam detected|scam detected|"
    " phishing|virus found|virus detected|contains a virus|contains virus|"
    "infected|consider spam",				CLASS_POLICY },

/* The server's own storage, named without X.3.1. */
{ 0,		"0",	"-",
    "!spam&!virus&no space left on device|"
    NOT_ONE "!spam&!virus&disk full|" NOT_ONE "!spam&!virus&disk is full|"
    NOT_ONE "!spam&!virus&!quota&disk space|insufficient system storage|"
    "insufficient system resource|mail system full|mail system is full|"
    "mail server full|mail server is full|mail spool full|space shortage|"
    "queue file write error",
							CLASS_SYSTEM_FULL },
{ 0,		"0 4..", "X.2.1 X.3.0 X.4.7 X.7.*",
    "!spam&!virus&no space left on device|"
    NOT_ONE "!spam&!virus&disk full|" NOT_ONE "!spam&!virus&disk is full|"
    NOT_ONE "!spam&!virus&!quota&disk space|insufficient system storage|"
    "queue file write error|filesystem full|file system full|"
    "!spam&spool & is full ",
							CLASS_SYSTEM_FULL },
{ 0,		"4.. 5..", "- X.0.0 X.3.0 X.3.3 X.3.5 X.4.5 X.5.0 X.2.0 X.6.0",
    NOT_ONE "disk is full|" NOT_ONE "disks are full|" NOT_ONE "disk full|"
    NOT_ONE "disk nearly full|" NOT_ONE "disk almost full|"
    NOT_ONE "drive is full|" NOT_ONE "drive full|partition exhausted|"
    NOT_ONE "server has insufficient storage|" NOT_ONE "disk space|"
    NOT_ONE "disk usage|" NOT_ONE "disk utilization|"
    NOT_ONE "disk is nearly|" NOT_ONE "disk is almost|"
    NOT_ONE "file system almost|" NOT_ONE "file system nearly|"
    NOT_ONE "filesystem almost|" NOT_ONE "filesystem nearly|"
    "message to spool|to the spool|"
    NOT_ONE "festplatte & voll |" NOT_ONE "disque & plein |"
    NOT_ONE "storage volume|" NOT_ONE "plattenplatz|"
    NOT_ONE "espacio en el disco|" NOT_ONE "schijfruimte|"
    NOT_ONE "brak miejsca na serwerze|"
    NOT_ONE "на диске|" NOT_ONE "а сервере недостаточно|"
    NOT_ONE "ディスク容量|" NOT_ONE "磁盘空间|"
    "insufficient system storage|insufficient system resource|"
    "insufficient system space|insufficient storage space on|"
    "mail system full|mail system is full|mailsystem full|"
    "mailsystem is full|mail server full|mail server is full|"
    NOT_ONE "server storage|quota of the server|server is full|server disk|"
    "system storage|"
    "space shortage|shortage of space|no space left on device|"
    NOT_ONE "no space left|no room on|insufficient free disk|"
    NOT_ONE "insufficient free space|" NOT_ONE "not enough free space|"
    NOT_ONE "no free space|" NOT_ONE "storage capacity|"
    NOT_ONE "no storage left|" NOT_ONE "storage device full|"
    NOT_ONE "storage device is full|" NOT_ONE "filesystem at capacity|"
    "spool almost full|spool nearly full|"
    NOT_ONE "store has reached its|store is full|out of space on|"
    "not enough space on the disk|not enough space on disk|"
    "not enough space on server|disk space not enough|low on disk|"
    "low on space|low on storage|filesystem full|filesystem is full|"
    "file system full|file system is full|file system of & is full|"
    "filesystem is & full |file system is & full |partition full|"
    "partition is full|"
    "partition is & full |partition & full |"
    "spool full|spool is full|spool directory full|"
    "spool directory is full|queue directory full|"
    "queue directory is full| var is full | var spool is full |"
    " var full |spool space|writing spool|write spool|"
    "spool file write|spool write|queue file write|write queue file|"
    "writing queue file|writing to queue|queue is full|queue full|"
    "queue disk|write error or disk|disk write|writing to disk|"
    "write to disk|disk error|cannot write &!socket|cannot create & space|"
    "temporary storage failure|storage failure|storage error|"
    NOT_ONE "disk storage|"
    "out of disk| enospc |no free inodes|out of inodes|temporary file &"
    " space|spool & quota|temp file & space|volume is full|volume full|"
    NOT_ONE "storage is exhausted|" NOT_ONE "storage exhausted|"
    "storage backend is full|" NOT_ONE "run out of room|free blocks|"
    "!mailbox&free space & minimum|"
    "quota exceeded on the queue|server is out of storage|"
    "speicherplatz auf dem server|speicherplatz auf dem mailserver|"
    NOT_ONE "speicherplatz mehr|"
    "festplatte voll|festplatte ist voll|!boite&espace disque|"
    "disque plein|disque est plein|"
    "plus de place sur le disque|!buzon&espacio en disco|disco lleno|"
    "disco esta lleno|!caixa&espaco em disco|disco cheio|"
    "!casella&spazio su disco|disco pieno|"
    "brak miejsca na dysku|нет места на диске|memoria di sistema insufficiente",
							CLASS_SYSTEM_FULL },
{ 0,		"431",	"- X.0.0 X.3.0",
    "!mailbox&!quota&!inbox&!account",			CLASS_SYSTEM_FULL },
{ 0,		"4..",	"X.3.0",
    "!mailbox&!user&!account&!inbox&!recipient&!quota& is full ",
							CLASS_SYSTEM_FULL },
{ 0,		"45.",	"- X.0.0 X.3.0",
    NOT_ONE "!recipient& insufficient storage|" NOT_ONE " out of space |"
    NOT_ONE "!recipient&!too many&storage full|"
    NOT_ONE "!recipient&!too many&storage is full|"
    NOT_ONE "!recipient&storage nearly full|"
    NOT_ONE "!recipient&storage almost full|"
    NOT_ONE "!recipient&storage exceeded|"
    NOT_ONE "!recipient&!quota& not enough storage|"
    NOT_ONE "!recipient&!quota& not enough space|"
    NOT_ONE "!recipient&!quota& insufficient space|"
    NOT_ONE "!recipient&no more storage|"
    NOT_ONE "!recipient&no more space|" NOT_ONE "!recipient&no more room|"
    NOT_ONE "!recipient&out of storage|" NOT_ONE "!recipient&room on the|"
    NOT_ONE "kein freier speicherplatz|!buzon&insuficiente en el servidor",
							CLASS_SYSTEM_FULL },

/* Limits on what one sender may do in a span of time. */
{ 0,		"4.. 5..", "!X.6.*",
    "rate limit|ratelimit|limit rate|rate exceed|rate has exceeded|"
    "rate control|rate throttl|throttl|connection rate|message rate|"
    "submission rate|sending rate|unusual rate|receiving mail at a rate|"
    "at a rate that|mail too quickly|too quickly|too fast|slow down|"
    "slowdown|unexpected volume|excessive volume|volume of mail|"
    "volume of email|high volume of|too much mail from|too many mails from|"
    "too many emails from|peak smtp|thread limit|frequency limit|"
    "frequency limited|frequency is limited|frequency control|flood|"
    "exceeded the rate|exceeded the maximum number of conn|"
    "exceeded the max number|message per connection|exceeds the rate|"
    "exceeded the maximum number of mess|exceeded the maximum number of em|"
    "exceeded the limit of mess|exceeded your hourly|hourly limit|"
    "messaging limit|maximum allowed messages|messages for today|"
    "too many outgoing|concurrent connections limit|"
    "outbound limit|messages for one session|messages in one session|"
    "hourly quota|daily limit|daily quota|daily sending|"
    "!has too many recipients&sending limit|"
    "send limit|sent limit|recipient limit exceed|per hour| per day|"
    "per minute|this hour|messages per|emails per|mails per|"
    "recipients per hour|recipients per day|recipients per minute|"
    "messages today|"
    "!on the server&!mailbox&!inbox&!spam&!in the queue&too many messages|"
    "too many emails|too many mails|too many e mails|too much email|"
    "messages from & temporarily deferred|message from & temporarily "
    "deferred|temporarily deferred due to|"
    "temporarily rate|too many connections from|"
    "too many connections for your|!no longer accept&connections from your|"
    "connections from the same|connections from this|sessions from your|"
    "sessions from this|connections from your host|connections per ip|"
    "connections per client|connection limit|too many simultaneous|"
    "simultaneous connections|concurrent connections from|"
    "concurrent smtp connections from|concurrent sessions from|"
    "exceeded connection|trop de connexion|trop de mess|"
    "limite d envoi|mite de env|"
    "demasiados mensajes|zu viele nachrichten|zu viele & verbindungen|"
    "server busy & try again later from | service refuse |"
    "service refused please try| mass mail|"
    "too many bad|too many invalid recipients|too many unknown|"
    "too many failed|too many errors from|too many errors detected|"
    "=rp:|=mi:cel|=mi:dmc|=mi:ccl|=mi:sfq|too many attempts|"
    "too many requests|too many auth |too many new |try again slower|"
    "you have exceeded the|too many rcpts|too many recipients from|"
    " tls sessions from|too many transactions|exceeded limit on|"
    "too many sessions from|too many recent |too many same |"
    "!spam&!score&threshold exceeded|!mailbox&!quota&!storage&!inbox&"
    "reached its limit for| hl icc | hl ifc |"
    "tenant exceeded its|batch limit reached|hourly cap|"
    " messages hour |per time unit|opened too many & conn|"
    "opened too many & sess|"
    "connection frequency|sending allowance|per sender limit|"
    "within the last hour|in the last hour|quota for today|"
    " too often |too frequent|more slowly|"
    "!mailbox&!size&exceeded message limit|"
    "!mailbox&message limit exceeded",
							CLASS_RATE_LIMIT },
{ 0,		"4.. 5..", "X.7.*",
    "too many connections|too many sessions|too many concurrent|"
    "server busy|!mailbox&!storage&!size&limit exceeded| quota exceeded &"
    "!mailbox&!recipient&!user&!box&!spam&!virus&!phish|too many errors|"
    "too many protocol",
							CLASS_RATE_LIMIT },
{ 0,		"421",	"!X.4.5 X.3.2",
    "too many connections",				CLASS_RATE_LIMIT },
{ 0,		NULL,	"X.7.28", NULL,			CLASS_RATE_LIMIT },
{ 0,		NULL,	"X.4.5",
    "limit exceeded|!service unavailable&limit reached|quota exceeded",
							CLASS_RATE_LIMIT },

/* By code: names and routes, addresses, the channel. */
{ 0,		"550 4..", "X.1.10",
    "recipientnotfound|recipient not found|recipient & not|user|mailbox",
							CLASS_NO_SUCH_USER },
{ 0,		"0",	NULL,
    "connection timed out|connection refused|no route to host|"
    "network is unreachable|connection reset|lost connection|"
    "requests to connect|conversation with & timed out|connection closed|"
    "unable to connect|closed connection|establish an smtp connection|"
    "operation timed out",
							CLASS_NETWORK },
{ 0,		NULL,	"X.4.6", "sending activity",	CLASS_POLICY },
{ 0,		NULL,	"X.1.10 X.4.3 X.4.4 X.4.6 X.4.14 X.4.300-399", NULL,
							CLASS_DNS },
{ 0,		NULL,	"X.1.2",
    "mailbox does not|mailbox not|user does not|address not found",
							CLASS_NO_SUCH_USER },
{ 0,		"0 500 55. 54.", "5.4.1",
    "recipient address rejected|access denied|user unknown|no such user|"
    "mailbox",
							CLASS_NO_SUCH_USER },
{ 0,		NULL,	"X.1.1",
    " quota |over quota|overquota|mailbox full|mailbox is full|"
    "storage full|storage is full|storage limit|of storage|"
    "mailbox is over|mailbox over|exceeded storage|exceeded its storage|"
    "insufficient storage|not enough storage| pleine",
							CLASS_MAILBOX_FULL },
{ 0,		NULL,	"X.1.1 X.1.6 X.1.4", NULL,	CLASS_NO_SUCH_USER },

/* The size of this message. */
{ 0,		"0 4.. 5..", "!X.5.2 X.5.4",
    "!mailbox size&message size|!mailbox&size limit|message too large|"
    "message too big|message is too large|message is too big|"
    "message larger|message was too large|mail too large|mail is too large|"
    "mail too big|email too large|email is too large|too large for|"
    "maximum message size|max message size|maximum inbound message|"
    "!mailbox&!mail file&!account has&maximum size|maxsize|message length|"
    "message exceeds|"
    "mail exceeds|"
    "exceeds size|!mailbox&exceeds maximum size|exceeded size|"
    "!mailbox&!mail file&size exceed|databytes|message is too long|"
    "header length|headers too large|header line is too long|"
    "header line too long|"
    "message header is ridic|header size|header too|headers exceed|"
    "too much mail data|too much data|class size|file too big|"
    "file is too large|attachment too|attachments too|"
    "attachment is too|attachment exceeds|attachments exceed|nachricht zu gros|"
    "zu gros|trop volumineux|message trop gros|taille du message|"
    "taille limite|demasiado grande|muito grande|troppo grande|larger than|"
    "we accept & mb ",
							CLASS_SIZE },

/* One mailbox, named without X.2.2. */
{ 0,		"4.. 5..", "!X.1.1",
    "sender verify failed|sender verification failed|"
    "sender address rejected & user unknown|"
    "sender address rejected & undeliverable|"
    "sender address rejected & unverified",		CLASS_POLICY },
{ 0,		"0 4.. 5..", "!X.3.2 X.4.* X.5.3 X.6.*",
    "user unknown|unknown user|no such user|user not found|"
    "does not have an account|doesn t have an account|"
    "unknown recipient |recipient unknown|desconocido|"
    "mailbox & due to inactivity|"
    "account & due to inactivity|recipient account is blocked|"
    "destinataire est bloque|address is marked as invalid|"
    "not in recipient list",
							CLASS_NO_SUCH_USER },
{ 0,		NULL,	"X.2.1",
    "user blocked|user is blocked|user has been blocked|mailbox blocked|"
    "mailbox is blocked|mailbox has been blocked|!your&account blocked|"
    "!your&account is blocked|!your&account has been blocked",
							CLASS_NO_SUCH_USER },
{ 0,		"0 4.. 5..", "!X.3.2 X.4.* X.5.3 X.6.*",
    "mailbox full|mailbox is full|mailbox was full|"
    "mailbox & vol |quota & berschritten|mailbox to exceed|their mail quota|his mail quota|"
    "一杯のため|がいっぱい|邮箱已满|信箱已满|邮箱空间不足|郵箱已滿|信箱已滿|"
    "mailbox is currently full|mailbox currently full|"
    "mailbox for user is full|mail box full|mail box is full|full mailbox|"
    "mailbox would exceed|mailbox has exceeded|mailbox exceeded|"
    "mailbox exceeds|mailbox limit|mailbox size|mailbox quota|mailbox over|"
    "mailbox is over|mailbox already|exceeds mailbox|exceeded mailbox|"
    "mailbox has reached|mailbox exceed|account & storage is full|"
    "space left in recipient|space in recipient|owner has no space|"
    "all of its storage|all of their storage|postfach & ausgeschop|"
    "postfach & ausgeschoepft|messagerie satur|caixa & cheia|"
    "mailfolder is full|mailfolder full|folder is full|inbox is full|"
    "inbox full|inbox is out|inbox has exceeded| box is full|"
    " account is full|account full|account is over|account over|"
    "account has exceeded|account exceeded|over quota|overquota|"
    "over its quota|over their quota|over the quota|over the allowed quota|"
    "exceeding their quota|exceeding quota|space has been used up|"
    "over allocated quota|over disk quota|above quota|quota exceeded|"
    "quotaexceeded|quota is exceeded|quota exceed|quota full|quota is full|"
    "quota violation|quota limit|quota reached|exceeded quota|"
    "exceeded its quota|exceeded his quota|exceeded the quota|"
    "exceeded their quota|exceeded the storage|exceeded storage limit|"
    "exceeds quota|exceeds the quota|exceed quota|out of quota|"
    "beyond quota|user quota|disk quota|disc quota|diskspace quota|"
    "storage quota|storage limit|exceeded its disk|disk space limit|"
    "not enough storage|insufficient quota|has insufficient space|"
    "does not have enough space|doesn t have enough space|"
    "not have enough disk|no space in mailbox|not enough space in|"
    "insufficient space in|out of storage|mail storage & exceeded|"
    "no storage space|storage space in|!office&user is out of|"
    "user has exceeded|"
    "user has too many|user is full|recipient is full|recipient is over|"
    "recipient has exceeded|recipient overquota|recipient storage full|"
    "recipient s mailbox is full|too many messages in|"
    "too many messages on the server|exceeded allowed space|"
    "exceeded its allocated|blocks limit exceeded|inode limit exceeded|"
    "boite & pleine|boite & satur|quota & depasse|quota depasse|"
    "postfach & voll |postfach & uberfullt|mailbox & ist voll |"
    "postfach uberfullt|posteingang voll|zuviele mails|zu viele mails|"
    "kontingent|buzon & lleno |buzon & excedido su cuota|casilla llena|"
    "cuenta llena|"
    "!disk&mailbox & is full|!disk&mailbox is & full |"
    "!disk&mailbox of & full |mailbox temporarily full|mailbox overfull|"
    "is overfull|mailbox capacity|mailbox has no space|mailbox has no room|"
    "mailbox has no more|mailbox & over its |"
    "mailbox storage exhausted|mailbox storage is exhausted|"
    "mailbox storage full|mailbox storage is full|"
    "inbox has no space|no room in mailbox|no room in the mailbox|"
    "no more room|no more space|no more storage|no space for more|"
    "no more capacity|"
    "account has reached its maximum|recipient is out of s|"
    "recipient is out of d|"
    "recipient out of space|recipient has no space|account is out of space|"
    "reached his quota|reached its quota|reached their quota|"
    "account has no free space|user has no free space|quota overrun|"
    "mailbox contains too many|inbox is over|quota is used up|quota used up|"
    "used up his storage|"
    "used up its storage|used up their storage|has used all of|"
    "no free space in the user|"
    "quota & exhausted|exhausted & quota|quota has been exceeded|"
    "quota has been reached|above his quota|above its quota|"
    "above their quota|would exceed quota|would exceed the quota|"
    "quota & atteint|postfach & limit|postfach & speicherplatz|"
    "brevlada & full |postkasse & fuld |postilaatikko & taynna |"
    "!отправ&ревышена квота|!отправ&квота & превышена|"
    "recipient has insufficient|user disk |user s disk |disk full for user|"
    "disk space in account|"
    "mailbox space|exhausted allowed|user has exhausted|speichervolumen|"
    "space is used up|mail file size exceeds|mail file is full|"
    "postbox full|postbox is full|speicherplatz & empfanger|"
    "insufficient channel storage|"
    "cuota excedida|caixa cheia|caixa postal cheia|caixa de correio cheia|"
    "cota excedida|casella & pien|casella & superato la quota|mailbox lleno|"
    "mailbox pieno|mailbox vol |postvak & vol |skrzynka & przepelniona|"
    "skrzynka & przepełniona|skrzynka & pelna |skrzynka & pełna |"
    "schranka & plna |щик & переполнен",
							CLASS_MAILBOX_FULL },
{ 0,		"55.",	"- X.0.0 X.2.* X.3.0 X.5.0",
    "storage full|insufficient storage|out of space",	CLASS_MAILBOX_FULL },
{ AT(RCPT),	"552",	"- X.0.0 X.5.0",
    "exceeded storage allocation",			CLASS_MAILBOX_FULL },
{ 0,		"552",	"- X.0.0 X.5.0",
    "exceeded storage allocation",			CLASS_SIZE },
{ 0,		"550 554", "- X.0.0 X.2.0 X.5.0",
    "exceeded storage allocation",			CLASS_MAILBOX_FULL },

/* What would have to look at it is not there. */
{ 0,		"4..",	"- X.0.0 X.3.* X.7.*",
    "scanner unavailable|scanner is not|scanner not|antivirus is not|"
    "antivirus not|antivirus unavailable",		CLASS_CONGESTION },

/* A word that decides: somebody chose to refuse. */
{ 0,		"0 4.. 5..", "!X.4.* X.1.10",
    "=spamhaus.org|=spamcop.net|=sorbs.net|=barracudacentral|=abuseat.org|"
    "blacklist|black list|blocklist|block list|blocked using|blocked by|"
    "blocked for|blocked due|blocked because|has been blocked|is blocked|"
    "are blocked|was blocked|ip blocked|been blocked|access blocked|"
    " blocked see| blocked |denylist|deny list|rejectlist|badlist|"
    "listed at|!not listed in&listed in|listed on|listed by|is listed|"
    " listed as| rbl |"
    "rbl list| dnsbl| dnsrbl| uribl | surbl | xbl| sbl | zen |spamhaus|"
    "spamcop|sorbs|barracuda|cloudmark|senderscore|sender score|proofpoint&"
    "reputation|reputation|talos|spam|unsolicited|bulk mail|bulk email|"
    " ube | uce |junk|virus|malware|infected|trojan|phish|malicious|abuse|"
    "suspicious|illegal attachment|banned|attachment not|"
    "blocked attachment|prohibited attachment|executable|content rejected|"
    "content reject|content denied|content policy|content filter|"
    "content restriction|content that|contents policy|security issue|"
    "security polic|security reason|local policy|policy violation|"
    "policy reason|policy restriction|policy rejection|policy reject|"
    " for policy |by policy|to policy|policy error|policies|against policy|"
    "our policy|group policy|administrative prohibition|prohibited|"
    "poor sender|not whitelisted|not in whitelist|whitelist|badmailfrom|"
    "badrcptto|bad reputation|user complaints|complaints|"
    "reject by behaviour|behaviour spam|dt spm| dt sum| hl itc| hl irg|"
    " mi spb|suspect| cbl | mapi spam|scored|spamassassin|bayes|phishing|"
    "fraud|scam|a problem occurred & postmaster| batv |third party dsn|"
    "captcha|mail content|members only|non member|closed mailing list|"
    "not subscribed|organizational settings|recipient preferences|"
    "user rules|sending ips| mail score |protocol violation|badrecipientto|"
    "invalid ip|weren t sent| ete bloque|smtp server of your isp| karma |"
    "=/help_spam_|!server sender&sender address is not allowed|"
    "sender address not allowed|sender identity|too many unauthenticated|"
    "von diesem absender| forged |spoofed|spoofing| hl rep | hl mep |"
    " black ip |!certificate&not trusted|message sending for|"
    "sending is disabled|score threshold",
							CLASS_POLICY },
{ 0,		"0 4.. 5..", "!X.4.* X.1.10",
    "relay access denied|relaying denied|relay denied|relaying prohibited|"
    "relay prohibited|relaying is prohibited|relaying not|relay not|"
    "not relay|no relaying|no relay|unable to relay|cannot relay|"
    "can t relay|allowed to relay|open relay|unauthorized relay|"
    "relaying disabled| rcpthost|relay mail|insecure mail relay|"
    "handle mail for|permission to relay|to relay through|refuse to relay|"
    "relay attempt|relaying mail|relaying to|relaying from|"
    "not permitted to relay| openrelay |denies relay|denies relaying|"
    " as a relay ",
							CLASS_POLICY },

/* A message that grew too old: the text may have the cause, see above. */
{ 0,		"0 4.. 5..", "- X.0.0 X.3.0 X.4.7 X.5.0",
    "!dns&message expired|message timed out|been in the queue too long|"
    "delivery time expired",
							CLASS_OTHER },

/* Names and routes, named without a code of their own. */
{ 0,		"556",	NULL,	NULL,			CLASS_DNS },
{ 0,		"0 4.. 5..", "!X.2.2-9 X.6.* X.7.*",
    "host unknown|unknown host|host not found|hostname not found|"
    "domain not found|domain of sender address|no such domain|no such host|"
    "unknown domain|domain unknown|domain name not found|"
    "domain does not exist|domain doesn t exist|nonexistent domain|"
    "non existent domain|nonexistentdomain|domain not exist|"
    "domain must exist|domain must resolve|!rejected&!denied&!allowed&"
    "!accepted&!empty&sender domain|domain must have|domain is not valid|"
    "domain is invalid|domain not valid|domain not active|"
    "domain is not active|domain inactive|domain isn t active|"
    "domain is disabled|domain disabled|domain not reachable|"
    "domain is not reachable|domain unreachable|domain not configured|"
    "domain not hosted|invalid domain|bad domain|illegal host|"
    "invalid dns |not the mx |domain unbekannt|domaine inconnu|"
    "domain des absenders|mail hosts for domain|"
    "host lookup did not complete|indicated no smtp service|"
    "!account&domain may not exist|dns check fail|no valid domain|"
    "unable to contact destination|"
    "name service error|infonorecords|infodomainnonexistent|"
    "establish an smtp connection|name server|name or service not known|"
    "nameserver|nxdomain|null mx|no mx | mx record| mx lookup|"
    "no mail exchanger|mail exchanger|mail exchangers|!accept mail from&"
    "not accept mail|not accept email|doesn t accept mail|"
    "doesn t accept email|unable to route|unrouteable|unroutable|"
    "cannot route|can t route|no route to|not routable|routing loop|"
    "points back to|no route found|mail loop|mailloop|message loop|looping|"
    "forwarding loop|dead domain|"
    "no route for|address is unknown &domain|loop detected|loops back|"
    "mail is looping|too many hops|hop count|hopcount|maximum hop|"
    "too many received|dns lookup|dns query|dns error|dns fail|"
    "dns temporar|dns timeout|dns problem|dns resolution|dns record|"
    "dns soft|dns hard|dns server|unable to resolve|cannot resolve|"
    "can t resolve|could not resolve|couldn t resolve|not resolve|"
    "failed to resolve|resolution failed|resolve failed|resolve fail|"
    "!access denied&!user lookup&lookup failed|lookup failure|"
    "remote server unavailable|"
    "remote host unavailable|next hop|network configuration|"
    "unreachable host|host unreachable|network unreachable|"
    "network is unreachable|host is unreachable|!busy&connection refused|"
    "!database&could not connect|!database&cannot connect to|"
    "!database&unable to connect|"
    "couldn t connect|no valid mx|retry time not reached|"
    "retry timeout exceeded|not answering",
							CLASS_DNS },

{ 0,		NULL,	"X.1.2", NULL,			CLASS_DNS },
{ 0,		"551",	"X.7.*", "loop detected|domain not found",
							CLASS_DNS },
{ 0,		NULL,	"X.1.7 X.1.8",	NULL,		CLASS_POLICY },
{ 0,		"4.. 50.", "X.1.*", " sender |emetteur", CLASS_POLICY },

/* A server that is at a loss, whatever it had been asked about. */
{ 0,		"4.. 5..", "X.3.*",
    "permission denied& writ|permission denied& open|"
    "permission denied& creat",				CLASS_OTHER },
{ 0,		"4..",	"- X.0.0 X.2.0 X.2.1 X.3.*",
    "server configuration|configuration error|lookup failed|sieve|"
    "database failure|database error|ldap server|"
    "permission denied& euid ",				CLASS_OTHER },
{ 0,		"4..",	"- X.0.0 X.2.0 X.2.1 X.3.*",
    "database is offline|server is offline|service is unavailable|"
    "temporairement indisponible",			CLASS_CONGESTION },

/* The recipient. */
{ 0,		NULL,	"X.7.13 X.7.17", NULL,		CLASS_NO_SUCH_USER },
{ 0,		"551",	"- X.0.0 X.1.* X.2.* X.5.0 X.5.1", "! error",
							CLASS_NO_SUCH_USER },
{ 0,		"0 4.. 501 505 51. 52. 53. 54. 55. 56. 57. 58. 59.",
		"!X.3.2 X.4.* X.5.2-6 X.6.*",
    "user unknown|unknown user|unknownuser|userunknown|unknown local|"
    "local user unknown|unknown recipient|recipient unknown|"
    "unknown address|address unknown|adress unknown|unknown mailbox|"
    "mailbox unknown|"
    "unknown account|unknown or illegal|unknown alias|unknown name|"
    "no such user|nosuchuser|no such active|no such mailbox|no such recipient|"
    "no such address|no such account|no such person|no such id|"
    "no such name|no such local|no such email|no such mail|no mailbox|"
    "no mail box|no mail account|!succeeded&no recipient|no account|"
    "no user|no valid recipient|valid recipients|user not|user doesn t|"
    "user does not|user isn t|user is not|user invalid|user has moved|"
    "user has left|user is locked|user hangup|user no longer|not a user|"
    "not a valid|!sender&!domain&!your&not a registered|not a known|"
    "not our customer|not our user|not known|not in our|not in directory|"
    "not listed in|not found in|!host&not local|not an active|"
    "active address|not exist|doesn t exist|does not exist|doesnt exist|"
    "dont exist|don t exist|didn t exist|nonexistent|non existent|nonexist|"
    "inexist|"
    "addressee unknown|couldn t be found|expirado|nicht gefunden|"
    "не существует|ет такого|акого адреса нет|ytkownik nieznany|"
    "finnes ikke|見つかりません|不存在|"
    "mail receiving disabled|can t accept user|not a local address|"
    "not found|recipnotfound|recipientnotfound|not unique|user not recogni|"
    "recipient not recogni|address not recogni|user unrecogni|"
    "recipient unrecogni|address unrecogni|mailbox not|mailbox unavailable|"
    "mailbox is unavailable|mailbox not available|mailbox does not|"
    "mailbox doesn t|mailbox is not|mailbox is disabled|mailbox disabled|"
    "mailbox is inactive|mailbox inactive|mailbox has been|mailbox closed|"
    "mailbox is closed|mailbox name not|mailbox & is unavailable|"
    "invalid recipient|invalid mailbox|invalid user|invalid address|"
    "invalid account|invalid email|invalid local|recipient invalid|"
    "address invalid|address is invalid|recipient is invalid|"
    "recipient rejected|recipient refused|"
    "recipient denied|recipient not|recipient is not|recipient no longer|"
    "recipient error|recipient verification|!want&recipient doesn t|"
    "!want&recipient does not|recipient unavailable|"
    "recipient is unavailable|recipient address is|recipient address has|"
    "recipient verify|failed recipient|bad recipient|bad destination|"
    "bad address|illegal alias|illegal user|rcpt to rejected|!sender&"
    "!recipient address rejected&address rejected|!sender&address not|"
    "address does not|"
    "!not verified&address is not|"
    "address no longer|address has been|address unavailable|"
    "undeliverable address|is not deliverable|"
    "!accepts connections&no longer|account disabled|"
    "!sending&account is disabled|account has been|account inactive|"
    "account is inactive|!authorized&account is not|account not|"
    "account closed|account is closed|account suspended|"
    "account is suspended|account does not|account doesn t|"
    "account unavailable|account terminated|account expired|"
    "expired account|email account|deactivated|inactive user|"
    "inactive mailbox|inactive account|inactive|not active|!support&"
    "!forwarding&!sending&is disabled|!auth&is now disabled|disabled recipient|"
    "has been disabled|"
    "been discontinued|"
    "!server&currently suspended|recipient suspend the|mailbox invalid|"
    "mailbox is frozen|mailbox unavaiable|archived recipient|"
    "user is terminated|could not be found|nessun utente|"
    "no one at this address|user was deleted|user deleted|user has been |"
    "no one here by|finns inte|не найден|"
    "recipients was undeliverable|"
    "addresses were unknown|unknown virtual user|account is locked|"
    "missing home directory|temporary locked|has been replaced by|"
    "extended inactivity|not email addresses|user suspended|"
    "user is suspended|recipient suspended|mailbox suspended|"
    "mailbox is suspended|address suspended|discontinued|doesn t have a |"
    "does not have a |cannot deliver mail for|can t deliver mail for|"
    "cannot be delivered to|moved to|has moved|utilisateur inconnu|"
    "destinataire inconnu|destinataire invalide|!destinataires&destinataire|"
    "adresse inconnue|adresse invalide|adresse d au moins|inconnu|"
    "boite inconnue|unbekannt|!folgende&!erreicht&empfanger|existiert nicht|"
    "kein postfach|desconocid|!destinatarios&destinatario|no exist|"
    "usuario invalido|nao existe|"
    "usuario inexistente|conta inexistente|caixa postal inexistente|"
    "sconosciut|inesistente|non esiste|onbekend|bestaat niet|okand|"
    "findes ikke|nie istnieje|neexistuje|nepoznat|"
    "permanent failure for one or more recipients",
							CLASS_NO_SUCH_USER },
/* What Postfix says of every refusal after RCPT, before it says why. */
{ 0,		"5..",	"- X.0.0 X.1.* X.2.* X.5.0 X.5.1",
    "recipient address rejected",			CLASS_NO_SUCH_USER },
{ 0,		"4..",	"- X.0.0 X.1.*",
    "recipient address rejected",			CLASS_NO_SUCH_USER },
{ 0,		"4.. 5..", "X.3.0 X.3.5",
    "!denied&!unavailable&recipient address rejected",	CLASS_OTHER },

/* Load. */
{ 0,		"0 4.. 5..", "!X.2.1 X.4.7 X.6.* X.7.*",
    "too much load|load average|load too high|system load|server load|"
    "high load|heavy load|overload|too busy|server busy|server is busy|"
    "system busy|system is busy|is busy|busy try| busy please|"
    "currently busy|temporarily busy|congest|too many concurrent|"
    "too many sessions|too many processes|too many smtp|"
    "too many connections|too many clients|too many open|"
    "maximum number of concurrent|maximum connections|"
    "maximum number of connections|max connections|max clients|"
    "all server ports|no more connections|resources temporarily|"
    "resource temporarily|resource shortage|insufficient resource|"
    "out of resources|lack of resources|system resources|out of memory|"
    "workers are in use|workers are busy|memory exhausted|"
    "insufficient memory|not enough memory|memory shortage|"
    "resource exhaustion|resources exhausted|pool exhausted|process limit|"
    "backlog too|queue length exceeded|"
    "resource limitation|queue unavailable|queue is unavailable|"
    "cannot allocate|no memory|low memory|unable to fork|cannot fork|"
    "fork failed|!limit reached&service unavailable|service is unavailable|"
    "service temporarily unavailable|service is temporarily|"
    "service not available|service is not available|service currently|"
    "service is currently|service shutting|!rejected&server temporarily|"
    "server is temporarily|server unavailable|server is unavailable|"
    "server not available|server currently|server is currently|"
    "server is down|server is shutting|server shutting|server offline|"
    "server is offline|shutting down|shutdown|going down|not accepting|"
    "maintenance|mailbox server is offline|offline|backend unavail|"
    "backend not avail|backend is|backend error|upstream error|upstream|"
    "temporary system problem|timeout|time out|timed out|timedout|"
    "connection dropped|connection lost|lost connection|large queue|"
    "queue too|queue is too|concurrent deliver|suspended delivery|"
    "uberlastet|ausgelastet|surcharge|service indisponible|"
    "temporairement indisponible",
							CLASS_CONGESTION },

/* Words that only say no. */
{ 0,		"4.. 505 51. 52. 53. 54. 55. 56. 57. 58. 59.",
		"!X.2.1 X.3.2 X.4.* X.5.1-6",
    "denied|deny|rejected|rejete|rejetee|refused|refuse |refuses|"
    "not allowed|not permitted|not authorized|not authorised|unauthorized|"
    "unauthorised|no permission|permission|permissions|forbidden|"
    "not accepted|not acceptable|not welcome|not wanted|disallowed|"
    "prohibit|restricted|restriction|sender rejected|sender address|"
    "sender not|sender invalid|sender verify|sender verification|"
    "invalid sender|emetteur invalide|sender is|mail from|no smtp service|"
    "rfc 5322|rfc 2822|rfc compl|header error|duplicate header|"
    "multiple addresses|policy|you cannot send|email rejected|reject id|"
    "reject due|reject |failed to delivery|not pre approved|undesired|"
    "!filter timeout&filter|firewall|inappropriate|disclaim|"
    "may not be mail exchanger|"
    "mismatches client|abgelehnt|verweigert|nicht erlaubt|rechazado|"
    "rechazada|rejeitad|rifiutat|odrzucon",
							CLASS_POLICY },
{ 0,		"4.. 5..", "X.7.*",
    " busy |server error|proxy|attribution|too many|timeout|timed out",
							CLASS_CONGESTION },

/* By enhanced code, where no word says better. */
{ 0,		"421",	"X.2.1", NULL,			CLASS_CONGESTION },
{ 0,		NULL,	"X.1.0 X.1.3 X.2.1", NULL,	CLASS_NO_SUCH_USER },
{ 0,		"541 571", NULL, NULL,			CLASS_POLICY },
{ 0,		NULL,	"X.3.2 X.4.5 X.4.2", NULL,	CLASS_CONGESTION },
{ 0,		NULL,	"X.4.0 X.4.1", NULL,		CLASS_DNS },
{ 0,		"421",	"X.7.0", NULL,			CLASS_RATE_LIMIT },
{ 0,		NULL,	"X.7.5-7", NULL,		CLASS_POLICY },
{ 0,		NULL,	"X.7.*", NULL,			CLASS_POLICY },

/* By basic code alone. */
{ 0,		"421",	"- X.0.0", NULL,		CLASS_CONGESTION },
{ AT(RCPT),	"550 553", "- X.0.0 X.5.0", NULL,	CLASS_NO_SUCH_USER },
{ AT(RCPT),	"552",	"- X.0.0 X.2.0 X.5.0",
    "!too many",					CLASS_MAILBOX_FULL },
{ ON_MESSAGE,	"552",	"- X.0.0 X.5.0", "!too many",	CLASS_SIZE },
{ AT(GREETING),	"554",	"- X.0.0 X.5.0 X.3.0", NULL,	CLASS_POLICY },
{ ON_WIRE,	"0",	"-",	"",			CLASS_NETWORK },
{ 0,		NULL,	NULL,	NULL,			CLASS_OTHER },
};


static bool
code_matches(const char *codes, int code)
{
	char	digits[4] = { '0', '\0' };
	size_t	len, i;

	if (codes == NULL)
		return (true);
	if (code != 0)
		snprintf(digits, sizeof digits, "%u", (unsigned)code % 1000U);
	for (;; codes += len + 1) {
		len = strcspn(codes, " ");
		for (i = 0; i < len && digits[i] != '\0'; i++)
			if (codes[i] != '.' && codes[i] != digits[i])
				break;
		if (i == len && digits[i] == '\0')
			return (true);
		if (codes[len] == '\0')
			return (false);
	}
}

/* One part of an enhanced code, "3", "*" or "20-29"; *p moves behind both. */
static bool
part_matches(const char **pattern, const char **status)
{
	unsigned long	from, to, value;
	char		*end;

	value = strtoul(*status, &end, 10);
	*status = *end == '.' ? end + 1 : end;
	if (**pattern == '*') {
		*pattern += (*pattern)[1] == '.' ? 2 : 1;
		return (true);
	}
	from = to = strtoul(*pattern, &end, 10);
	if (*end == '-')
		to = strtoul(end + 1, &end, 10);
	*pattern = *end == '.' ? end + 1 : end;
	return (value >= from && value <= to);
}

static bool
status_matches(const char *pattern, const char *status)
{
	if (*pattern == '-')
		return (*status == '\0');
	if (*status == '\0')
		return (false);
	if (*pattern != *status &&
	    (*pattern != 'X' || (*status != '4' && *status != '5')))
		return (false);
	pattern += 2;
	status += 2;
	return (part_matches(&pattern, &status) &&
	    part_matches(&pattern, &status));
}

static bool
enhanced_matches(const char *patterns, const char *status)
{
	bool	wanted = true, found = false;

	if (patterns == NULL)
		return (true);
	if (*patterns == '!') {
		wanted = false;
		patterns++;
	}
	while (!found) {
		found = status_matches(patterns, status);
		patterns += strcspn(patterns, " ");
		if (*patterns == '\0')
			break;
		patterns++;
	}
	return (found == wanted);
}

static bool
row_matches(const struct row *row, enum stage stage, const struct reply *r,
    const struct phrase_text *t)
{
	return ((row->stages == 0 || (row->stages & 1U << stage) != 0) &&
	    code_matches(row->codes, r->code) &&
	    enhanced_matches(row->enhanced, r->enhanced) &&
	    (row->words == NULL || phrase_match(t, row->words)));
}

/*
 * RFC 5321 4.2.1: the first digit decides.  Without a basic code the class
 * of the enhanced one does; what says nothing at all is tried again.
 */
static enum verdict
verdict(enum outcome_class class, const struct reply *r)
{
	int	first = r->code / 100;

	if (first == 0 && r->enhanced[0] != '\0')
		first = r->enhanced[0] - '0';
	if (class == CLASS_UNCERTAIN)
		return (VERDICT_UNCERTAIN);
	if (first == 2 || first == 3)
		return (VERDICT_ACCEPTED);
	return (first == 5 ? VERDICT_PERMANENT : VERDICT_TEMPORARY);
}

size_t
classify_row(enum stage stage, const struct reply *r)
{
	struct phrase_text	t;
	size_t			i;

	phrase_prepare(&t, r->text);
	for (i = 0; i < NITEMS(table) - 1; i++)
		if (row_matches(&table[i], stage, r, &t))
			break;
	return (i);
}

struct meaning
classify(enum stage stage, const struct reply *r)
{
	enum outcome_class	class = table[classify_row(stage, r)].class;

	return ((struct meaning){ class, verdict(class, r) });
}

size_t
classify_rows(void)
{
	return (NITEMS(table));
}

const char *
classify_row_words(size_t row)
{
	return (table[row].words != NULL ? table[row].words : "");
}
