title A mail host that has been gone for a day is no longer watched, one that is back in time is
config
instance = "sim"
spacing = 0
server "world" { mx = "each" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} remind = {240h} }
route "r" { server = "world" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 30m }
end
0s domain example.com hosts "mx1.example.com mx2.example.com"
2h server mx1.example.com answers mail "554 5.3.1 Mail system full"
3h domain example.com hosts "mx2.example.com"
20h domain example.com hosts "mx1.example.com mx2.example.com"
22h domain example.com hosts "mx2.example.com"
until 44h
expect notices "failing"
expect open 1
until 60h
expect notices "failing unwatched"
expect open 0
expect episodes system-full 1
sweep
