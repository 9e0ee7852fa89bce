#include "monitor/reason.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/mem.h"
#include "monitor/text.h"

/* By verdict: what may be retried, and what is final. */
enum tense { NOW, FOREVER, TENSES };

struct words {
	const char	*title;
	/* The second of each may be NULL: the first serves both. */
	const char	*advice[TENSES];
	const char	*meaning[TENSES];
	const char	*act[TENSES];
	const char	*check;		/* points, parted by newlines */
	const char	*apart;		/* likewise: what it is not */
};

static const struct words words[CLASSES] = {
[CLASS_NONE] = {
	.title = "",
	.advice = { "" },
	.meaning = { "" },
	.act = { "" },
	.check = "",
	.apart = "",
},
[CLASS_ACCEPTED] = {
	.title = "accepted",
	.advice = { "the server has the message; delivery is now its duty" },
	.meaning = { "The server took the message, and with it the duty to "
	    "deliver it or to report that it could not. It says nothing yet "
	    "about arrival in the mailbox." },
	.act = { "Nothing." },
	.check = "",
	.apart = "",
},
[CLASS_SYSTEM_FULL] = {
	.title = "mail system full",
	.advice = {
	    "retried for days; the server's admin should look for free space",
	    "not stored, not retried: send again in some hours, tell them "
	    "another way",
	},
	.meaning = {
	    "The server says that it has no room for mail now: the whole "
	    "system, not one mailbox, not this message. It may be short of "
	    "disk, keep a reserve free or lack memory; the reply does not "
	    "tell which.",
	    "The server says that its mail system has no room, and it made "
	    "that final: the message was never stored. It may be short of "
	    "disk, keep a reserve free, lack memory, or send this code for "
	    "another limit; the reply does not tell which.",
	},
	.act = {
	    "Wait: mail that is queued needs no help. Do not send it again and "
	    "again. If it is urgent, tell the recipient another way.",
	    "Retrying at once does not help. Send the message again after some "
	    "hours, and tell the recipient another way if it matters.",
	},
	.check =
	    "Free space and inodes of the queue and spool partitions (df -h, "
	    "df -i).\n"
	    "Postfix also wants 1.5 x message_size_limit free: it refuses with "
	    "gigabytes left if that limit is high (or queue_minfree is).\n"
	    "Exchange back pressure: memory counts there, not only disk.\n"
	    "Logs, backups, snapshots, core files on the same disk.\n"
	    "The queue's length: a mail loop, a wave of spam, a dead next hop.",
	.apart =
	    "4.3.1 is retried; 5.3.1 is the same trouble made final.\n"
	    "4.2.2 and 5.2.2: one mailbox is full; its owner can make room.\n"
	    "4.4.5: too much load; but Sendmail sends it for a full disk.",
},
[CLASS_MAILBOX_FULL] = {
	.title = "mailbox full",
	.advice = {
	    "one mailbox is over its quota; retried until its owner makes room",
	    "one mailbox is over its quota; its owner must make room first",
	},
	.meaning = {
	    "The mailbox of this recipient is over its quota. The mail system "
	    "itself works: other recipients there get their mail.",
	},
	.act = {
	    "Tell the recipient another way that the mailbox is full. Queued "
	    "mail arrives by itself once there is room.",
	    "Tell the recipient another way that the mailbox is full, and send "
	    "the message again when there is room.",
	},
	.check =
	    "The quota of this account and what fills it: trash, junk, sent "
	    "mail, a forgotten folder.\n"
	    "A quota that counts wrongly: recalculate it.\n"
	    "Many full mailboxes at once: a lowered default quota or a full "
	    "mail store.",
	.apart =
	    "4.3.1 and 5.3.1: the whole system is short of room, not one "
	    "mailbox.\n"
	    "5.2.3: this one message is larger than the mailbox allows.",
},
[CLASS_CONGESTION] = {
	.title = "server busy or not taking mail now",
	.advice = {
	    "the server is busy or not taking mail now; retried by itself",
	    "the server takes no mail now and said so finally; send it later",
	},
	.meaning = {
	    "The server works, but takes no mail at the moment: too much load, "
	    "too many sessions, a time-out, a stop for maintenance, or a part "
	    "behind it that does not answer.",
	},
	.act = {
	    "Wait; the next attempts usually pass.",
	    "Send the message again later; nobody retries it.",
	},
	.check =
	    "Load, memory and the number of processes and sessions; limits on "
	    "them.\n"
	    "What stands behind: mail store, database, directory, content "
	    "filter.\n"
	    "Maintenance mode, a stopped service, a wave of connections.",
	.apart =
	    "4.3.1: the system is full, which waiting alone may not mend.\n"
	    "rate limits are about this sender, congestion is about everybody.",
},
[CLASS_GREYLISTING] = {
	.title = "greylisting",
	.advice = {
	    "a first-contact test; passes by itself within minutes to an hour",
	    "a first-contact test, wrongly made final; send it again",
	},
	.meaning = {
	    "The server turns away a first delivery from a sender it has not "
	    "seen, because spammers seldom return. It is no trouble.",
	    "The server means a first-contact test, but answered with a final "
	    "code, so that nobody returns.",
	},
	.act = {
	    "Wait. If it goes on for hours, deliveries may come from changing "
	    "addresses, or each with a new sender or recipient.",
	    "Send the message again after an hour; ask the receiving admin to "
	    "use a temporary code.",
	},
	.check =
	    "Whether the sender's servers can be allowed by name or network.\n"
	    "The data base of the greylisting service: does it keep what it "
	    "learns?",
	.apart =
	    "4.2.0, 4.2.2, 4.7.1: greylisting borrows all these codes; its "
	    "text tells it.",
},
[CLASS_RATE_LIMIT] = {
	.title = "rate limit",
	.advice = {
	    "too much from this sender in too short a time; send less, wait "
	    "longer",
	    "too much from this sender, refused for good; wait, then send "
	    "slowly",
	},
	.meaning = {
	    "The server limits what this sender, this address or this network "
	    "may send or connect in a span of time, or this recipient may "
	    "receive. The limit was reached.",
	},
	.act = {
	    "Send more slowly, with fewer sessions at a time, and wait longer "
	    "before each retry: hammering makes it longer.",
	    "Stop for an hour or more, then send the message again, slowly.",
	},
	.check =
	    "The limits set for senders and networks, and who reached them.\n"
	    "Whether one address hides many users (a gateway, a forwarder).",
	.apart =
	    "\"too many recipients\" limits one message, not a span of time.\n"
	    "congestion is about everybody, a rate limit about this sender.",
},
[CLASS_SIZE] = {
	.title = "message too large",
	.advice = {
	    "this message is too large now; smaller ones pass",
	    "this message is too large; send a smaller one or a link",
	},
	.meaning = {
	    "The message, or its header, is larger than the server or the "
	    "mailbox takes. Smaller messages pass.",
	},
	.act = {
	    "Send a smaller message; put large files elsewhere and send a "
	    "link. Encoding makes an attachment a third larger than its file.",
	},
	.check =
	    "message_size_limit or its like, on every hop and in the filter.\n"
	    "A limit that shrinks with free space is really 4.3.1.",
	.apart =
	    "5.3.4: larger than the system takes; 5.2.3: than this mailbox "
	    "takes.\n"
	    "5.3.1 and 5.2.2: even a small message would not fit.",
},
[CLASS_POLICY] = {
	.title = "refused by policy",
	.advice = {
	    "held back by policy or reputation; read the text, mend the cause",
	    "refused by policy or reputation; read the text, mend the cause",
	},
	.meaning = {
	    "The server chose not to take it: a block list, the reputation of "
	    "the address or domain, SPF, DKIM or DMARC, a missing reverse "
	    "name, the content, or a rule of its own. The text tells which.",
	},
	.act = {
	    "Do not repeat it as it is. Follow the text or the link in it: "
	    "mend DNS records, leave the block list, change the content, or "
	    "ask the receiving postmaster.",
	},
	.check =
	    "The log line of this refusal: which rule, which list.\n"
	    "A block list or filter that refuses everybody: one that was shut "
	    "down, or answers the resolver with errors.",
	.apart =
	    "auth: the login failed; policy: who or what was sent is not "
	    "wanted.",
},
[CLASS_NO_SUCH_USER] = {
	.title = "no such mailbox",
	.advice = {
	    "the address is unknown there for now; check its spelling",
	    "the address does not exist there; check its spelling",
	},
	.meaning = {
	    "The server does not know this recipient now, or the account is "
	    "disabled. It said so temporarily: a directory may be out of "
	    "reach, or the admin is being careful.",
	    "The server does not know this recipient, or the account is "
	    "closed, disabled or moved.",
	},
	.act = {
	    "Check the spelling of the address. If it is right, wait and ask "
	    "the recipient another way.",
	    "Check the spelling of the address; ask the recipient another way "
	    "for the right one. Do not go on sending to it.",
	},
	.check =
	    "The account, its aliases and its domain; a renamed or expired "
	    "one.\n"
	    "The directory or table behind it: an empty or broken table makes "
	    "everybody unknown.",
	.apart =
	    "dns: the domain is unknown; no-such-user: the part before the @.",
},
[CLASS_AUTH] = {
	.title = "login refused",
	.advice = {
	    "the login could not be checked now; the password may be right",
	    "the login was refused or is missing; check user and password",
	},
	.meaning = {
	    "The server could not check the login at the moment, or wants one. "
	    "The password need not be wrong.",
	    "The server wants a login and did not accept ours: a wrong user "
	    "or password, an expired or locked account, or a method it does "
	    "not take.",
	},
	.act = {
	    "Wait before the next attempt; many failures lock an account.",
	    "Check user, password and method; try by hand once. Some providers "
	    "want an application password or OAuth 2.0. Do not go on trying.",
	},
	.check =
	    "The authentication service behind the server and its log.\n"
	    "Locked, expired or renamed accounts; a changed password.",
	.apart =
	    "policy may ask for SPF or DKIM: those are no logins.",
},
[CLASS_TLS] = {
	.title = "TLS trouble",
	.advice = {
	    "TLS failed or is wanted; check certificate, versions, settings",
	},
	.meaning = {
	    "The server wants TLS and did not get it, or TLS could not be set "
	    "up: a certificate, a protocol version, or a server that offers "
	    "STARTTLS and cannot do it.",
	},
	.act = {
	    "Send over TLS; check the certificate, its name and its date.",
	},
	.check =
	    "The certificate: its end, its names, its chain, the key's file "
	    "rights.\n"
	    "Protocol versions and ciphers after an upgrade.\n"
	    "MTA-STS and DANE records that no longer fit the certificate.",
	.apart =
	    "530 and 538 at login time ask for TLS first, not for a password.",
},
[CLASS_DNS] = {
	.title = "name or route trouble",
	.advice = {
	    "a name could not be looked up or a route found; retried",
	    "the domain or a route to it was not found; check its DNS records",
	},
	.meaning = {
	    "A domain or host could not be looked up, the next hop could not "
	    "be reached, or mail went in a circle.",
	},
	.act = {
	    "Check the spelling of the domain. Queued mail is retried by "
	    "itself.",
	    "Check the spelling of the domain and its MX records, then send "
	    "the message again.",
	},
	.check =
	    "MX and address records of the domain, from outside.\n"
	    "The resolver the mail server uses.\n"
	    "Forwarding rules and transports that lead in a circle.",
	.apart =
	    "network: our own connection failed; dns: a name or a later route.",
},
[CLASS_NETWORK] = {
	.title = "no connection",
	.advice = {
	    "the server could not be reached or hung up; retried",
	},
	.meaning = {
	    "No session came about, or it broke: the connection was refused, "
	    "reset, or nobody answered in time.",
	},
	.act = {
	    "Wait; mail servers retry, and try other MX hosts.",
	},
	.check =
	    "Is the service running and listening, on IPv4 and on IPv6?\n"
	    "Firewalls, fail2ban and connection limits on the way.\n"
	    "Greeting delays longer than the sender waits.",
	.apart =
	    "congestion: the server answers and says that it is busy.",
},
[CLASS_UNCERTAIN] = {
	.title = "not known whether accepted",
	.advice = {
	    "no answer after the message: do not send it again, look for it",
	},
	.meaning = {
	    "The whole message was sent, and no answer came. The server may "
	    "have it or not (RFC 5321 4.5.3.2.6 and 6.1).",
	},
	.act = {
	    "Do not send it again: that makes duplicates. Look in the mailbox.",
	},
	.check =
	    "What takes so long after the final dot: a content filter, a slow "
	    "disk.\n"
	    "The server's log for this message: was it queued?",
	.apart = "network: the connection broke before the message was sent.",
},
[CLASS_UNDELIVERED] = {
	.title = "accepted, but not delivered",
	.advice = {
	    "accepted but not seen in the mailbox; look at queues and junk",
	    "accepted, then given up: the report says why",
	},
	.meaning = {
	    "A server accepted the message, but it has not been seen in the "
	    "mailbox. A relay may be holding it, a filter may have put it "
	    "aside, or a later server refuses it.",
	    "A server accepted the message and later gave up on it.",
	},
	.act = {
	    "Look in the junk folder; wait for a report; tell the recipient "
	    "another way if it matters.",
	    "Read the report for the reason, and mend that.",
	},
	.check =
	    "The queues of every hop: mailq, deferred mail, held mail.\n"
	    "Quarantine, junk, and filters that drop silently.\n"
	    "The log of the last server that had it.",
	.apart = "",
},
[CLASS_OTHER] = {
	.title = "other",
	.advice = {
	    "no known cause; retried by itself; read the text",
	    "refused for another reason; read the text",
	},
	.meaning = {
	    "The reply names no cause that has a class of its own. Its text is "
	    "all there is.",
	},
	.act = {
	    "Wait; if it goes on, ask the receiving postmaster and quote the "
	    "reply.",
	    "Read the text; ask the receiving postmaster and quote the reply.",
	},
	.check =
	    "The server's log for this session.\n"
	    "A general error such as 4.3.0 may hide a full disk: see there "
	    "first.",
	.apart = "",
},
[CLASS_BLIND] = {
	.title = "the monitor could not look",
	.advice = {
	    "the monitor itself could not look; nothing is known of the mail",
	},
	.meaning = {
	    "The monitor could not do its own part: its login, its resolver, "
	    "its network or its access to the mailbox. Nothing is known about "
	    "the mail flow meanwhile; no mail is counted as lost.",
	},
	.act = {
	    "Mend the monitor's access; its log says what failed.",
	},
	.check = "",
	.apart = "",
},
};

