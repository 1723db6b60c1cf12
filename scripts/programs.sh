#!/usr/bin/env bash
# Puts redoubt proxy between programs that people use, and compares what comes
# with what the same origin gives without the proxy: status, fields, body (by
# SHA-256), how connections are kept.
#
#   scripts/programs.sh [--have]
#
# Origins: nginx, a net/http server (scripts/programs/origin), redoubt serve.
# Clients: curl, Go's (scripts/programs/client), ab, wrk. With --have those that
# are missing are left out; without it that is a failure. Prints a line for each
# case. Exits 1 if any is wrong, 2 if it could not be tried.
set -euo pipefail

fail() {
	echo "programs.sh: $*" >&2
	exit 2
}

have=
case ${1:-} in
'') ;;
--have) have=yes ;;
-h | --help)
	sed -n '2,/^# case/s/^# \{0,1\}//p' "$0"
	exit 0
	;;
*) fail "no flag $1 (--help)" ;;
esac
cd "$(dirname "$0")/.."
exec </dev/null

declare -A lacks
for program in nginx curl ab wrk; do
	command -v "$program" >/dev/null && continue
	lacks[$program]=yes
	[[ -n $have ]] || fail "no $program: install nginx-light, curl, apache2-utils and wrk, or leave out with --have what is missing"
	echo "left  $program is missing"
done

work=$(mktemp -d)
servers=() # their process ids
proxies=()
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	local pid
	for pid in "${proxies[@]}" "${servers[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in "${proxies[@]}" "${servers[@]}"; do
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# start starts a server that says where it listens, and sets address.
start() {
	local line
	address=
	rm -f "$work/out"
	mkfifo "$work/out"
	"$@" >"$work/out" 2>>"$work/errors" &
	servers+=($!)
	exec {out}<"$work/out"
	while read -r line <&"$out"; do
		if [[ $line == "listening on "* ]]; then
			address=${line#listening on }
			return
		fi
	done
	cat "$work/errors" >&2
	fail "does not start: $*"
}

# start_nginx gives it a port at which nobody listens, as it picks none itself.
start_nginx() {
	local port try
	for (( ; ; )); do
		port=$((20000 + RANDOM % 10000))
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	sed "s|DIR|$work|; s|PORT|$port|" scripts/programs/nginx.conf >"$work/nginx.conf"
	nginx -p "$work/" -c "$work/nginx.conf" 2>>"$work/errors" &
	servers+=($!)
	address=127.0.0.1:$port
	for ((try = 0; try < 100; try++)); do
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
		sleep 0.05
	done
	cat "$work/errors" >&2
	fail "nginx does not start"
}

# start_proxy puts a proxy before an address.
start_proxy() {
	printf '{"listen": ["127.0.0.1:0"], "upstreams": {"origin": {"servers": ["%s"]}}, "routes": [{"upstream": "origin", "upgrade": true}]}\n' \
		"$1" >"$work/proxy.json"
	start "$work/redoubt" proxy --config "$work/proxy.json"
	proxies+=("${servers[-1]}")
	unset 'servers[-1]'
}

wrong=0
ok() { echo "ok    $1"; }
bad() {
	wrong=$((wrong + 1))
	echo "WRONG $1: $2"
}

# shellcheck source=scripts/programs/curl.sh
. scripts/programs/curl.sh
# shellcheck source=scripts/programs/guns.sh
. scripts/programs/guns.sh

go build -buildvcs=false -o "$work/" . ./scripts/programs/...

mkdir -p "$work"/files/dir "$work"/body
: >"$work/files/0"
head -c 2048 /dev/urandom >"$work/files/2k"
for ((line = 0; line < 1000; line++)); do
	echo "<p>line $line of a page that gzip makes small: $((line * line))</p>"
done >"$work/files/50k.html"
truncate -s 51200 "$work/files/50k.html"
head -c 5242880 /dev/urandom >"$work/files/5m"
for ((line = 0; line < 50; line++)); do
	printf 'X-Long-%d: %0490d\n' "$line" "$line"
done >"$work/head25k"
"$work/redoubt" gen --out "$work/set" --users 1000 --locations 700 --visits 9000 --requests 0 >/dev/null 2>&1

start "$work/redoubt" serve --listen 127.0.0.1:0 --data "$work/set/data"
api=$address
start_proxy "$api"
api_proxy=$address
start "$work/origin"
origin=$address
start_proxy "$origin"
origin_proxy=$address
if [[ -z ${lacks[nginx]:-} ]]; then
	start_nginx
	nginx=$address
	start_proxy "$nginx"
	nginx_proxy=$address
fi

"$work/client" -origin "$origin" -proxy "$origin_proxy" || wrong=$((wrong + 1))
if [[ -z ${lacks[curl]:-} ]]; then
	[[ -n ${lacks[nginx]:-} ]] || curl_nginx
	curl_origin
	curl_api
fi
[[ -n ${lacks[ab]:-} ]] || ab_all
[[ -n ${lacks[wrk]:-} ]] || wrk_all

for proxy in "${proxies[@]}"; do
	code=0
	kill "$proxy"
	wait "$proxy" || code=$?
	[[ $code -eq 0 ]] || bad "the end of a proxy" "exit code $code after SIGTERM"
done
proxies=()

# What a proxy or an origin has to say is a fault as well.
sed -i '/^loaded /d' "$work/errors"
if [[ -s $work/errors ]]; then
	bad "standard error of the servers" "$(head -n 5 "$work/errors")"
fi
if [[ $wrong -gt 0 ]]; then
	echo "programs.sh: $wrong wrong, in $SECONDS s"
	exit 1
fi
echo "programs.sh: all are right, in $SECONDS s"
