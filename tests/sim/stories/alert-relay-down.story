title The alert relay is down for three hours: each notice comes once, in order
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
5m server alert refuses
10m server mx answers mail "452 4.3.1 Insufficient system storage"
50m server mx accepts
until 3h
expect notices ""
185m server alert accepts
until 5h
expect notices "failing accepting delivered"
expect said "This notice is late" 3
expect open 0
sweep