/* Meanings that the enhanced code, or its absence, makes sharper. */
static const struct {
	enum outcome_class	 class;
	enum tense		 tense;
	const char		*tail;	/* of the enhanced code; "" if none */
	const char		*meaning;
} sharper[] = {
{ CLASS_SYSTEM_FULL, NOW, "4.5",
    "The server says that its own disk is short of space, by words; the code "
    "4.4.5 says congestion, which is Sendmail's way to put it. The whole "
    "system, not one mailbox." },
{ CLASS_SYSTEM_FULL, NOW, "",
    "By its words the server has no room for mail now: its own storage, not "
    "one mailbox, not this message. It sent no enhanced code that would say "
    "so for certain." },
{ CLASS_SYSTEM_FULL, NOW, "3.0",
    "By its words the server could not store the message: its own queue or "
    "spool, not one mailbox. The code 4.3.0 is general and does not say so." },
{ CLASS_AUTH, NOW, "7.0",
    "The server could not check the login at the moment: the service behind "
    "it may be down. The password need not be wrong." },
};

static const char *const fates[VERDICTS] = {
[VERDICT_NONE] = "",
[VERDICT_ACCEPTED] = "The server has taken it.",
[VERDICT_TEMPORARY] = "A mail server keeps the message and retries, every "
    "half hour or so, until its queue lifetime ends: usually 4 to 5 days. "
    "Then it bounces.",
[VERDICT_PERMANENT] = "Final for this message: no server retries it; its "
    "sender gets a bounce at once.",
[VERDICT_UNCERTAIN] = "A mail server tries again and may deliver the message "
    "twice; the monitor never re-sends such a probe.",
};

