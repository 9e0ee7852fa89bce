title A server that swallows mail after the dot is one episode of its route
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} remind = {24h} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx swallows
2h server mx accepts
until 9h
expect notices "failing accepting delivered"
expect episodes uncertain 1
expect episodes undelivered 0
expect open 0
sweep
