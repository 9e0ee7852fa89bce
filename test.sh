#!/bin/sh
# Builds mailflowd and runs all its tests: the unit tests, and the monitor
# against real servers (Postfix and Dovecot, started privately on loopback).
# Installs the packages that building needs; starts, stops and changes no
# service of this machine.
#
# usage: test.sh [--sanitizers] [--unit | --peers [NAME...]]
#
# The last line is "N passed, N failed" (and ", N skipped"); logs are in build/test-logs (or
# build-san/test-logs).
set -u
cd "$(dirname "$0")" || exit 1
top=$(pwd)

build=build options= unit=yes peers=yes
while [ $# -gt 0 ]; do
	case $1 in
	--sanitizers) build=build-san options=--enable-sanitizers ;;
	--unit) peers= ;;
	--peers) unit= ;;
	-*) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
	*) break ;;
	esac
	shift
done
logs=$top/$build/test-logs
passed=0 failed=0 skipped=0

# Runs a step with its output in a log; shows the log's end when it fails.
step() {
	name=$1; shift
	printf '%-12s' "$name"
	if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
		echo ok
		return 0
	fi
	echo "FAILED, see $logs/$name.log"
	tail -n 25 "$logs/$name.log"
	return 1
}

finish() {
	[ "$passed" -gt 0 ] || failed=$((failed + 1))
	[ "$skipped" -eq 0 ] && missed= || missed=", $skipped skipped"
	echo "$passed passed, $failed failed$missed"
	[ "$failed" -eq 0 ]
	exit
}

configure() {
	[ -x configure ] && [ configure -nt configure.ac ] || autoreconf -i || return
	[ -f "$build/Makefile" ] ||
	    (cd "$build" && "$top/configure" -q --enable-werror $options)
}

# cmocka counts its tests in each program's log; a program that does not, or
# that died before it could, counts as one.
count_unit() {
	for trs in $(find "$build" -name '*.trs' | sort); do
		log=${trs%.trs}.log
		good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
		bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
		if grep -q '^:test-result: PASS' "$trs"; then
			[ "$good" -gt 0 ] || good=1
		elif grep -q '^:test-result: SKIP' "$trs"; then
			good=0 skipped=$((skipped + 1))
		elif [ "$bad" -eq 0 ]; then
			bad=1
		fi
		passed=$((passed + good)) failed=$((failed + bad))
	done
}

run_unit() {
	find "$build" \( -name '*.trs' -o -name 'test-suite.log' \) -exec rm -f {} +
	before=$failed
	step unit make -C "$build" -k check || unit_bad=yes
	count_unit
	# The check did not even build, or stopped between two programs.
	[ -z "${unit_bad:-}" ] || [ "$failed" -gt "$before" ] || failed=$((failed + 1))
}

run_peers() {
	[ "$(id -u)" = 0 ] && sudo= || sudo="sudo -E"
	MAILFLOW_BUILD=$top/$build $sudo env MAILFLOW_BUILD="$top/$build" \
	    /usr/bin/python3 tests/peers/run.py --logs "$logs/peers" "$@" </dev/null ||
	    peers_bad=yes
	read -r good bad missed <"$logs/peers/counts" || good=0 bad=1 missed=0
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + missed))
	[ -z "${peers_bad:-}" ] || [ "$bad" -gt 0 ] || failed=$((failed + 1))
}

mkdir -p "$logs/peers"
export PYTHONDONTWRITEBYTECODE=1
step packages sh tests/setup/packages.sh || finish
[ -z "$peers" ] || step servers sh tests/setup/servers.sh || finish
step configure configure || finish
step build make -C "$build" -j"$(nproc)" || finish
[ -z "$unit" ] || run_unit
[ -z "$peers" ] || run_peers "$@"
finish
