title Of a route that is paused while it fails nobody is reminded
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
30m pause r
until 30h
expect notices "failing"
30h resume r
30h server mx accepts
until 32h
expect notices "failing accepting delivered"
expect open 0
