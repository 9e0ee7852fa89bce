#!/bin/sh
# Finds the Postfix and Dovecot that the tests and the demonstration run, and
# prints where each is: "postfix ROOT" and "dovecot ROOT", where ROOT is empty
# for the machine's own installation.  What is not installed is unpacked into
# a folder of the project's own.  Nothing is started, configured or installed.
#
# usage: servers.sh [DIRECTORY]      default: .work/servers in this checkout
#
# MAILFLOW_SERVERS=DIRECTORY says the same; MAILFLOW_UNPACK=1 unpacks both even
# where they are installed.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:-${MAILFLOW_SERVERS:-$top/.work/servers}}
root=$dir/root

has_postfix() {
	[ -z "${MAILFLOW_UNPACK:-}" ] &&
	    [ -x /usr/sbin/postconf ] && [ -x /usr/lib/postfix/sbin/master ]
}

has_dovecot() {
	[ -z "${MAILFLOW_UNPACK:-}" ] && [ -x /usr/sbin/dovecot ] &&
	    [ -x /usr/lib/dovecot/imap ] && [ -x /usr/lib/dovecot/lmtp ] &&
	    [ -e /usr/lib/dovecot/modules/lib90_sieve_plugin.so ]
}

# The library that lets an unpacked Dovecot find its modules.
relocate() {
	[ "$root/relocate.so" -nt "$top/tests/setup/relocate.c" ] ||
	    gcc -O2 -Wall -D_GNU_SOURCE -DROOT="\"$root\"" -shared -fPIC \
		-o "$root/relocate.so" "$top/tests/setup/relocate.c"
}

postfix= dovecot= packages=
if ! has_postfix; then
	postfix=$root
	packages=postfix
fi
if ! has_dovecot; then
	dovecot=$root
	packages="$packages dovecot-core dovecot-imapd dovecot-lmtpd dovecot-sieve"
fi
if [ -n "$packages" ]; then
	mkdir -p "$dir"
	sh "$top/tests/setup/unpack.sh" "$dir" $packages
	relocate
fi
echo "postfix $postfix"
echo "dovecot $dovecot"
