title A whole network that is gone is bounded in what it tries
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r1" { server = "mx" from = "probe@example.org" to = "canary1@example.com" mailbox = "box" every = 5m }
route "r2" { server = "mx" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
route "r3" { server = "mx" from = "probe@example.org" to = "canary3@example.com" mailbox = "box" every = 5m }
route "r4" { server = "mx" from = "probe@example.org" to = "canary4@example.com" mailbox = "box" every = 5m }
route "r5" { server = "mx" from = "probe@example.org" to = "canary5@example.com" mailbox = "box" every = 5m }
end
10m server mx refuses
3h server mx accepts
until 6h
expect notices "failing reminder accepting delivered"
expect attempts network 15..40
expect open 0
