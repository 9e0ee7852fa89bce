title A mailbox that is blind over the recovery: delivery is told when seen
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
30m mailbox box blind "connection refused"
50m server mx accepts
until 2h
expect said "cannot be confirmed" 1
expect notices "failing failing accepting reminder"
2h mailbox box sees
until 4h
expect notices "failing failing accepting reminder delivered delivered"
expect open 0
expect lost 0
