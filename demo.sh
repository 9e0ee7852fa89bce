#!/bin/sh
# Shows mailflowd at work, from nothing, in a few minutes: installs what
# building needs, builds, starts a private Postfix and Dovecot on loopback,
# measures normal mail, lets the mail system be "full" and recover, and shows
# the CSV files and the alert mails.
#
# Starts, stops and changes no service of this machine; nothing is left
# running.  Everything it makes is in ./build and ./.work.
set -u
cd "$(dirname "$0")" || exit 1
top=$(pwd)
logs=$top/.work/demo-logs
export PYTHONDONTWRITEBYTECODE=1

step() {
	name=$1 text=$2; shift 2
	printf '%-52s' "$text ..."
	began=$(date +%s)
	if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
		echo "$(($(date +%s) - began)) s"
		return 0
	fi
	echo 'failed'
	tail -n 25 "$logs/$name.log"
	echo
	echo "The whole log is $logs/$name.log"
	exit 1
}

configure() {
	[ -x configure ] && [ configure -nt configure.ac ] || autoreconf -i || return
	[ -f build/Makefile ] || (mkdir -p build && cd build && "$top/configure" -q)
}

programs() {
	make -C build -j"$(nproc)" mailflowd mailflowctl mailflow-sender mailflow-watcher
}

if [ "$(id -u)" = 0 ]; then
	sudo=
elif command -v sudo >/dev/null; then
	sudo=sudo
else
	echo 'demo.sh: run this as root or install sudo: Postfix needs root, even a private one' >&2
	exit 1
fi

mkdir -p "$logs"
step packages 'Packages to build with' sh tests/setup/packages.sh
step servers 'Postfix and Dovecot, unpacked, not installed' sh tests/setup/servers.sh
step configure 'Configuring' configure
step build 'Building' programs
MAILFLOW_BUILD=$top/build
$sudo env PYTHONDONTWRITEBYTECODE=1 MAILFLOW_BUILD="$MAILFLOW_BUILD" \
    /usr/bin/python3 tests/peers/demo.py "$top/.work/demo"
