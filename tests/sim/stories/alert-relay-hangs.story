title An alert relay that hangs holds up neither the command nor another relay
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "far" { host = "far.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
server "second" { host = "192.0.2.10" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"a@example.net", "b@example.net", "c@example.net", "d@example.net", "e@example.net"} servers = {"alert", "second"} command = "page" }
alerts "other" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"second"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m alerts = "default" }
route "s" { server = "far" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m alerts = "other" }
end
5m server alert hangs
10m server mx answers mail "452 4.3.1 Insufficient system storage"
12m server far answers mail "452 4.3.1 Insufficient system storage"
until 19m
expect notices "failing! failing"
# Killed at its deadline: they go by the second, and so does all that follows.
19m server far accepts
19m server mx accepts
until 25m
expect said "X-Mailflow-Notice: failing" 6
until 1h
expect said "X-Mailflow-Notice: accepting" 6
expect said "X-Mailflow-Notice: delivered" 6
expect repeats 0
expect open 0
