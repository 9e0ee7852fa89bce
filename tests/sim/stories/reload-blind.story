title A mailbox has another name while it cannot be looked at: the old one is no longer watched
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
mailbox "other" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "other" every = 5m }
end
10m mailbox box blind "login refused"
40m reload
until 30h
expect notices "failing unwatched"
expect open 0
expect episodes blind 1
sweep
