title A delay report opens the episode that a relay hides
# The relay takes every mail, and hours later says that it cannot pass them on.
config
instance = "sim"
spacing = 0
server "mx" { host = "relay.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
mailbox "return" { host = "imap.example.net" user = "probe" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" bounces = "return" every = 5m late_after = 12h }
end
1h mailbox box holds
until 5h
expect notices ""
5h report box delayed "452 4.3.1 Insufficient system storage" mx.example.com
until 350m
expect notices "failing"
expect open 1
350m mailbox box delivers
until 9h
expect notices "failing accepting delivered"
expect open 0
expect episodes system-full 1
expect unaccepted system-full 1
expect noted reported-delayed 6..12
expect said "mx.example.com" 3
expect bounced 0
expect bodies 1
sweep
