title Whose address is corrected is not held back by what was said of the old one
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
config2
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "other@example.com" mailbox = "box" every = 5m }
end
10m server mx answers rcpt "550 5.1.1 <canary@example.com>: User unknown"
4h server mx accepts
4h reload
until 6h
expect rejected 3..4
expect delivered 23..
sweep