/*
 * The registered enhanced status codes, in ascending order.  A class has a
 * text if the code may come with it: by its definition, by the basic codes
 * registered for it, or because servers send it so every day.
 */
static const struct reason_code codes[] = {
{ 0, 0, "All went well.",
    "Something went wrong for now; nothing more is known.",
    "It failed for good; nothing more is known.", "RFC 3463" },
{ 1, 0, "Something about the address, all well.",
    "Something about an address, for now.",
    "Something about an address made it fail.", "RFC 3463" },
{ 1, 1, NULL,
    "The mailbox is unknown now; the server may not be sure of it.",
    "There is no such mailbox: the part before the @ is wrong.", "RFC 3463" },
{ 1, 2, NULL,
    "The recipient's domain cannot be found or used now.",
    "The recipient's domain does not exist or takes no mail.", "RFC 3463" },
{ 1, 3, NULL,
    "The recipient's address is not well-formed, says the server for now.",
    "The recipient's address is not well-formed.", "RFC 3463" },
{ 1, 4, NULL,
    "The recipient's address fits several mailboxes for now.",
    "The recipient's address fits more than one mailbox.", "RFC 3463" },
{ 1, 5, "The recipient's address is valid.", NULL, NULL, "RFC 3463" },
{ 1, 6, NULL,
    "The mailbox has moved, for now without a new address.",
    "The mailbox has moved and left no new address.", "RFC 3463" },
{ 1, 7, NULL,
    "The sender's address is not well-formed, says the server for now.",
    "The sender's address is not well-formed.", "RFC 3463" },
{ 1, 8, NULL,
    "The sender's domain cannot be found or used now.",
    "The sender's domain does not exist or cannot take replies.",
    "RFC 3463" },
{ 1, 9, "Relayed to a system that will send no further report.",
    "Held on the way to a system that sends no reports.",
    "Relayed to a system that sends no reports, and failed.", "RFC 3886" },
{ 1, 10, NULL,
    "The recipient's domain says that it takes no mail (null MX), for now.",
    "The recipient's domain says that it takes no mail (null MX).",
    "RFC 7505" },
{ 2, 0, "Something about the mailbox, all well.",
    "Something about this one mailbox, for now.",
    "Something about this one mailbox made it fail.", "RFC 3463" },
{ 2, 1, NULL,
    "The mailbox exists but is switched off for now.",
    "The mailbox exists but is switched off and takes no mail.",
    "RFC 3463" },
{ 2, 2, NULL,
    "This one mailbox is full; its owner can make room.",
    "This one mailbox is full, and the server will not wait for room.",
    "RFC 3463" },
{ 2, 3, NULL,
    "The message is larger than this mailbox takes at the moment.",
    "The message is larger than this mailbox takes.", "RFC 3463" },
{ 2, 4, NULL,
    "The mailing list could not be expanded now.",
    "The mailing list could not be expanded.", "RFC 3463" },
{ 3, 0, "Something about the mail system, all well.",
    "Something in the mail system failed for now; not said what.",
    "Something in the mail system made it fail; not said what.",
    "RFC 3463" },
{ 3, 1, NULL,
    "The whole mail system is out of storage, not one mailbox.",
    "The mail system is out of storage, and this refusal is final.",
    "RFC 3463" },
{ 3, 2, NULL,
    "The system takes no mail from the network now: load, stop, repair.",
    "The system takes no mail from the network.", "RFC 3463" },
{ 3, 3, NULL,
    "The system cannot do something this message asks for, for now.",
    "The system cannot do something this message asks for.", "RFC 3463" },
{ 3, 4, NULL,
    "The message is larger than the system takes at the moment.",
    "The message is larger than the system takes.", "RFC 3463" },
{ 3, 5, NULL,
    "The system is set up wrongly for this message, for now.",
    "The system is set up wrongly for this message.", "RFC 3463" },
{ 3, 6, "Taken, but with another priority than asked for.", NULL, NULL,
    "RFC 6710" },
{ 4, 0, "Something about network or routes, all well.",
    "Something about the network or the route, for now.",
    "Something about the network or the route made it fail.", "RFC 3463" },
{ 4, 1, NULL,
    "The next host did not answer.",
    "The next host did not answer, and nobody tries again.", "RFC 3463" },
{ 4, 2, NULL,
    "The connection to the next host broke or timed out.",
    "The connection broke or timed out, and nobody tries again.",
    "RFC 3463" },
{ 4, 3, NULL,
    "A directory or DNS server could not be asked.",
    "A directory or DNS server could not be asked, for good.", "RFC 3463" },
{ 4, 4, NULL,
    "No route to the next host was found now.",
    "There is no route to the next host.", "RFC 3463" },
{ 4, 5, NULL,
    "The mail system has more to do than it can.",
    "The mail system has more to do than it can, and will not wait.",
    "RFC 3463" },
{ 4, 6, NULL,
    "The message goes in a circle.",
    "The message went in a circle and was stopped.", "RFC 3463" },
{ 4, 7, NULL,
    "The message has waited too long; the true cause is another.",
    "The message waited too long and was given up.", "RFC 3463" },
{ 5, 0, "Something about the protocol, all well.",
    "Something about the protocol, for now.",
    "Something about the protocol made it fail.", "RFC 3463" },
{ 5, 1, NULL,
    "A command came out of turn or is not known, for now.",
    "A command came out of turn or is not known.", "RFC 3463" },
{ 5, 2, NULL,
    "A command could not be read, for now.",
    "A command could not be read.", "RFC 3463" },
{ 5, 3, NULL,
    "Too many recipients in one go; the rest may follow.",
    "Too many recipients for one message.", "RFC 3463" },
{ 5, 4, NULL,
    "A command had arguments that are not possible now.",
    "A command had arguments that are not possible.", "RFC 3463" },
{ 5, 5, NULL,
    "The two sides speak different versions, for now.",
    "The two sides speak different versions of the protocol.", "RFC 3463" },
{ 5, 6, NULL,
    "A line of the login exchange was too long, for now.",
    "A line of the login exchange was too long.", "RFC 4954" },
{ 6, 0, "Something about the content, all well.",
    "Something about the content, for now.",
    "Something about the content made it fail.", "RFC 3463" },
{ 6, 1, NULL,
    "This kind of content cannot be taken now.",
    "This kind of content is not taken.", "RFC 3463" },
{ 6, 2, NULL,
    "The content would need converting, which is forbidden for now.",
    "The content would need converting, which is forbidden.", "RFC 3463" },
{ 6, 3, NULL,
    "The content would need converting, which cannot be done now.",
    "The content would need converting, which cannot be done.",
    "RFC 3463" },
{ 6, 4, "Delivered, but something was lost in converting.",
    "Something would be lost in converting, for now.",
    "Something would be lost in converting, which the sender forbade.",
    "RFC 3463" },
{ 6, 5, NULL,
    "Converting the content failed for now.",
    "Converting the content failed.", "RFC 3463" },
{ 6, 6, NULL,
    "Content kept elsewhere could not be fetched now.",
    "Content kept elsewhere could not be fetched.", "RFC 4468" },
{ 6, 7, NULL,
    "Addresses beyond ASCII are not taken here now.",
    "Addresses beyond ASCII are not taken for this sender or recipient.",
    "RFC 6531" },
{ 6, 8, "The answer would need UTF-8, which the client did not allow.",
    "The answer would need UTF-8, which the client did not allow.",
    "The answer would need UTF-8, which the client did not allow.",
    "RFC 6531" },
{ 6, 9, NULL,
    "Headers in UTF-8 cannot be passed on to a recipient now.",
    "Headers in UTF-8 cannot be passed on to a recipient.", "RFC 6531" },
{ 6, 10, NULL,
    "Withdrawn: the same as X.6.8.",
    "Withdrawn: the same as X.6.8.", "RFC 6531" },
{ 7, 0, "Something about security, all well.",
    "Something about security or policy, for now.",
    "Something about security or policy made it fail.", "RFC 3463" },
{ 7, 1, NULL,
    "Not allowed to send this there now: a rule, a list, greylisting.",
    "Not allowed to send this there: a rule, a list, a filter.",
    "RFC 3463" },
{ 7, 2, NULL,
    "Not allowed to write to this mailing list for now.",
    "Not allowed to write to this mailing list.", "RFC 3463" },
{ 7, 3, NULL,
    "A secured message cannot be turned into another form now.",
    "A secured message cannot be turned into the form needed.",
    "RFC 3463" },
{ 7, 4, NULL,
    "A security feature asked for is not supported now.",
    "A security feature asked for is not supported.", "RFC 3463" },
{ 7, 5, NULL,
    "A key or certificate was missing or bad, for now.",
    "A key or certificate was missing or bad.", "RFC 3463" },
{ 7, 6, NULL,
    "A cryptographic method is not supported, for now.",
    "A cryptographic method is not supported.", "RFC 3463" },
{ 7, 7, "The message was altered on the way, yet delivered.",
    "The message was altered on the way, for now.",
    "The message was altered or damaged on the way.", "RFC 3463" },
{ 7, 8, NULL,
    "The login could not be accepted for now.",
    "User or password is wrong.", "RFC 4954" },
{ 7, 9, NULL,
    "The login method is too weak for now.",
    "The login method is too weak for this user.", "RFC 4954" },
{ 7, 10, NULL,
    "Encryption is needed first, for now.",
    "Encryption is needed before this login.", "RFC 5248" },
{ 7, 11, NULL,
    "This login method is only taken over TLS, for now.",
    "This login method is only taken over TLS.", "RFC 4954" },
{ 7, 12, NULL,
    "The password must first be moved to this login method.",
    "The password must be moved to this login method.", "RFC 4954" },
{ 7, 13, NULL,
    "The account is switched off for now.",
    "The account is switched off; only its admin can change that.",
    "RFC 5248" },
{ 7, 14, NULL,
    "The server must be trusted by another one, and is not for now.",
    "The server must be trusted by another one, and is not.", "RFC 5248" },
{ 7, 15, NULL,
    "The priority is too low to be taken at the moment.",
    "The priority is too low to be taken.", "RFC 6710" },
{ 7, 16, NULL,
    "The message is too large for its priority at the moment.",
    "The message is too large for its priority.", "RFC 6710" },
{ 7, 17, NULL,
    "The mailbox may have a new owner since the date given.",
    "The mailbox has a new owner since the date given.", "RFC 7293" },
{ 7, 18, NULL,
    "The domain may have a new owner since the date given.",
    "The domain has a new owner since the date given.", "RFC 7293" },
{ 7, 19, NULL,
    "Whether the owner has changed cannot be told now.",
    "Whether the owner has changed cannot be told.", "RFC 7293" },
{ 7, 20, NULL,
    "No DKIM signature was valid, for now.",
    "No DKIM signature was valid.", "RFC 7372" },
{ 7, 21, NULL,
    "A DKIM signature is valid, but none is acceptable, for now.",
    "A DKIM signature is valid, but none is acceptable.", "RFC 7372" },
{ 7, 22, NULL,
    "No valid DKIM signature belongs to the author's domain, for now.",
    "No valid DKIM signature belongs to the author's domain.",
    "RFC 7372" },
{ 7, 23, NULL,
    "SPF says this host may not send for the domain, for now.",
    "SPF says this host may not send for the domain.", "RFC 7372" },
{ 7, 24, NULL,
    "SPF could not be checked now: a DNS trouble of the sender's domain.",
    "SPF could not be checked: the sender's record is broken.",
    "RFC 7372" },
{ 7, 25, NULL,
    "The reverse name of the sending host was not found now.",
    "The reverse name of the sending host is missing or does not fit.",
    "RFC 7372" },
{ 7, 26, NULL,
    "Several checks of the sender failed for now.",
    "Several checks of the sender failed (SPF, DKIM, DMARC).",
    "RFC 7372" },
{ 7, 27, NULL,
    "The sender's domain says that it takes no mail (null MX), for now.",
    "The sender's domain says that it takes no mail (null MX).",
    "RFC 7505" },
{ 7, 28, NULL,
    "The message looks like part of a flood; wait.",
    "The message looks like part of a flood.", "IANA" },
{ 7, 29, NULL,
    "The ARC chain of the message could not be validated now.",
    "The ARC chain of the message is not valid.", "RFC 8617" },
{ 7, 30, NULL,
    "The message asks for TLS all the way, which fails for now.",
    "The message asks for TLS all the way, which the next hop lacks.",
    "RFC 8689" },
};

