title Restarts do not make the monitor ask a refused recipient more often
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers rcpt "550 5.1.1 <canary@example.com>: User unknown"
12m restart
40m restart
100m restart
3h restart
9h restart
until 26h
# After 15 minutes, an hour, then every four hours.
expect attempts no-such-user 7..9
expect rejected 7..9
26h server mx accepts
until 34h
expect open 0
expect episodes no-such-user 1
expect bodies 1
