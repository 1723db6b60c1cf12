#!/usr/bin/env bash
# Measures redoubt against its peers, in pairs: ours, theirs, theirs, ours, and
# so on, each on a server just started, so that what changes on the machine
# meets both. Prints the ratio of each pair: the median over the rounds, and an
# interval that holds the true median with 95 % certainty.
#
#   scripts/bench.sh [FLAG...] [ROW...]        all rows without one; flood16/nginx is one pair of a row
#
#   --rounds N       (default 9) below 6 there is no interval of 95 %
#   --seconds S      (default 3) of each run, after half a second to warm up
#   --json           a JSON object a line on stdout, instead of the table
#   --raw FILE       append what each single run gave to FILE, as JSON
#   --engine NAME    (default netloop) redoubt's engine
#   --full           data of the contest's full size: needs 40 s and 2 GB of memory and disk
#   --cpus S,G       (default 0,1) the CPU of the servers, the CPU of the gun
#
# Rows, and whom they are against:
#   flood16 flood64 flood256   c nginx fasthttp   records by id on that many connections
#   one                        c c-busy           one connection
#   open2000                   c c-busy           latency at 2,000 requests/s
#   close                      c c-rude fasthttp  a connection per request
#   bodies                     ready              the contest's mix of reads: lean against ready
#   engines                    fasthttp-engine    the contest's mix of reads
#
# c is scripts/bench/limit.c (busy: never sleeps; rude: closes without waiting for
# the peer), nginx a `return 200`, fasthttp a bare server; they answer constant
# bytes, ours a record. A target is reached if the interval touches it. A round in
# which something else took more than 5 % of a CPU is repeated. Needs gcc and
# taskset; leaves out nginx where there is none. Exits 1 if a run failed, 2 for
# wrong usage; a target that is missed is no failure.
set -euo pipefail

usage() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; }

fail() {
	echo "bench.sh: $*" >&2
	exit 1
}

misused() {
	echo "bench.sh: $* (--help)" >&2
	exit 2
}

all_rows=(flood16 flood64 flood256 one open2000 close bodies engines)
rounds=9 seconds=3 json='' raw=/dev/null engine=netloop server_cpu=0 gun_cpu=1
users=10000 locations=7600 visits=100000
rows=()
while [[ $# -gt 0 ]]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--json) json=yes ;;
	--full) users=1000074 locations=761314 visits=10000740 ;;
	--rounds | --seconds | --raw | --engine | --cpus)
		[[ $# -gt 1 ]] || misused "$1 needs a value"
		case $1 in
		--rounds) rounds=$2 ;;
		--seconds) seconds=$2 ;;
		--raw) raw=$(realpath "$2") ;;
		--engine) engine=$2 ;;
		--cpus)
			[[ $2 =~ ^([0-9]+),([0-9]+)$ ]] || misused "--cpus $2: write two numbers, as 0,1"
			server_cpu=${BASH_REMATCH[1]} gun_cpu=${BASH_REMATCH[2]}
			;;
		esac
		shift
		;;
	-*) misused "no flag $1" ;;
	*)
		[[ " ${all_rows[*]} " == *" ${1%%/*} "* ]] || misused "no row $1: there are ${all_rows[*]}"
		rows+=("$1")
		;;
	esac
	shift
