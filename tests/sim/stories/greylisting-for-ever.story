title Greylisting beyond its grace is trouble
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
10m server mx answers rcpt "450 4.2.0 <canary@example.com>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.com.html"
3h server mx accepts
until 5h
expect notices "failing reminder accepting delivered"
expect open 0
