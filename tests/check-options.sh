#!/bin/sh
# Every option of monitor/config_table.c is in the manual and in the sample,
# with its default; neither knows an option that is not in the table; and
# what monitor/config_later.c holds back is what the manual calls "Not
# available yet".
set -eu
LC_ALL=C
export LC_ALL
cd "${srcdir:-$(dirname "$0")/..}"

work=$(mktemp -d "${TMPDIR:-/tmp}/check-options.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# kind option, and kind option default where the default is a plain value.
awk -v names="$work/table" -v defaults="$work/table.defaults" '
	/^static const struct option [a-z]+\[\]/ {
		kind = $5
		sub(/\[.*/, "", kind)
	}
	/^};/ { kind = "" }
	kind != "" && /^\t\{ "/ {
		split($0, part, "\"")
		print kind, part[2] > names
		if (/\.standard = "[^"]/ && part[4] != "")
			print kind, part[2], part[4] > defaults
	}
' monitor/config_table.c

awk -v names="$work/manual" -v defaults="$work/manual.defaults" \
    -v later="$work/manual.later" '
	BEGIN {
		section["OPTIONS"] = "global"
		section["SERVER"] = "server"
		section["MAILBOX"] = "mailbox"
		section["ROUTE"] = "route"
		section["ALERTS"] = "alerts"
		section["WINDOW"] = "window"
	}
	/^\.Sh/ { kind = section[$2]; option = "" }
	kind != "" && /^\.It Ic/ { option = $3; print kind, option > names }
	option != "" && /^(A$|Not available yet)/ { held[kind " " option] = 1 }
	option != "" && /^is not available yet/ { held[kind " " option] = 1 }
	option != "" && previous == "Default:" {
		sub(/^\.Li /, "")
		sub(/ \.$/, "")
		gsub(/[{},]|\\\(dq/, "")
		print kind, option, $0 > defaults
	}
	{ previous = $0 }
	END {
		for (one in held)
			print one > later
	}
' man/mailflowd.conf.5

# Commented or not; a section of the sample lasts until its brace.
awk -v names="$work/sample" -v defaults="$work/sample.defaults" '
	/^(server|mailbox|defaults|route|alerts|window)[ {]/ {
		kind = $1 == "defaults" ? "route" : $1
	}
	/^}/ { kind = "" }
	match($0, /^\t?#?[a-z_]+ = /) {
		comment = /^\t?#/
		line = $0
		sub(/^\t?#?/, "", line)
		option = line
		sub(/ .*/, "", option)
		value = line
		sub(/^[a-z_]+ = /, "", value)
		sub(/\t.*/, "", value)
		gsub(/[{},"]/, "", value)
		where = kind == "" ? "global" : kind
		print where, option > names
		if (comment && value != "")
			print where, option, value > defaults
	}
' etc/mailflowd.conf.sample

sed -n 's/^	{ KIND_\([A-Z]*\),	"\([a-z_]*\)",.*/\1 \2/p' \
    monitor/config_later.c | tr 'A-Z' 'a-z' > "$work/later"

for f in table manual sample later manual.later \
    table.defaults manual.defaults sample.defaults; do
	sort -u -o "$work/$f" "$work/$f"
	if ! [ -s "$work/$f" ]; then
		echo "check-options: found nothing for $f" >&2
		exit 1
	fi
done

failed=0
# complain TEXT LINES
complain() {
	[ -n "$2" ] || return 0
	echo "$2" | sed "s/^/check-options: $1: /" >&2
	failed=1
}

complain "not in the manual" "$(comm -23 "$work/table" "$work/manual")"
complain "only in the manual" "$(comm -13 "$work/table" "$work/manual")"
complain "only in the sample" "$(comm -13 "$work/table" "$work/sample")"
# The sample may leave out what is not there yet, and windows altogether.
complain "not in the sample" "$(comm -23 "$work/table" "$work/sample" |
    comm -23 - "$work/later" | grep -v '^window ' || :)"
complain "default differs from the manual's" \
    "$(comm -23 "$work/table.defaults" "$work/manual.defaults")"
complain "default differs from the table's" \
    "$(comm -13 "$work/table.defaults" "$work/manual.defaults")"
# What the sample shows as a default is one, unless there is none to show.
cut -d' ' -f1,2 "$work/table.defaults" | sort -u > "$work/plain"
complain "default differs in the sample" \
    "$(comm -13 "$work/table.defaults" "$work/sample.defaults" |
    while read -r kind option value; do
	if grep -qx "$kind $option" "$work/plain"; then
		echo "$kind $option $value"
	fi
    done)"
complain "held back, but not said so in the manual" \
    "$(comm -23 "$work/later" "$work/manual.later")"
complain "not available yet in the manual only" \
    "$(comm -13 "$work/later" "$work/manual.later")"
exit $failed
