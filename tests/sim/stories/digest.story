title A digest comes once a day, and once after days of downtime
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} digest = "08:00" timezone = "Europe/Berlin" }
end
until 419m
expect notices ""
until 421m
expect notices "digest"
expect said "Route" 1
10h server mx answers mail "452 4.3.1 Insufficient system storage"
640m server mx accepts
until 1861m
expect notices "digest failing accepting delivered digest"
31h down 3d
until 104h
expect notices "digest failing accepting delivered digest digest"
until 126h
expect notices "digest failing accepting delivered digest digest"
until 128h
expect notices "digest failing accepting delivered digest digest digest"
