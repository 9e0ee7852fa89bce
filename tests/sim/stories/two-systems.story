title One of two systems is full: the other accepting ends nothing
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "other" { host = "other.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
route "s" { server = "other" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
until 55m
expect notices "failing"
expect rows s 8..14
expect attempts system-full 3..8
50m server mx accepts
until 3h
expect notices "failing accepting delivered"
expect open 0
expect bodies 1
sweep
