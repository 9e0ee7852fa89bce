#!/bin/sh
# Unpacks Debian packages, with the libraries they lack on this machine, into
# DIRECTORY/root.  Nothing is installed: dpkg -x runs no script of a package.
# Does nothing when the same packages lie there already.
#
# usage: unpack.sh DIRECTORY PACKAGE...
set -eu
export LC_ALL=C

dir=$1; shift
root=$dir/root
# Some programs have their place built in: a folder that was moved is made anew.
stamp="$root: $*"
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

# What apt would install for these.  Left out: what their own set-up scripts
# need (users, certificates), and the C library and Perl, which must be the
# machine's.
needed() {
	apt-get -s -o Debug::NoLocking=1 --no-install-recommends \
	    --reinstall install "$@" 2>>"$dir/apt.log" |
	    awk '$1 == "Inst" { print $2 }' |
	    grep -Evx 'libc6|libc-bin|libc-l10n|locales|perl|perl-base|perl-modules-.*|libperl5.*|adduser|passwd|ucf|ssl-cert|netbase|cpio|lsb-base|sysvinit-utils|libpam-runtime|openssl|debconf|sensible-utils'
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

get() {
	list=$(needed "$@") && fetch $list
}

rm -rf "$root" "$root.new" "$dir/debs" "$dir/stamp"
mkdir -p "$dir/debs"
: >"$dir/apt.log"
# The lists may be absent or stale; in both cases one update is the cure.
get "$@" || { update && get "$@"; } || {
	tail -n 5 "$dir/apt.log" >&2
	echo "unpack.sh: cannot download $*; see $dir/apt.log" >&2
	exit 1
}
for deb in "$dir"/debs/*.deb; do
	dpkg -x "$deb" "$root.new"
done
rm -rf "$dir/debs"
mv "$root.new" "$root"
echo "$stamp" >"$dir/stamp"
