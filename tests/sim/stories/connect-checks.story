title Connect checks between probes raise no alarm and delay nothing
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 connect_every = 1m }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 15m }
end
61m server mx answers greeting "421 4.3.2 Too many connections"
72m server mx accepts
until 4h
expect notices ""
expect delivered 14..17
expect open 0
expect bodies 1
sweep
