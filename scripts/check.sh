#!/usr/bin/env bash
# Builds redoubt, serves a data set on a free port of the loopback interface,
# fires the ammo of all three phases at it and compares every answer.
#
#   scripts/check.sh [DIR] [--proxy | --front] [--rules] [FLAG...]
#
# --proxy fires at a redoubt proxy in between, --front at one in the same process
# (serve --front). With --rules the proxy has a file with filter rules, header
# and URL rules, an access log and an admin listener, and it is seen to that they
# work. All other flags go to redoubt serve, e.g. --bodies ready
#
# The set is the folder DIR or $REDOUBT_TRAVELS, which holds data, ammo and
# answers, or else one that redoubt gen makes. Exits as redoubt check does: 0
# if all answers are right, 1 if some are wrong, 2 if it could not fire.
set -euo pipefail

fail() {
	echo "check.sh: $*" >&2
	exit 2
}

set=${REDOUBT_TRAVELS:-}
if [[ $# -gt 0 && $1 != -* ]]; then
	set=$1
	shift
fi
between='' rules='' flags=()
while [[ $# -gt 0 ]]; do
	case $1 in
	-h | --help)
		sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	--proxy | --front)
		[[ -z $between ]] || fail "--proxy and --front do not go together"
		between=${1#--}
		;;
	--rules) rules=yes ;;
	*) flags+=("$1") ;;
	esac
	shift
done
[[ -z $rules || -n $between ]] || fail "--rules needs --proxy or --front"
if [[ -n $set ]]; then
	set=$(cd "$set" && pwd) || exit 2
fi
cd "$(dirname "$0")/.."

work=$(mktemp -d)
server='' proxy=''
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	# Still set here only where something failed on the way.
	local pid
	for pid in $proxy $server; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# start starts redoubt with some arguments, and sets pid and addresses, of which
# it waits for so many.
start() {
	local wanted=$1 line code=0
	shift
	pid='' addresses=()
	# The pipe ends with the server, so that one that fails is not waited for.
	rm -f "$work/out"
	mkfifo "$work/out"
	"$work/redoubt" "$@" >"$work/out" &
	pid=$!
	exec {out}<"$work/out"
	while [[ ${#addresses[@]} -lt $wanted ]] && read -r line <&"$out"; do
		if [[ $line == "listening on "* ]]; then
			addresses+=("${line#listening on }")
		fi
	done
	if [[ ${#addresses[@]} -lt $wanted ]]; then
		wait "$pid" || code=$?
		fail "redoubt $1 ended before it listened: exit code $code"
	fi
}

# stop ends one of them.
stop() {
	local ended=0
	kill "$1"
	wait "$1" || ended=$?
	if [[ $ended -ne 0 ]]; then
		echo "check.sh: the $2 did not end in order after SIGTERM: exit code $ended" >&2
		[[ $code -ne 0 ]] || code=1
	fi
}

# ask prints what an address answers to GET of a target, with one more field.
ask() {
	local at
	exec {at}<>"/dev/tcp/${1%:*}/${1##*:}"
	printf 'GET %s HTTP/1.1\r\nHost: travels.test\r\n%s\r\nConnection: close\r\n\r\n' "$2" "$3" >&"$at"
	cat <&"$at"
	exec {at}>&-
}

# configure writes the proxy's file: members are those of its beginning.
configure() {
	local members=$1
	if [[ -z $rules ]]; then
		printf '{%s "listen": ["127.0.0.1:0"]}\n' "$members"
		return
	fi
	cat <<-END
		{
		  $members
		  "listen": ["127.0.0.1:0"],
		  "log": {"file": "$work/access.log", "format": "json"},
		  "trust": ["10.0.0.0/8"],
		  "block": {
		    "networks": ["198.51.100.0/24", "2001:db8::/32"], "methods": ["TRACE"], "paths": ["/.git/*"],
		    "headers": [{"name": "User-Agent", "match": "(?i)badbot"}],
		    "connections": 1000, "rate": {"requests": 1000000, "burst": 1000000},
		  },
		  "request": {"remove": ["X-Debug"], "set": {"X-Real-IP": "\$client"}},
		  "response": {"add": {"X-Served-By": "redoubt"}, "headers": [{"name": "Content-Type", "find": "text/json", "put": "application/json"}]},
		  "routes": [
		    // The API does not look at query_id.
		    {"match": {"path": "/users/*"}, "upstream": "api", "request": {"url": [{"find": "\\\\?query_id=[0-9]+\$", "put": ""}]}},
		    {"match": {"path": "/locations/*"}, "upstream": "api", "request": {"url": [{"find": "^/(.*)", "put": "/\$1"}]}},
		    {"upstream": "api"},
		  ],
		}
	END
}

# expect sees to it that a text has a line that begins so.
expect() {
	if ! grep -q "^$2" <<<"$1"; then
		printf 'check.sh: no line that begins with %s in\n%s\n' "$2" "$1" >&2
		code=1
	fi
}

# check_rules looks at what the rules do, and at what was counted.
check_rules() {
	local asked answer try
	answer=$(ask "$address" /users/1 'User-Agent: BadBot/1')
	expect "$answer" 'HTTP/1.1 403 '
	answer=$(ask "$address" /users/1 'User-Agent: check.sh')
	expect "$answer" 'HTTP/1.1 200 '
	expect "$answer" 'X-Served-By: redoubt'
	# Those of the check, and these two.
	asked=$(($(cat "$set"/answers/*.answ | wc -l) + 2))
	# An answer may be here before it is counted.
	for ((try = 0; try < 20; try++)); do
		answer=$(ask "$admin" /metrics 'Accept: */*')
		counted=$(awk '/^redoubt_proxy_requests_total/ { n += $NF } END { print n + 0 }' <<<"$answer")
		[[ $counted -lt $asked ]] || break
		sleep 0.1
	done
	if [[ $counted -lt $asked ]]; then
		echo "check.sh: $asked requests, but the metrics say $counted" >&2
		code=1
	fi
	expect "$(ask "$admin" /health 'Accept: */*')" ok
}

go build -buildvcs=false -o "$work/redoubt" .

if [[ -z $set ]]; then
	set=$work/set
	"$work/redoubt" gen --out "$set" --users 2000 --locations 1500 --visits 20000
fi

watch=() listeners=1
if [[ -n $rules ]]; then
	watch=(--admin 127.0.0.1:0) listeners=2
fi
serve=(serve --data "$set/data" "${flags[@]}")
if [[ $between == front ]]; then
	configure '' >"$work/front.json"
	start "$listeners" "${serve[@]}" --front "$work/front.json" "${watch[@]}"
	server=$pid
else
	start 1 "${serve[@]}" --listen 127.0.0.1:0
	server=$pid
fi
if [[ $between == proxy && -n $rules ]]; then
	configure "\"upstreams\": {\"api\": {\"servers\": [\"${addresses[0]}\"]}}," >"$work/proxy.json"
	start "$listeners" proxy --config "$work/proxy.json" "${watch[@]}"
	proxy=$pid
elif [[ $between == proxy ]]; then
	start 1 proxy --listen 127.0.0.1:0 --to "${addresses[0]}"
	proxy=$pid
fi
address=${addresses[0]} admin=${addresses[1]:-}

code=0
"$work/redoubt" check --target "$address" --dir "$set" || code=$?
[[ -z $rules ]] || check_rules

if [[ -n $proxy ]]; then
	stop "$proxy" proxy
	proxy=
fi
stop "$server" server
server=
if [[ -n $rules ]]; then
	logged=$(grep -c '^{"time":.*}$' "$work/access.log" || true)
	if [[ $logged -ne $counted ]]; then
		echo "check.sh: $counted requests, but $logged lines in the access log" >&2
		[[ $code -ne 0 ]] || code=1
	fi
fi
exit "$code"
