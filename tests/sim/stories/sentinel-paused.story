title A sentinel whose route is paused lets another probe try
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
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
# Twice: it may be down at the first.
30m pause r1
31m pause r2
32m pause r1
33m pause r2
50m server mx accepts
until 3h
expect notices "failing accepting delivered"
3h resume r1
3h resume r2
181m resume r1
182m resume r2
until 4h
expect notices "failing accepting delivered"
expect open 0
expect rows r1 10..30
expect rows r2 10..30
expect bodies 1
sweep
