title A blind mailbox is one episode, and no mail is called late or lost
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
1h mailbox box blind "login refused"
until 68m
expect notices ""
until 30h
expect lost 0
expect late 0
30h mailbox box sees
until 36h
expect episodes blind 1
expect episodes 1
expect open 0
expect lost 0
expect bodies 1
