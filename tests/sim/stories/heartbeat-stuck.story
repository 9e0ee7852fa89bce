title Signs of life that cannot go do not queue up
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} heartbeat = 1h }
end
30m server alert refuses
10h server alert accepts
until 665m
expect notices "heartbeat heartbeat heartbeat"
sweep