static const struct words *
words_of(enum outcome_class class)
{
	return (&words[class < CLASSES ? class : CLASS_NONE]);
}

static const char *
by_tense(const char *const texts[TENSES], enum verdict v)
{
	if (v == VERDICT_PERMANENT && texts[FOREVER] != NULL)
		return (texts[FOREVER]);
	return (texts[NOW] != NULL ? texts[NOW] : "");
}

const char *
reason_title(enum outcome_class class)
{
	return (words_of(class)->title);
}

const char *
reason_advice(enum outcome_class class, enum verdict v)
{
	if (class == CLASS_OTHER && v == VERDICT_ACCEPTED)
		return ("no trouble: the server goes on");
	return (by_tense(words_of(class)->advice, v));
}

const char *
reason_meaning(enum outcome_class class, enum verdict v, const char *enhanced)
{
	enum tense	tense = v == VERDICT_PERMANENT ? FOREVER : NOW;
	const char	*tail = *enhanced != '\0' ? enhanced + 2 : "";

	if (class == CLASS_OTHER && v == VERDICT_ACCEPTED)
		return ("The server agrees and waits for what comes next.");
	for (size_t i = 0; i < NITEMS(sharper); i++)
		if (sharper[i].class == class && sharper[i].tense == tense &&
		    strcmp(sharper[i].tail, tail) == 0)
			return (sharper[i].meaning);
	return (by_tense(words_of(class)->meaning, v));
}

