#!/bin/sh
# Installs what building and testing needs, and nothing that runs: compilers,
# libraries, Python.  No mail server ever comes in, not even as a
# recommendation, and nothing is removed to make room.  Does nothing at all,
# and asks no archive, when everything is there already.
#
# usage: packages.sh [PACKAGE...]     more packages, beside the usual ones
set -eu

packages="gcc libc6-dev make autoconf automake pkg-config
	libesmtp-dev libetpan-dev libconfuse-dev libcmocka-dev libuv1-dev
	libsqlite3-dev libjansson-dev libc-ares-dev libssl-dev openssl python3
	iproute2"

# dpkg may know a package and say "not-installed" or "config-files" of it.
# A package of two architectures has two lines, and one of them is enough.
installed() {
	dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null |
	    grep -qx installed
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "packages.sh: needs root or sudo to install:$missing" >&2
		exit 1
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
	    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

install() {
	apt install --no-install-recommends --no-remove $missing
}

missing=
for p in $packages "$@"; do
	installed "$p" || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

# The lists may be absent (a fresh image) or stale (a file that is no longer
# in the archive): in both cases one update is the cure.
install || { apt update && install; }
