title A clock that is set forward an hour raises no false alarm
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
3m clock +1h
10m server mx answers mail "452 4.3.1 Insufficient system storage"
20m clock +1h
50m server mx accepts
53m clock +1h
until 5h
expect notices "failing reminder accepting delivered"
expect lost 0
expect late 0
expect open 0
expect bodies 1
sweep