done
[[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || misused "--rounds $rounds: a number from 1 should be here"
[[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]] || misused "--seconds $seconds: a number should be here"
[[ $engine == netloop || $engine == fasthttp ]] || misused "--engine $engine: there are netloop and fasthttp"
[[ ${#rows[@]} -gt 0 ]] || rows=("${all_rows[@]}")
for tool in gcc taskset go; do
	command -v "$tool" >/dev/null || fail "there is no $tool"
done
for cpu in "$server_cpu" "$gun_cpu"; do
	taskset -c "$cpu" true 2>/dev/null || fail "there is no CPU $cpu here: name two with --cpus"
done

cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=
gun=
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	# Still set here only where something failed on the way.
	local pid
	for pid in $gun $server; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { echo "$*" >&2; }

# await_line reads the server's address from the line it prints when it is
# ready. The pipe ends with the server, so one that fails is not waited for.
await_line() {
	local line
	exec 3<"$work/out"
	while read -r -t 120 line <&3; do
		if [[ $line == "listening on "* ]]; then
			address=${line#listening on }
			break
		fi
	done
	exec 3<&-
}

# start starts a server on its CPU, and sets server and address.
start() {
	local command port try
	address=
	rm -f "$work/out"
	mkfifo "$work/out"
	local ours=("$work/redoubt" serve --listen 127.0.0.1:0 --workers 1 --data "$work/set/data")
	local loop=(--engine "$engine")
	# Only our own loop knows how to wait otherwise.
	[[ $engine == netloop ]] && loop+=(--wait block)
	case $1 in
	ours) command=("${ours[@]}" "${loop[@]}" --bodies ready) ;;
	ours-busy) command=("${ours[@]}" --engine netloop --wait busy --bodies ready) ;;
	ours-lean) command=("${ours[@]}" "${loop[@]}" --bodies lean) ;;
	ours-fasthttp) command=("${ours[@]}" --engine fasthttp --bodies ready) ;;
	c) command=("$work/limit") ;;
	c-busy) command=("$work/limit" --busy) ;;
	c-close) command=("$work/limit" --close) ;;
	c-rude) command=("$work/limit" --close --rude) ;;
	fasthttp) command=("$work/fasthttp") ;;
	nginx) command=(nginx -p "$work/" -c "$work/nginx.conf") ;;
	esac
	if [[ $1 != nginx ]]; then
		taskset -c "$server_cpu" "${command[@]}" >"$work/out" 2>"$work/server.err" &
		server=$!
		await_line
	else
		# It neither picks a port nor tells when it is ready. Below 32768 no
		# connection of the gun has its port.
		port=$((20000 + RANDOM % 10000))
		sed "s|DIR|$work|; s|PORT|$port|" scripts/bench/peers/nginx.conf >"$work/nginx.conf"
		taskset -c "$server_cpu" "${command[@]}" >"$work/nginx.out" 2>"$work/server.err" &
		server=$!
		for ((try = 0; try < 100; try++)); do
			sleep 0.05
			kill -0 "$server" 2>/dev/null || break
			if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
				address=127.0.0.1:$port
				break
			fi
		done
	fi
	if [[ -z $address ]]; then
		cat "$work/server.err" >&2
		fail "server $1 did not start: ${command[*]}"
	fi
}

stop() {
	local try
	kill "$server" 2>/dev/null || true
	for ((try = 0; try < 100; try++)); do
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	if kill -KILL "$server" 2>/dev/null; then
		say "bench.sh: the server did not end within 5 s of SIGTERM, and was killed"
	fi
	wait "$server" 2>/dev/null || true
	server=
}

# measure fires at a server of the kind $2 and sets result to the gun's JSON.
measure() {
	local row=$1 kind=$2
	shift 2
	start "$kind"
	taskset -c "$gun_cpu" "$work/gun" --seconds "$seconds" --pid "$server" "$@" "$address" >"$work/gun.out" 2>"$work/gun.err" &
	gun=$!
	if ! wait "$gun"; then
		gun=
		cat "$work/gun.out" "$work/gun.err" "$work/server.err" >&2
		fail "$row: the run against $kind failed"
	fi
	gun=
	stop
	result=$(<"$work/gun.out")
	echo "{\"row\":\"$row\",\"server\":\"$kind\",${result#\{}" >>"$raw"
	if awk -v o="$(value others_share)" 'BEGIN { exit !(o > 0.05) }'; then
		disturbed=$((disturbed + 1))
	fi
}

