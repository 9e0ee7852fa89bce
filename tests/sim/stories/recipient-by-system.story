title Another server taking mail for a recipient does not hide who refuses it
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
server "old" { host = "old.example.org" tls = "none" port = 25 }
server "small" { host = "small.example.org" tls = "none" port = 25 }
route "nouser" { server = "old" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
route "mboxfull" { server = "small" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server old answers rcpt "550 5.1.1 No such user"
10m server small answers rcpt "452 4.2.2 Mailbox full"
until 55m
expect said "FAILING: canary@example.com answers 550 5.1.1" 1
expect said "FAILING: canary@example.com answers 452 4.2.2" 1
expect open 2
expect rows r 10..12
3h server old accepts
until 7h
expect episodes no-such-user 1
expect open 1
7h server small accepts
until 9h
expect episodes mailbox-full 1
expect open 0
sweep
