#!/bin/sh
# Prints where the Cyrus IMAP server that one test runs is: "ROOT LIBRARIES",
# where ROOT is a folder of the project's own into which its packages are
# unpacked.  The machine's own is not looked for: where it is, Dovecot's IMAP
# server cannot be.  Nothing is started, configured or installed.
#
# usage: cyrus.sh [DIRECTORY]      default: .work/cyrus in this checkout
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:-$top/.work/cyrus}

mkdir -p "$dir"
sh "$top/tests/setup/unpack.sh" "$dir" cyrus-imapd cyrus-common
libraries=$(find "$dir/root/usr/lib" "$dir/root/lib" -name '*.so.*' \
    -exec dirname {} + | sort -u | tr '\n' ':')
echo "$dir/root ${libraries%:}"