# value is a number in result.
value() {
	[[ $result =~ \"$1\":([0-9.]+) ]] || fail "no $1 in $result"
	echo "${BASH_REMATCH[1]}"
}

# figures turns result into "per_cpu rps p50 cpu".
figures() {
	awk -v cpu="$(value cpu_us_per_request)" -v rps="$(value rps)" -v p50="$(value p50_us)" \
		'BEGIN { print 1e6 / cpu, rps, p50, cpu }'
}

# pair measures one pair: ROW AGAINST OURS THEIRS "GUN FLAGS" FIGURE...
# A figure is one of figures' names, maybe with its target: per_cpu>=0.92.
pair() {
	local row=$1 against=$2 first=$3 second=$4 flags figure round try before a b file
	read -ra flags <<<"$5"
	shift 5
	wanted "$row" "$against" || return 0
	file=$work/$row.$against
	for ((round = 1, try = 1; round <= rounds; round++)); do
		before=$disturbed
		if ((round % 2)); then
			measure "$row" "$first" "${flags[@]}"
			a=$(figures)
			measure "$row" "$second" "${flags[@]}"
			b=$(figures)
		else
			measure "$row" "$second" "${flags[@]}"
			b=$(figures)
			measure "$row" "$first" "${flags[@]}"
			a=$(figures)
		fi
		if ((disturbed > before && try < tries)); then
			say "$row/$against, round $round: disturbed, once more"
			disturbed=$before
			round=$((round - 1)) try=$((try + 1))
			continue
		fi
		try=1
		echo "$a $b" >>"$file"
		say "$row/$against, round $round of $rounds: ours/theirs: $(awk '{ printf "CPU %.3f, req/s %.3f, p50 %.3f", $4 / $8, $2 / $6, $3 / $7 }' <<<"$a $b")"
	done
	for figure; do
		summary "$row" "$against" "$figure" <"$file"
	done
}

wanted() {
	[[ " ${rows[*]} " == *" $1 "* || " ${rows[*]} " == *" $1/$2 "* ]] || return 1
	known=yes
	if [[ $2 == nginx ]] && ! command -v nginx >/dev/null; then
		say "$1/$2 left out: there is no nginx"
		return 1
	fi
	if [[ $engine != netloop && $2 =~ ^(c-busy|fasthttp-engine)$ ]]; then
		say "$1/$2 left out: it needs --engine netloop"
		return 1
	fi
}

# summary prints a figure of a pair, whose rounds come on stdin.
summary() {
	awk -v row="$1" -v against="$2" -v wish="$3" -v json="$json" -f scripts/bench/summary.awk
}

# id_requests prints GETs of records at random, as the contest mixes them, with
# the heads of generated ammo. $1 is for Connection.
id_requests() {
	awk -v users=$users -v locations=$locations -v visits=$visits -v connection="$1" 'BEGIN {
		srand(1)
		for (i = 0; i < 20000; i++) {
			kind = rand() * 65
			path = kind < 25 ? "/users/" : kind < 45 ? "/locations/" : "/visits/"
			path = path (1 + int(rand() * (kind < 25 ? users : kind < 45 ? locations : visits)))
			text = "GET " path " HTTP/1.1\r\nHost: travels.test\r\nUser-Agent: Redoubt/1.0 (generated ammo; three phases)\r\n" \
				"Accept: */*\r\nConnection: " connection "\r\n\r\n"
			printf "%d\n%s", length(text), text
		}
	}'
}

say "building"
gcc -O2 -Wall -Wextra -o "$work/limit" scripts/bench/limit.c
gcc -O2 -Wall -Wextra -o "$work/gun" scripts/bench/gun/*.c
go build -buildvcs=false -o "$work/redoubt" .
go build -buildvcs=false -o "$work/fasthttp" ./scripts/bench/peers/fasthttp
say "generating data and requests"
"$work/redoubt" gen --out "$work/set" --users $users --locations $locations --visits $visits --requests 110000 >/dev/null
id_requests keep-alive >"$work/ids.ammo"
id_requests close >"$work/closing.ammo"
ids="--requests $work/ids.ammo"
closing="--requests $work/closing.ammo --close --connections 16"
# The cases made to be hard, some of which end a connection, stay out of it.
mix="--requests $work/set/ammo/phase_1_get.ammo --skip hard: --any --connections 64"

disturbed=0 # runs that were, in rounds that count
tries=4     # of a round, before it counts all the same
known='' # yes once a row or pair named is there
if [[ -z $json ]]; then
	printf '%-9s %-15s %-10s %10s %10s %7s  %-11s  %s\n' row against figure ours theirs ratio '95 %' target
fi
for n in 16 64 256; do
	pair flood$n c ours c "$ids --connections $n" 'per_cpu>=0.92' rps
	pair flood$n nginx ours nginx "$ids --connections $n" 'per_cpu>=1.1' rps
	pair flood$n fasthttp ours fasthttp "$ids --connections $n" 'per_cpu>=1.3' rps
done
pair one c ours c "$ids --connections 1" rps cpu
pair one c-busy ours-busy c-busy "$ids --connections 1" 'rps>=0.92'
pair open2000 c ours c "$ids --connections 16 --rate 2000" 'p50<=1.1' cpu
pair open2000 c-busy ours-busy c-busy "$ids --connections 16 --rate 2000" 'p50<=1.15'
pair close c ours c-close "$closing" 'cpu<=1.12' rps
pair close c-rude ours c-rude "$closing" cpu
pair close fasthttp ours fasthttp "$closing" 'cpu<=0.75' rps
pair bodies ready ours-lean ours "$mix" 'per_cpu>=0.95' rps
pair engines fasthttp-engine ours ours-fasthttp "$mix" per_cpu rps

[[ -n $known ]] || misused "no pair ${rows[*]}"
if ((disturbed)); then
	say "in $disturbed runs something else used more than 5 % of a CPU (others_share in --raw): not to be published"
fi
