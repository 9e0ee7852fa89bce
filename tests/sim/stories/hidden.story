title A relay that hides three days of trouble is not filled up
# Accepted and not seen: six probes, then one an hour; the age tells it.  The
# arrival of one handed over after the last sign of trouble tells both ends at
# once.
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
1h mailbox box holds
until 100m
expect pending r 6
expect notices "failing"
until 4h
expect pending r 6..9
73h mailbox box delivers
until 80h
expect notices "failing reminder reminder reminder reminder reminder reminder accepting delivered"
expect open 0
expect episodes undelivered 1
expect unaccepted undelivered 1
expect noted was-lost 40..80
expect bodies 1
