#!/bin/sh
# Finds the Postfix and Dovecot that the tests and the demonstration run, and
# prints where each is: "postfix ROOT" and "dovecot ROOT", where ROOT is empty
# for the machine's own installation.  What is not installed is unpacked, with
# the libraries it lacks, into a folder of the project's own.  Nothing here is
# started, configured or installed: dpkg -x runs no script of a package.
#
# usage: servers.sh [DIRECTORY]      default: .work/servers in this checkout
#
# MAILFLOW_SERVERS=DIRECTORY says the same; MAILFLOW_UNPACK=1 unpacks both even
# where they are installed.
set -eu
export LC_ALL=C

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:-${MAILFLOW_SERVERS:-$top/.work/servers}}
root=$dir/root

has_postfix() {
	[ -z "${MAILFLOW_UNPACK:-}" ] &&
	    [ -x /usr/sbin/postconf ] && [ -x /usr/lib/postfix/sbin/master ]
}

has_dovecot() {
	[ -z "${MAILFLOW_UNPACK:-}" ] && [ -x /usr/sbin/dovecot ] &&
	    [ -x /usr/lib/dovecot/imap ] && [ -x /usr/lib/dovecot/lmtp ]
}

# The packages that apt would install for the wanted ones on this machine: the
# servers and the libraries they lack.  What a server needs only to be set up
# by its own scripts (adduser, ucf, a snake-oil certificate) is left out, and
# so is the C library, which must match the running one.
needed() {
	apt-get -s -o Debug::NoLocking=1 --no-install-recommends \
	    --reinstall install "$@" 2>"$dir/apt.log" |
	    awk '$1 == "Inst" { print $2 }' |
	    grep -Ev '^(libc6|libc-bin|adduser|ucf|ssl-cert|netbase|cpio|lsb-base|sysvinit-utils|libpam-runtime|openssl|debconf|perl.*|sensible-utils|passwd)$'
}

fetch() {
	(cd "$dir/debs" && apt-get -q -o APT::Sandbox::User=root \
	    download "$@") >>"$dir/apt.log" 2>&1
}

update() {
	if [ "$(id -u)" = 0 ]; then
		apt-get -q update
	else
		sudo apt-get -q update
	fi >>"$dir/apt.log" 2>&1
}

unpack() {
	mkdir -p "$dir/debs"
	rm -rf "$root" "$dir"/debs/*.deb
	list=$(needed "$@") && fetch $list || {
		update
		list=$(needed "$@") && fetch $list
	} || {
		echo "servers.sh: cannot download $*; see $dir/apt.log" >&2
		exit 1
	}
	for deb in "$dir"/debs/*.deb; do
		dpkg -x "$deb" "$root.new"
	done
	rm -rf "$dir/debs"
	gcc -O2 -Wall -D_GNU_SOURCE -DROOT="\"$root\"" -shared -fPIC \
	    -o "$root.new/relocate.so" "$top/tests/setup/relocate.c"
	mv "$root.new" "$root"
}

dovecots="dovecot-core dovecot-imapd dovecot-lmtpd dovecot-sieve"
postfix= dovecot= wanted=
has_postfix || { postfix=$root wanted="$wanted postfix"; }
has_dovecot || { dovecot=$root wanted="$wanted $dovecots"; }

if [ -n "$wanted" ]; then
	mkdir -p "$dir"
	# A folder that was moved or copied is made anew: its place is built in.
	if [ "$(cat "$dir/stamp" 2>/dev/null)" != "$root:$wanted" ]; then
		rm -rf "$root" "$root.new" "$dir/stamp"
		unpack $wanted
		echo "$root:$wanted" >"$dir/stamp"
	fi
fi
echo "postfix $postfix"
echo "dovecot $dovecot"
