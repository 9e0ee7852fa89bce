title The server has another host after a reload: the old one is no longer watched, which is told
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
config2
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx" { host = "mx9.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
30m reload
30m server mx accepts
until 30h
expect notices "failing unwatched"
expect said "It is not known whether" 1
expect open 0
expect episodes system-full 1
sweep
