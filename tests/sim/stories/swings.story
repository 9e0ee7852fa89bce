title Back pressure that swings six times in an hour is told with damping
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 1m retry = {1m} }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
15m server mx accepts
20m server mx answers mail "452 4.3.1 Insufficient system storage"
25m server mx accepts
30m server mx answers mail "452 4.3.1 Insufficient system storage"
35m server mx accepts
40m server mx answers mail "452 4.3.1 Insufficient system storage"
45m server mx accepts
50m server mx answers mail "452 4.3.1 Insufficient system storage"
55m server mx accepts
60m server mx answers mail "452 4.3.1 Insufficient system storage"
65m server mx accepts
until 65m
# Told at once: that it fails, and its first recovery.  Then the swings are
# one more failure, and its end is told when it has held for half an hour.
expect notices "failing accepting delivered failing"
until 3h
expect notices "failing accepting delivered failing accepting delivered"
expect episodes system-full 1
expect open 0
