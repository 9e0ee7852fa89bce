title A lost mail is lost after a day of looking, restarts or not
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx swallows
12m server mx accepts
3h restart
8h restart
13h restart
18h restart
23h restart
until 30h
expect notices "failing accepting delivered"
expect lost 1
expect bodies 1
expect open 0
