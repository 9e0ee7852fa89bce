#!/bin/sh
# The layers hold: pure files open no door to the world, mailboxes/ and
# alerts/ do not know each other, and only the store knows SQLite.
cd "${srcdir:-.}" || exit 99
bad=0

# files pattern why
refuse() {
	found=$(grep -nE "^#include [<\"]($2)" $1 /dev/null)
	[ -z "$found" ] && return
	printf '%s\n  %s\n' "$found" "$3"
	bad=1
}

# A header says that it is pure; its .c is then meant as well.
pure=
for h in $(grep -lE '(^|[. ])Pure[.:, ]' monitor/*.h mailboxes/*.h alerts/*.h); do
	pure="$pure $h"
	[ -f "${h%.h}.c" ] && pure="$pure ${h%.h}.c"
done
[ -n "$pure" ] || { echo 'no pure file found'; exit 1; }

refuse "$pure" 'sys/time\.h|sys/socket\.h|netdb\.h|sqlite3\.h|uv\.h|libesmtp\.h|libetpan/|unistd\.h|poll\.h' \
    'a pure file looks at the world'

# The same for calls: every clock but clock.c's is a hidden argument.
clocks=$(grep -nE '[^_a-z](time|clock_gettime|gettimeofday|clock_now|clock_boot_ms)\(' $pure \
    monitor/engine*.c monitor/schedule.c alerts/follow.c alerts/outbox.c | grep -v ':static\|: \*')
[ -z "$clocks" ] || { printf '%s\n  time is an argument here\n' "$clocks"; bad=1; }
refuse "$(echo mailboxes/*.[ch])" 'alerts/|sqlite3\.h|libesmtp\.h|monitor/(store|engine|loop|csv)' \
    'mailboxes/ knows only the shared words of monitor/'
refuse "$(echo alerts/*.[ch])" 'mailboxes/|sqlite3\.h|uv\.h|libesmtp\.h|libetpan/|monitor/(engine|loop|transport)' \
    'alerts/ knows only the shared words of monitor/ and the store'
refuse "$(ls monitor/*.[ch] | grep -v 'monitor/store')" 'sqlite3\.h' \
    'SQLite stays behind store.h'
refuse "$(ls monitor/*.[ch] | grep -v 'monitor/smtp_\|monitor/sender')" 'libesmtp\.h|libetpan/' \
    'only the workers know the protocol libraries'
refuse "$(echo monitor/engine*.[ch] monitor/schedule.[ch])" 'uv\.h|time\.h|monitor/(loop|worker|senders|watchers)' \
    'the engine knows no loop, clock or process'

[ $bad -eq 0 ] && echo '1 passed, 0 failed' || { echo '0 passed, 1 failed'; exit 1; }
