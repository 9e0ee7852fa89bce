title A refused connection is trouble after two misses and five minutes
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx refuses
until 14m
expect notices ""
until 30m
expect notices "failing"
40m server mx accepts
until 3h
expect notices "failing accepting delivered"
expect episodes network 1
expect open 0
sweep
