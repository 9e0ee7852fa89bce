title A login that is refused twice is left alone for an hour
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 user = "probe" password_command = "true" insecure_auth = true }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers auth "535 5.7.8 Authentication failed"
until 65m
expect attempts auth 2
expect sessions mx 3..6
until 4h
expect attempts auth 8
4h server mx accepts
until 7h
expect episodes blind 1
expect open 0
expect bodies 1
