title A bounce for an unknown recipient is the recipient's trouble
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
62m report box failed "550 5.1.1 No such user" mx.example.com
until 2h
expect notices "failing"
expect said "canary@example.com" 1..3
2h mailbox box delivers
until 4h
expect notices "failing accepting delivered"
expect episodes no-such-user 1
expect open 0