const char *
reason_do(enum outcome_class class, enum verdict v)
{
	if (class == CLASS_OTHER && v == VERDICT_ACCEPTED)
		return ("Nothing.");
	return (by_tense(words_of(class)->act, v));
}

const char *
reason_fate(enum outcome_class class, enum verdict v)
{
	if (class == CLASS_GREYLISTING && v == VERDICT_TEMPORARY)
		return ("A mail server keeps the message and retries; it "
		    "passes after some minutes, at most an hour or two.");
	if (class == CLASS_OTHER && v == VERDICT_ACCEPTED)
		return ("The session goes on.");
	return (fates[v < VERDICTS ? v : VERDICT_NONE]);
}

const char *
reason_check(enum outcome_class class, enum verdict v)
{
	if (v == VERDICT_ACCEPTED)
		return ("");
	return (words_of(class)->check);
}

const char *
reason_apart(enum outcome_class class)
{
	return (words_of(class)->apart);
}

const struct reason_code *
reason_codes(size_t *count_r)
{
	*count_r = NITEMS(codes);
	return (codes);
}

static int
compare_codes(const void *a, const void *b)
{
	const struct reason_code	*x = a, *y = b;

	return (x->subject != y->subject ? x->subject - y->subject :
	    x->detail - y->detail);
}

