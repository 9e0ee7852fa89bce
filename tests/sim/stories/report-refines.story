title What age has opened a report names better, and it stays one episode
config
instance = "sim"
spacing = 0
server "mx" { host = "relay.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
mailbox "return" { host = "imap.example.net" user = "probe" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" bounces = "return" every = 5m }
end
1h mailbox box holds
until 85m
expect notices "failing"
85m report box delayed "452 4.3.1 Insufficient system storage" mx.example.com
until 100m
expect notices "failing reminder"
expect said "Insufficient system storage" 1
100m mailbox box delivers
until 4h
expect notices "failing reminder accepting delivered"
expect open 0
expect episodes system-full 1
expect episodes undelivered 0
expect bodies 1
sweep
