title One of two mail hosts of a domain is full: the other's accepting ends nothing
config
instance = "sim"
spacing = 0
server "world" { mx = "each" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "world" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
0s domain example.com hosts "mx1.example.com mx2.example.com"
2h server mx1.example.com answers mail "452 4.3.1 Insufficient system storage"
165m server mx1.example.com accepts
until 6h
expect notices "failing accepting delivered"
expect sessions mx2.example.com 55..75
expect attempts system-full 3..8
expect episodes system-full 1
expect open 0
expect bodies 1
sweep
