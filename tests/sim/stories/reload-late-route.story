title A route has another name while its mail is late: what the old one awaited is no longer watched
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
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "new" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m mailbox box holds
40m reload
40m mailbox box delivers
until 8h
expect notices "failing unwatched"
expect open 0
expect episodes undelivered 1
sweep
