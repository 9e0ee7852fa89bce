title An episode whose routes are all paused waits for them
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r1" { server = "mx" from = "probe@example.org" to = "canary1@example.com" mailbox = "box" every = 5m }
route "r2" { server = "mx" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
30m pause r1
30m pause r2
50m server mx accepts
until 6h
expect notices "failing"
6h resume r1
until 8h
expect notices "failing accepting delivered"
expect open 0
