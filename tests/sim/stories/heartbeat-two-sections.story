title Signs of life of two sections at one moment are two mails, even to one person
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m alerts = "default" }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} heartbeat = 1h }
alerts "other" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} heartbeat = 1h }
end
until 30m
expect notices "heartbeat heartbeat"
until 95m
expect notices "heartbeat heartbeat heartbeat heartbeat"
expect repeats 0..2
sweep
