title A report that all went well so far is noted and alarms nobody
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
70m report box relayed "250 2.1.5 Ok" mx.example.com
80m mailbox box delivers
until 3h
expect notices ""
expect noted reported-relayed 1..3
expect bounced 0
expect open 0
sweep
