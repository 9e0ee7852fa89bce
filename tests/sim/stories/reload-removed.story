title What a removed route left full is no longer watched, and its people are told
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
server "other" { host = "other.example.org" tls = "none" port = 25 }
route "q" { server = "other" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
end
config2
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "other" { host = "other.example.org" tls = "none" port = 25 }
route "q" { server = "other" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
end
10m server mx answers mail "452 4.3.1 Insufficient system storage"
30m reload
until 8h
expect notices "failing unwatched"
expect open 0
expect episodes system-full 1
expect bodies 1
sweep
