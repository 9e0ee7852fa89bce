title A route has another name while its server is full: the new one shows the end
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
config2
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "new" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
30m reload
40m server mx accepts
until 30h
expect notices "failing accepting delivered"
expect open 0
expect episodes system-full 1
sweep
