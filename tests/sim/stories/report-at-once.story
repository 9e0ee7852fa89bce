title Bounces that are seen before their session has ended are not lost
config
instance = "sim"
spacing = 0
server "mx" { host = "relay.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
mailbox "return" { host = "imap.example.net" user = "probe" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" bounces = "return" every = 5m }
end
1s early
30m mailbox box bounces
until 50m
expect notices "failing"
expect bounced 3..4
50m mailbox box delivers
until 3h
expect notices "failing accepting delivered"
expect bounced 3..4
expect open 0
expect episodes policy 1
expect bodies 1
sweep
