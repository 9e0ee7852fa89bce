title A mail that arrives twice is one delivery and one duplicate
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m mailbox box doubles
16m mailbox box delivers
until 1h
expect duplicates 1..2
expect rows 8..14
expect delivered 8..14
expect notices ""
expect open 0
sweep
