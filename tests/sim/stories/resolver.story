title A resolver that is dead for an hour is one episode for four servers
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "s0" { host = "mx0.example.org" tls = "none" port = 25 }
route "r0" { server = "s0" from = "probe@example.org" to = "canary0@example.com" mailbox = "box" every = 5m }
server "s1" { host = "mx1.example.org" tls = "none" port = 25 }
route "r1" { server = "s1" from = "probe@example.org" to = "canary1@example.com" mailbox = "box" every = 5m }
server "s2" { host = "mx2.example.org" tls = "none" port = 25 }
route "r2" { server = "s2" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
server "s3" { host = "mx3.example.org" tls = "none" port = 25 }
route "r3" { server = "s3" from = "probe@example.org" to = "canary3@example.com" mailbox = "box" every = 5m }
end
10m server s0 unresolved
10m server s1 unresolved
10m server s2 unresolved
10m server s3 unresolved
70m server s0 accepts
70m server s1 accepts
70m server s2 accepts
70m server s3 accepts
until 9h
expect notices "failing delivered"
expect said "CANNOT LOOK: resolver, 4 routes" 1
expect episodes blind 1
expect open 0
sweep
