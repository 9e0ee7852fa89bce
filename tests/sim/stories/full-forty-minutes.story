title A full system is one episode: told when it fails, accepts and delivers
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
50m server mx accepts
until 3h
expect notices "failing accepting delivered"
expect open 0
expect noticed system-full 1
expect episodes system-full 1
expect attempts system-full 4..8
expect delivered 20..40
expect bodies 1
sweep
