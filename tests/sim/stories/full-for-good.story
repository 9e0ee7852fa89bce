title A system full for good: told so, and not tried again for four hours
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "554 5.3.1 Mail system full"
12m server mx answers mail "554 5.3.1 Mail system full"
20m server mx accepts
until 4h
expect notices "failing reminder reminder"
expect attempts system-full 1
expect rejected 1
until 7h
expect notices "failing reminder reminder accepting delivered"
expect open 0
expect said "never stored" 1..
