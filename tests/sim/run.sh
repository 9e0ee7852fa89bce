#!/bin/sh
# Plays the monitor in simulated time: every story, with crashes, and random
# worlds; on the real store and, for numbers, on one in memory.
#
# usage: run.sh [--all]
#
# --all plays every crash of every story and ten thousand worlds, which takes
# minutes; without it a part of them, and always the same worlds.
set -u
here=$(dirname "$0")
stories=${srcdir:-$here/../..}/tests/sim/stories
bin=${builddir:-.}/tests/sim
disk_every=31 every=9 disk_worlds=15 worlds=150 days=5 seed=${SIM_SEED:-1}
[ "${1:-}" != --all ] ||
    disk_every=7 every=1 disk_worlds=300 worlds=10000 days=30 \
    seed=${SIM_SEED:-$(date +%Y%m%d)0000}	# worlds nobody has seen yet
passed=0 failed=0

play() {
	name=$1; shift
	echo "== $name"
	out=$("$@")
	echo "$out" | sed '$d'
	last=$(echo "$out" | tail -n 1)
	case $last in
	*" passed, "*" failed")
		good=${last%% passed*} bad=${last##*, } bad=${bad%% failed*} ;;
	*)	echo "FAIL $name died: $last"; good=0 bad=1 ;;
	esac
	passed=$((passed + good)) failed=$((failed + bad))
}

play "stories" env SIM_EVERY=$disk_every "$bin/sim" "$stories"/*.story
play "stories in memory" env SIM_EVERY=$every "$bin/sim-memory" \
    "$stories"/*.story
play "random worlds, from $seed" "$bin/random" -n $disk_worlds -s "$seed"
play "random worlds in memory, from $seed" "$bin/random-memory" -n $worlds \
    -s "$seed"
play "days of one-minute probes" "$bin/year" -d $days

echo "$passed passed, $failed failed"
# As cmocka says it, for whoever counts the tests of a run.
[ "$passed" -eq 0 ] || echo "[  PASSED  ] $passed test(s)."
[ "$failed" -eq 0 ] || echo "[  FAILED  ] $failed test(s)."
[ "$failed" -eq 0 ]
