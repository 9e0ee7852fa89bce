title More than twenty notices in an hour become one summary
config
instance = "sim"
spacing = 0
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
server "mx1" { host = "mx1.example.org" tls = "none" port = 25 }
route "r1" { server = "mx1" from = "probe@example.org" to = "canary1@example1.com" mailbox = "box" every = 5m }
server "mx2" { host = "mx2.example.org" tls = "none" port = 25 }
route "r2" { server = "mx2" from = "probe@example.org" to = "canary2@example2.com" mailbox = "box" every = 5m }
server "mx3" { host = "mx3.example.org" tls = "none" port = 25 }
route "r3" { server = "mx3" from = "probe@example.org" to = "canary3@example3.com" mailbox = "box" every = 5m }
server "mx4" { host = "mx4.example.org" tls = "none" port = 25 }
route "r4" { server = "mx4" from = "probe@example.org" to = "canary4@example4.com" mailbox = "box" every = 5m }
server "mx5" { host = "mx5.example.org" tls = "none" port = 25 }
route "r5" { server = "mx5" from = "probe@example.org" to = "canary5@example5.com" mailbox = "box" every = 5m }
server "mx6" { host = "mx6.example.org" tls = "none" port = 25 }
route "r6" { server = "mx6" from = "probe@example.org" to = "canary6@example6.com" mailbox = "box" every = 5m }
server "mx7" { host = "mx7.example.org" tls = "none" port = 25 }
route "r7" { server = "mx7" from = "probe@example.org" to = "canary7@example7.com" mailbox = "box" every = 5m }
server "mx8" { host = "mx8.example.org" tls = "none" port = 25 }
route "r8" { server = "mx8" from = "probe@example.org" to = "canary8@example8.com" mailbox = "box" every = 5m }
server "mx9" { host = "mx9.example.org" tls = "none" port = 25 }
route "r9" { server = "mx9" from = "probe@example.org" to = "canary9@example9.com" mailbox = "box" every = 5m }
server "mx10" { host = "mx10.example.org" tls = "none" port = 25 }
route "r10" { server = "mx10" from = "probe@example.org" to = "canary10@example10.com" mailbox = "box" every = 5m }
server "mx11" { host = "mx11.example.org" tls = "none" port = 25 }
route "r11" { server = "mx11" from = "probe@example.org" to = "canary11@example11.com" mailbox = "box" every = 5m }
server "mx12" { host = "mx12.example.org" tls = "none" port = 25 }
route "r12" { server = "mx12" from = "probe@example.org" to = "canary12@example12.com" mailbox = "box" every = 5m }
end
10m server mx1 answers mail "452 4.3.1 Insufficient system storage"
10m server mx2 answers mail "452 4.3.1 Insufficient system storage"
10m server mx3 answers mail "452 4.3.1 Insufficient system storage"
10m server mx4 answers mail "452 4.3.1 Insufficient system storage"
10m server mx5 answers mail "452 4.3.1 Insufficient system storage"
10m server mx6 answers mail "452 4.3.1 Insufficient system storage"
10m server mx7 answers mail "452 4.3.1 Insufficient system storage"
10m server mx8 answers mail "452 4.3.1 Insufficient system storage"
10m server mx9 answers mail "452 4.3.1 Insufficient system storage"
10m server mx10 answers mail "452 4.3.1 Insufficient system storage"
10m server mx11 answers mail "452 4.3.1 Insufficient system storage"
10m server mx12 answers mail "452 4.3.1 Insufficient system storage"
until 20m
expect notices "failing failing failing failing failing failing failing failing failing failing failing failing"
25m server mx1 accepts
25m server mx2 accepts
25m server mx3 accepts
25m server mx4 accepts
25m server mx5 accepts
25m server mx6 accepts
25m server mx7 accepts
25m server mx8 accepts
25m server mx9 accepts
25m server mx10 accepts
25m server mx11 accepts
25m server mx12 accepts
until 65m
until 80m
expect said "16 further notices were held back" 1
expect said "DELIVERED AGAIN: mx1.example.org" 1
expect said "DELIVERED AGAIN: mx2.example.org" 1
expect said "DELIVERED AGAIN: mx11.example.org" 1
expect said "DELIVERED AGAIN: mx12.example.org" 1
expect open 0
80m server mx3 answers mail "452 4.3.1 Insufficient system storage"
until 90m
expect said "FAILING: mx3" 2
sweep
