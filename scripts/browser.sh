#!/usr/bin/env bash
# Has a headless Chromium load a page through redoubt proxy and thirty rules: scripts,
# style sheets, pictures, JSON, a part of a file, a form, a WebSocket and an event stream.
#
#   scripts/browser.sh [--have] [--picture FILE]
#
# All links of the page lead elsewhere; rules lead them home, and change the texts. It is
# right if the browser has nothing to complain of, all has arrived, no old text is left, events came one
# by one, and the picture of the page is, point by point, that of one which was written so in the first place. All of it
# twice, the second time with an origin that sends gzip. With --have nothing is done where there is no
# Chromium or Node.js; --picture keeps the picture. Exits 1 if anything is wrong, 2 if it could
# not be tried.
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
		sed -n '2,/^# not be tried/s/^# \{0,1\}//p' "$0"
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
for missing in "${browser:+x}:chromium" "$(command -v node):node"; do
	[[ -n ${missing%%:*} ]] && continue
	[[ -n $have ]] || fail "there is no ${missing#*:}: install chromium and nodejs, or give --have"
	echo "left  ${missing#*:} is missing"
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
	"$@" >"$work/said" 2>"$work/err" &
	servers+=($!)
	for ((i = 0; i < 100; i++)); do
		address=$(sed -n 's/^listening on //p' "$work/said")
		[[ -z $address ]] || return 0
		sleep 0.1
	done
	cat "$work/err" >&2
	fail "$1 does not say where it listens"
}

wrong=0
check() { # NAME, and a command
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

# seen asks what the driver has seen: an expression of JavaScript over it.
seen() {
	node -e 'const seen = JSON.parse(require("fs").readFileSync(process.argv[1])); const is = eval(process.argv[2]); if (is !== true) { console.log(is); process.exit(1) }' "$work/seen" "$1"
}

go build -buildvcs=false -o "$work/" . ./scripts/browser/origin ./scripts/browser/same

start "$work/origin" --replaced
node scripts/browser/driver.mjs "$browser" "http://$address/" "$work/wanted.png" >"$work/seen" || fail "the page does not work without a proxy: $(head -c 2000 "$work/seen")"
for coding in '' --gzip; do
	start "$work/origin" $coding
	origin=$address
	sed "s/ORIGIN/$origin/" scripts/browser/rules.json >"$work/rules.json"
	start "$work/redoubt" proxy --config "$work/rules.json"
	name="through thirty rules${coding:+, $coding}"
	check "$name: no error" node scripts/browser/driver.mjs "$browser" "http://$address/" "$work/picture.png"
	cp "$work/check" "$work/seen"
	node -e 'for (const l of JSON.parse(require("fs").readFileSync(process.argv[1])).loads) console.log("     ", String(l.status).padEnd(4), (l.coding || "").padEnd(5), String(l.bytes ?? "").padStart(6), l.kind.padEnd(12), l.url)' "$work/seen" || true
	# shellcheck disable=SC2016
	check "$name: all has arrived" seen '["New Brand begins", "socket: hello from New Brand", "events: New Brand event 1, New Brand event 2, New Brand event 3", "data: New Brand, blue, /about.html", "prices: New Brand", "form: New Brand has heard: color", "picture: 120 wide"].filter((line) => !seen.text.includes(line)).join() || true'
	check "$name: no old text is left" seen '!/old\s+brand|colour|origin\.example/i.test(seen.text)'
	check "$name: events came one by one" seen 'seen.arrivals.length === 3 && seen.arrivals.every((at, i) => i === 0 || at - seen.arrivals[i - 1] > 50) || seen.arrivals.join()'
	[[ -z $coding ]] || check "$name: what is text came in gzip" seen 'seen.loads.filter((l) => l.coding === "gzip").length >= 6'
	check "$name: the picture shows the new texts" "$work/same" "$work/wanted.png" "$work/picture.png"
	[[ -z $keep ]] || cp "$work/picture.png" "$keep"
	node scripts/browser/driver.mjs "$browser" "http://$origin/" "$work/old.png" --anyhow >"$work/seen" || true
	check "$name: ... which that without rules does not" bash -c '! "$0" "$1" "$2"' "$work/same" "$work/old.png" "$work/picture.png"
done
exit $wrong
