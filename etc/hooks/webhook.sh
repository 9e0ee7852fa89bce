#!/bin/sh
# Posts each notice, the JSON as it is, to a web hook.
#
#	alerts "default" { command = "/usr/share/mailflowd/hooks/webhook.sh /etc/mailflowd/webhook" }
#
# The first line of the file is the address; it may hold a secret, so the file
# belongs to the user of mailflowd with mode 0600, and the address is given to
# curl(1) by its standard input, where ps(1) does not show it.
#
# Exits with curl's status: mailflowd tries again a few times if it is not 0.
# The "id" in the JSON is the same each time, for whoever counts twice.
set -eu
[ $# -eq 1 ] || { echo "usage: webhook.sh FILE" >&2; exit 64; }
IFS= read -r url < "$1" || [ -n "$url" ]
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat > "$body"
printf 'url = "%s"\n' "$url" |
    curl -sS -f -o /dev/null --max-time 20 -K - \
    -H 'Content-Type: application/json' --data-binary "@$body"
