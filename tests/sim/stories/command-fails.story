title A command that always fails holds up no mail
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} command = "silent-fail" }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
50m server mx accepts
until 5h
expect notices "failing accepting delivered"
expect open 0
sweep
