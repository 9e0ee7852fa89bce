title A refused login at one port is told, and holds back no other
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
server "sub" { host = "mx.example.org" tls = "none" port = 587 user = "probe" password_command = "true" insecure_auth = true }
route "s" { server = "sub" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
end
10m server sub answers auth "535 5.7.8 Authentication failed"
until 55m
expect notices "failing"
expect said "CANNOT LOOK: mx.example.org:587" 1
expect rows r 10..12
3h server sub accepts
until 6h
expect episodes blind 1
expect open 0
