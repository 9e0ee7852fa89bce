title A dead port is told although the host's other port takes mail
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
10m server sub refuses
until 55m
expect notices "failing"
# The healthy one goes on as if nothing were.
expect rows r 10..12
expect said "FAILING: mx.example.org:587" 1
3h server sub accepts
until 5h
expect episodes network 1
expect open 0
expect said "ACCEPTING AGAIN: mx.example.org:587" 1
expect said "DELIVERED AGAIN: mx.example.org:587" 1
expect bodies 1
sweep
