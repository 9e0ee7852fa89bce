title Trouble that begins and ends in a maintenance window is not told
config
instance = "sim"
spacing = 0
server "mx" { host = "mx.example.org" tls = "none" port = 25 }
server "alert" { host = "192.0.2.9" tls = "none" port = 25 }
mailbox "box" { host = "imap.example.org" user = "canary" password_command = "true" poll = 60s }
alerts "default" { from = "mailflowd@example.net" to = {"admin@example.net"} servers = {"alert"} }
window "night" { routes = {"r*"} from = "02:00" to = "03:00" timezone = "Europe/Berlin" }
route "r" { server = "mx" from = "probe@example.org" to = "canary@example.com" mailbox = "box" every = 5m }
end
70m server mx answers mail "452 4.3.1 Insufficient system storage"
100m server mx accepts
until 6h
expect notices ""
expect episodes system-full 1
expect open 0
expect noticed system-full 0
sweep
