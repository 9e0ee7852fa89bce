title Signs of life come every hour, restarts or not
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} heartbeat = 1h }
end
until 30m
expect notices "heartbeat"
30m restart
45m restart
until 59m
expect notices "heartbeat"
until 191m
expect notices "heartbeat heartbeat heartbeat heartbeat"
expect said "1 route, 0 episodes open" 4
sweep
