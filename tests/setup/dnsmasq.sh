#!/bin/sh
# Prints the dnsmasq that the tests run, and where its libraries are: "PATH
# LIBRARIES".  What is not installed is unpacked into a folder of the
# project's own.  Nothing is started, configured or installed.
#
# usage: dnsmasq.sh [DIRECTORY]      default: .work/dnsmasq in this checkout
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:-$top/.work/dnsmasq}

if [ -z "${MAILFLOW_UNPACK:-}" ] && [ -x /usr/sbin/dnsmasq ]; then
	echo "/usr/sbin/dnsmasq "
	exit 0
fi
mkdir -p "$dir"
sh "$top/tests/setup/unpack.sh" "$dir" dnsmasq-base
libraries=$(find "$dir/root" -name '*.so.*' -exec dirname {} + | sort -u |
    tr '\n' ':')
echo "$dir/root/usr/sbin/dnsmasq ${libraries%:}"
