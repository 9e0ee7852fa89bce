title Five routes on one full server are one episode, and one probe tries
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
10m server mx answers mail "452 4.3.1 Insufficient system storage"
20m server mx answers mail "452 4.3.1 Insufficient system storage"
until 50m
expect notices "failing"
# Each route's first probe may be under way when it begins; then one tries.
expect attempts system-full 4..12
50m server mx accepts
until 3h
expect notices "failing accepting delivered"
expect episodes system-full 1
expect open 0
expect rows r1 25..40
expect rows r2 25..40
expect rows r3 25..40
expect rows r4 25..40
expect rows r5 25..40
expect bodies 1
sweep
