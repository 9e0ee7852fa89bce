title A sentinel that meets a full mailbox lets another probe try
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r1" { server = "mx" from = "probe@example.org" to = "canary1@example.com" mailbox = "box" every = 5m }
route "r2" { server = "mx" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
route "r3" { server = "mx" from = "probe@example.org" to = "canary3@example.com" mailbox = "box" every = 5m }
route "r4" { server = "mx" from = "probe@example.org" to = "canary4@example.com" mailbox = "box" every = 5m }
route "r5" { server = "mx" from = "probe@example.org" to = "canary5@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
# Whoever is the sentinel: all but one of the recipients are full by now.
30m recipient canary1@example.com answers rcpt "452 4.2.2 Mailbox full"
30m recipient canary2@example.com answers rcpt "452 4.2.2 Mailbox full"
30m recipient canary3@example.com answers rcpt "452 4.2.2 Mailbox full"
30m recipient canary4@example.com answers rcpt "452 4.2.2 Mailbox full"
30m server mx accepts
until 2h
# The system accepts canary5's probes, so it works; the mailboxes do not.
expect episodes system-full 1
expect open 4
3h recipient canary1@example.com accepts
3h recipient canary2@example.com accepts
3h recipient canary3@example.com accepts
3h recipient canary4@example.com accepts
until 6h
expect open 0
expect episodes mailbox-full 4
expect bodies 1
sweep
