title Where probes are rare the arrival of the late one ends its episode soon, by a new one
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} remind = {24h} }
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 4h }
end
1h mailbox box holds
510m mailbox box delivers
until 509m
expect notices "failing"
until 515m
expect notices "failing accepting delivered"
expect open 0
expect late 1..2
expect delivered 1..2
expect bodies 1
sweep
