title What a removed route left full ends by another port's accepts
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
server "sub" { host = "mx.example.org" tls = "none" port = 587 }
route "s" { server = "sub" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
server "full" { host = "mx.example.org" tls = "none" port = 26 }
route "f" { server = "full" from = "probe@example.org" to = "canary3@example.com" mailbox = "box" every = 5m }
end
config2
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
server "sub" { host = "mx.example.org" tls = "none" port = 587 }
route "s" { server = "sub" from = "probe@example.org" to = "canary2@example.com" mailbox = "box" every = 5m }
end
10m server sub refuses
25m server full answers mail "452 4.3.1 Insufficient system storage"
25m server mx answers mail "452 4.3.1 Insufficient system storage"
40m reload
50m server mx accepts
until 3h
expect episodes system-full 1
expect open 1
4h server sub accepts
until 6h
expect open 0
expect bodies 1
sweep
