#!/bin/sh
# Tells a chat room: the subject, and the beginning of the body.
#
#	alerts "default" { command = "/usr/share/mailflowd/hooks/chat.sh slack /etc/mailflowd/chat" }
#
# slack, mattermost, rocketchat	{"text": ...} to an incoming web hook
# discord			{"content": ...} to a web hook
# matrix			an m.text message; the file's address is that of
#				the room with its token:
#	https://HOST/_matrix/client/v3/rooms/ROOM/send/m.room.message?access_token=TOKEN
#
# The first line of the file is the address: mode 0600, as in webhook.sh.
# Needs jq(1) and curl(1).
set -eu
[ $# -eq 2 ] || { echo "usage: chat.sh KIND FILE" >&2; exit 64; }
case $1 in
slack | mattermost | rocketchat) as='{text: .}' ;;
discord) as='{content: .[0:1900]}' ;;
matrix) as='{msgtype: "m.text", body: .}' ;;
*) echo "chat.sh: $1: not known" >&2; exit 64 ;;
esac
IFS= read -r url < "$2" || [ -n "$url" ]
body=$(mktemp)
trap 'rm -f "$body"' EXIT
jq "(.subject + \"\\n\\n\" + (.body | .[0:1500])) | $as" > "$body"
printf 'url = "%s"\n' "$url" |
    curl -sS -f -o /dev/null --max-time 20 -K - \
    -H 'Content-Type: application/json' --data-binary "@$body"
