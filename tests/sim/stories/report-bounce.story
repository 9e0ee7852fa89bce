title Probes that a relay gives up end as bounced and raise one alarm
config
instance = "sim"
spacing = 0
server "mx" { host = "relay.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
mailbox "return" { host = "imap.example.net" user = "probe" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" bounces = "return" every = 5m late_after = 12h }
end
1h mailbox box holds
2h report box failed "452 4.3.1 Insufficient system storage" mx.example.com
until 150m
expect notices "failing"
expect bounced 4..7
150m mailbox box delivers
until 5h
expect notices "failing accepting delivered"
expect open 0
expect episodes system-full 1
expect bounced 4..7
expect lost 0
expect pending r 0..1
expect bodies 1
sweep