/* "4.3.1" into its parts; false if it is not written so. */
static bool
split(const char *enhanced, int *class_r, struct reason_code *key_r)
{
	char	*end;
	long	 part[3];

	for (size_t i = 0; i < 3; i++) {
		if (*enhanced < '0' || *enhanced > '9')
			return (false);
		part[i] = strtol(enhanced, &end, 10);
		if (part[i] > 999 || *end != (i < 2 ? '.' : '\0'))
			return (false);
		enhanced = i < 2 ? end + 1 : end;
	}
	*class_r = (int)part[0];
	key_r->subject = (int)part[1];
	key_r->detail = (int)part[2];
	return (true);
}

const char *
reason_code(const char *enhanced)
{
	struct reason_code		 key = { .subject = 0 };
	const struct reason_code	*found;
	const char			*text = NULL;
	int				 class;

	if (!split(enhanced, &class, &key))
		return ("");
	found = bsearch(&key, codes, NITEMS(codes), sizeof *codes,
	    compare_codes);
	if (found != NULL)
		text = class == 2 ? found->success :
		    class == 4 ? found->temporary :
		    class == 5 ? found->permanent : NULL;
	return (text != NULL ? text : "");
}

/* How much of s fits in width columns, cut at a space if it can be. */
static size_t
fill(const char *s, size_t width)
{
	size_t	end = strcspn(s, "\n"), n = width;

	if (end <= width)
		return (end);
	while (n > 0 && s[n] != ' ')
		n--;
	if (n > 0)
		return (n);
	return (strcspn(s, " \n"));
}

bool
reason_wrap(char *buf, size_t size, const char *text, size_t columns,
    const char *first, const char *rest)
{
	const char	*indent = first;
	size_t		 width, n;
	bool		 fits = true;

	while (*text != '\0') {
		width = strlen(indent);
		width = columns > width ? columns - width : 1;
		n = fill(text, width);
		fits = text_appendf(buf, size, "%s%.*s\n", indent, (int)n,
		    text) && fits;
		text += n;
		indent = *text == '\n' ? first : rest;
		if (*text == '\n')
			text++;
		text += strspn(text, " ");
	}
	return (fits);
}
