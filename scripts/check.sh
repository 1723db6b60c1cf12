#!/usr/bin/env bash
# Builds redoubt, serves a data set on a free port of the loopback interface,
# fires the ammo of all three phases at it and compares every answer.
#
#   scripts/check.sh [DIR] [FLAG...]     flags go to redoubt serve, e.g. --bodies ready
#
# The set is the folder DIR or $REDOUBT_TRAVELS, which holds data, ammo and
# answers, or else one that redoubt gen makes. Exits as redoubt check does: 0
# if all answers are right, 1 if some are wrong, 2 if it could not fire.
set -euo pipefail

case ${1:-} in
-h | --help)
	sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
	exit 0
	;;
esac
set=${REDOUBT_TRAVELS:-}
if [[ $# -gt 0 && $1 != -* ]]; then
	set=$1
	shift
fi
if [[ -n $set ]]; then
	set=$(cd "$set" && pwd) || exit 2
fi
cd "$(dirname "$0")/.."

work=$(mktemp -d)
server=
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	# Still set here only where something failed on the way.
	if [[ -n $server ]]; then
		kill "$server" 2>/dev/null || true
		wait "$server" || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

go build -buildvcs=false -o "$work/redoubt" .

if [[ -z $set ]]; then
	set=$work/set
	"$work/redoubt" gen --out "$set" --users 2000 --locations 1500 --visits 20000
fi

# The pipe ends with the server, so that one that fails is not waited for.
mkfifo "$work/out"
"$work/redoubt" serve --listen 127.0.0.1:0 --data "$set/data" "$@" >"$work/out" &
server=$!
exec 3<"$work/out"
address=
while read -r line <&3; do
	if [[ $line == "listening on "* ]]; then
		address=${line#listening on }
		break
	fi
done
if [[ -z $address ]]; then
	code=0
	wait "$server" || code=$?
	server=
	echo "check.sh: the server ended before it listened: exit code $code" >&2
	exit 2
fi

code=0
"$work/redoubt" check --target "$address" --dir "$set" || code=$?

ended=0
kill "$server"
wait "$server" || ended=$?
server=
if [[ $ended -ne 0 ]]; then
	echo "check.sh: the server did not end in order after SIGTERM: exit code $ended" >&2
	[[ $code -ne 0 ]] || code=1
fi
exit "$code"
