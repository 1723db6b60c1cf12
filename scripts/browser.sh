#!/usr/bin/env bash
# Has a headless Chromium load a page through redoubt proxy and thirty rules: scripts,
# style sheets, pictures, JSON, a part of a file, a form, a WebSocket and an event stream.
#
#   scripts/browser.sh [--have] [--picture FILE]
#
# All links of the page lead elsewhere; rules lead them home, and change the texts. It is
# right if the browser has nothing to complain of, all has arrived, no old text is left,
# no event waits for the next, and the picture of the page is, point by point, that of one
# which was written so in the first place. An origin that sends gzip makes the second round.
# In each round a second browser finds a proxy that knows the files by now. With --have
# nothing is done where Chromium, Node.js or curl is missing; --picture keeps the picture. Exits
# 1 if anything is wrong, 2 if it could not be tried.
set -euo pipefail

fail() {
	echo "browser.sh: $*" >&2
	exit 2
}

have='' keep=''
while [[ $# -gt 0 ]]; do
	case $1 in
	--have) have=yes ;;
	--picture)
		[[ $# -gt 1 ]] || fail "--picture needs a value"
		keep=$2
		shift
		;;
	-h | --help)
		sed -n '2,/^# .*could not be tried/s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*) fail "no flag $1 (--help)" ;;
	esac
	shift
done
cd "$(dirname "$0")/.."
exec </dev/null

browser=
for name in chromium chromium-browser google-chrome; do
	browser=$(command -v "$name") && break
done
for program in "${browser:-chromium}" node curl; do
	command -v "$program" >/dev/null && continue
	[[ -n $have ]] || fail "no $program: install chromium, nodejs and curl, or leave all out with --have"
	echo "left  $program is missing"
	exit 0
done

work=$(mktemp -d)
servers=() # their process ids
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	local pid
	for pid in "${servers[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# start starts a server that says where it listens, and sets address.
start() {
	local i
	: >"$work/said" # here, as the server is not there yet when it is read
	"$@" >"$work/said" 2>>"$work/errors" &
	servers+=($!)
	for ((i = 0; i < 100; i++)); do
		address=$(sed -n 's/^listening on //p' "$work/said" | head -n 1)
		[[ -z $address ]] || return 0
		sleep 0.1
	done
	cat "$work/errors" >&2
	fail "$1 does not say where it listens"
}

wrong=0
check() { # NAME, and a command that says what is wrong
	local name=$1
	shift
	if "$@" >"$work/check" 2>&1; then
		echo "ok    $name"
	else
		echo "WRONG $name"
		sed 's/^/      /' "$work/check"
		wrong=1
	fi
}
# shellcheck disable=SC2317 # check calls it
differ() { ! "$work/same" "$@"; }
# counters has awk look at the proxy's counters.
# shellcheck disable=SC2317
counters() { curl -fsS "http://$(sed -n 's/^listening on //p' "$work/said" | tail -n 1)/metrics" | awk "$1"; }

# visit has a browser load the page at $address, and writes $work/$1.png and .json.
visit() { TMPDIR=$work node scripts/browser/driver.mjs "$browser" "http://$address/" "$work/$1" "${@:2}"; }

go build -buildvcs=false -o "$work/" . ./scripts/browser/...

start "$work/origin"
visit old --anyhow
start "$work/origin" --replaced
visit wanted || fail "the page does not work without a proxy either"

for coding in '' --gzip; do
	# shellcheck disable=SC2086 # it may be none
	start "$work/origin" $coding
	sed "s/ORIGIN/$address/" scripts/browser/rules.json >"$work/rules.json"
	start "$work/redoubt" proxy --workers 1 --config "$work/rules.json" # one event loop, and so one memory
	for time in "the first time" "when the proxy knows the files"; do
		echo "through thirty rules${coding:+, $coding}, $time"
		check "no error" visit new
		# shellcheck disable=SC2086
		node scripts/browser/checks.mjs "$work/new.json" $coding || wrong=1
		check "the picture is that of the new texts" "$work/same" "$work/wanted.png" "$work/new.png"
		check "the picture is not that of the old ones" differ "$work/old.png" "$work/new.png"
	done
	# shellcheck disable=SC2016 # the fields are awk's
	check "each of the thirty has found something" counters '/^redoubt_proxy_rule_matches_total/ { if ($NF > 0) n++; else print } END { exit n != 30 }'
	# shellcheck disable=SC2016
	check "the proxy knew files" counters '/^redoubt_proxy_memory_known_total/ { n = $NF } END { exit !n }'
done
check "servers have nothing to say" awk '{ print; n = 1 } END { exit n }' "$work/errors"

[[ -z $keep ]] || cp "$work/new.png" "$keep"
[[ $wrong -eq 0 ]] || echo "browser.sh: something is wrong"
echo "browser.sh: $SECONDS s"
exit $wrong
