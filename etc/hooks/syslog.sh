#!/bin/sh
# Writes one line a notice to the system's log, for whoever collects it.
#
#	alerts "default" { command = "/usr/share/mailflowd/hooks/syslog.sh" }
#	alerts "default" { command = "/usr/share/mailflowd/hooks/syslog.sh -p local0.alert" }
#
# Arguments are for logger(1).  What is failing is daemon.err without them,
# the rest daemon.notice.  Needs nothing but sed(1).
set -eu
json=$(cat)
# The values hold no quote that is not escaped.
field() {
	printf '%s\n' "$json" |
	    sed -n 's/^{.*[{,]"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p' |
	    sed 's/\\\(["\\]\)/\1/g'
}
kind=$(field kind)
if [ $# -eq 0 ]; then
	case $kind in
	failing | reminder) set -- -p daemon.err ;;
	unwatched) set -- -p daemon.warning ;;
	*) set -- -p daemon.notice ;;
	esac
fi
exec logger -t mailflowd-alert "$@" -- "$kind: $(field subject)"
