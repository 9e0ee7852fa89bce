title What is late and lost by the same look is told all the same
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 10m }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m late_after = 2m lost_after = 4m }
end
10m mailbox box loses
2h mailbox box delivers
until 4h
expect lost 5..
expect notices "failing reminder accepting delivered"
expect open 0
sweep
