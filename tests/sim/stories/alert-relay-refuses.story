title An alert relay that refuses for good: the second takes it
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "second" { host = "192.0.2.10" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert", "second"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
5m server alert answers rcpt "550 5.7.1 Relaying denied"
10m server mx answers mail "452 4.3.1 Insufficient system storage"
50m server mx accepts
until 3h
expect notices "failing accepting delivered"
expect repeats 0..1
expect said "This notice is late" 0
expect open 0
sweep
