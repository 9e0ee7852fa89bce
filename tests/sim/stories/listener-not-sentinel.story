title A dead port keeps nobody from seeing that its host has room again
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
end
# Both are refused as full, so that the dead one may be the sentinel.
10m server mx answers mail "452 4.3.1 Insufficient system storage"
10m server sub answers mail "452 4.3.1 Insufficient system storage"
20m server sub refuses
50m server mx accepts
until 3h
expect episodes system-full 1
expect said "ACCEPTING AGAIN: mx.example.org after" 1
expect said "DELIVERED AGAIN: mx.example.org after" 1
expect open 1
expect rows r 26..37
4h server sub accepts
until 6h
expect episodes network 1
expect open 0
expect bodies 1
sweep
