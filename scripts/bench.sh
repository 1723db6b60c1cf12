#!/usr/bin/env bash
# Measures redoubt against its peers, in pairs: ours, theirs, theirs, ours, and
# so on, each on a server just started, so that what changes on the machine
# meets both. Prints the ratio of each pair: the median over the rounds, and an
# interval that holds the true median with 95 % certainty.
#
#   scripts/bench.sh [FLAG...] [serve | gun | subst | proxy | edit | ROW...]
#
# serve is all rows of the server, and what is measured without a word; gun all
# rows of the gun; subst all of replacing in a stream; proxy all of the proxy but
# edit, which is all of the proxy with rules for bodies. flood16/nginx is one pair
# of a row.
#
#   --rounds N       (default 9) below 6 there is no interval of 95 %
#   --seconds S      (default 3) of each run, after half a second to warm up;
#                    against wrk it is made whole, as wrk knows no parts
#   --json           a JSON object a line on stdout, instead of the table
#   --raw FILE       append what each single run gave to FILE, as JSON
#   --engine NAME    (default netloop) redoubt's engine
#   --gun NAME       (default fire) what measures: redoubt fire; c, the small
#                    scripts/bench/gun, of servers; wrk, of the rows p2k to p5m
#   --kernel NAME    (default auto) what replacing skips bytes with, in rows of subst and
#                    edit: plain, avx2 or vbmi
#   --full           data of the contest's full size: needs 40 s and 2 GB of memory and disk
#   --cpus S,G       (default 0,1) the CPU of the servers, the CPU of the gun
#
# Rows of the server, which both sides of a pair are, and whom they are against:
#   flood16 flood64 flood256   c nginx fasthttp   records by id on that many connections
#   flood64                    nethttp            (as well)
#   one                        c c-busy           one connection
#   open2000                   c c-busy           latency at 2,000 requests/s
#   close                      c c-rude fasthttp  a connection per request
#   bodies                     ready              the contest's mix of reads: lean against ready
#   engines                    fasthttp-engine    the contest's mix of reads
# Rows of the gun; both sides fire at the same server, on 64 connections:
#   phase1                     wrk                the first phase's requests at redoubt; of the
#                                                 official set if $REDOUBT_TRAVELS is its folder
#   url                        wrk                one request, at c
#   limit                      cgun               records by id at c; both guns never sleep
#   shots                                         how late shots leave for c, at 1,000 and 10,000
#                                                 a second, --busy and not: no peer, no ratio
# Rows of replacing in a stream, SET-BODY: a set of scripts/bench/subst/rules.tsv on 4 MB
# of html, js or a's, in pieces of 16 KB, on the gun's CPU; MB per second of CPU time:
#   R1-html L10-html           hyperscan joined each replacer find   one and ten literals
#   R10-html R10-js            hyperscan joined each find            what rewrites pages
#   R30-html R30-js R31-html   hyperscan joined each find            and twenty domains
#   M10-html M30-html          hyperscan joined each find            rules of more kinds
#   ing-html num-html          hyperscan joined each find            [a-z]+ing and \d+
#   word-html                  hyperscan joined each find            a match every few bytes
#   again-a giveup-a stars-a   hyperscan joined each find            the worst cases
# Rows of the proxy, on the servers' CPU; its origin, an nginx with files, shares the
# gun's. All proxies keep their connections to it:
#   p2k p50k p500k      nginx haproxy fasthttp httputil   64 connections, pages of that many bytes
#   p5m                 nginx haproxy fasthttp httputil   16 connections
#   pclose              nginx haproxy fasthttp httputil   a connection per request at the client, 2 KB
#   popen               nginx haproxy fasthttp httputil   latency at 2,000 requests/s, 2 KB
#   p2k p500k pclose    heap                              the same, with buffers and sessions from
#                                                         the Go heap (built with -tags slabheap)
#   pmix                alone nginx                       2 KB on nine connections, beside one that
#                                                         downloads 5 MB; alone: ours without that one
# Rows of edit, SET-SIZE: the proxy with a set of rules.tsv on the HTML of subst, of 2k,
# 50k, 500k and 5m; 64 connections, 16 for 5m, fewer where answers take their time:
#   R1-SIZE             plain nginx subs httputil         one literal
#   R10-SIZE R30-SIZE   plain subs httputil memory        what rewrites pages, and twenty domains
#   L30-SIZE            plain nginx subs httputil         thirty literals
#   R10-SIZE-clean R30-SIZE-clean   memory plain          pages in which no rule finds anything
#   first-5m            plain subs httputil               R30, when the body begins: one connection,
#                                                         nothing else to do
#   slow-5m             plain nginx subs                  R30, nginx L30: 32 connections that take 5 MB/s each
#   slow-5m-gzip        plain                             R30, the same, coded
#
# c is scripts/bench/limit.c (busy: never sleeps; rude: closes without waiting for
# the peer), nginx a `return 200`, fasthttp and nethttp bare servers; they answer
# constant bytes, ours a record. cgun is scripts/bench/gun. Against wrk, which
# sleeps, redoubt fire is not --busy; gun us/req is the gun's CPU time.
#
# Of replacing, find is ours with nothing put in and its output thrown away, out
# ours that appends its output to a buffer, first is find with --match first.
# hyperscan streams too, and reports starts, but of every end of a match; joined
# is regexp with all rules in one, Longest, each is regexp rule by rule, replacer
# strings.Replacer with its output. Who would take over 2 s for a body is measured
# on its beginning, of so many KB. First it is checked that ours and joined find
# the same matches. All engines of a row run in turn.
#
# Of proxies, fasthttp and httputil are programs in scripts/bench/peers, with GOMAXPROCS=1
# and, for fasthttp, bodies passed on whole, as either is faster so. RSS is the most that
# a proxy has held. In the warm-up answers are compared to the byte, then status and size.
# What counts is the proxy's CPU time: it may have to wait for its origin and the gun,
# which are on one CPU (server_idle_share and gun_idle_share in --raw).
#
# Of edit, ours remembers nothing of pages, but in memory, which is ours that does against
# ours that does not. plain is ours without rules, nginx its sub_filter, subs its module
# of that name (libnginx-mod-http-subs-filter), httputil replaces in whole bodies by
# regexp, rule by rule. In the warm-up each answer is compared to the byte with what
# redoubt subst makes of the page: with all rules at once, for subs and httputil with one
# after the other. MB are the page's; first is when an answer began, in first-5m its body.
#
# A target is reached if the interval touches it. A round in which something else
# took more than 5 % of a CPU is repeated, up to three times; the system tells that
# to 10 ms, so runs of less than a second are for trying out. Needs gcc and taskset;
# leaves out nginx, its subs, haproxy, wrk or hyperscan (libhyperscan-dev) where there is none. Exits 1
# if a run failed or an answer was wrong, 2 for wrong usage; a target that is missed
# is no failure.
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

serve_rows=(flood16 flood64 flood256 one open2000 close bodies engines)
gun_rows=(phase1 url limit shots)
subst_rows=(R1-html R10-html R10-js R30-html R30-js R31-html M10-html M30-html L10-html ing-html num-html word-html again-a giveup-a stars-a)
proxy_rows=(p2k p50k p500k p5m pclose popen pmix)
edit_rows=({R1,R10,R30,L30}-{2k,50k,500k,5m} {R10,R30}-{2k,50k,500k,5m}-clean first-5m slow-5m slow-5m-gzip)
all_rows=("${serve_rows[@]}" "${gun_rows[@]}" "${subst_rows[@]}" "${proxy_rows[@]}" "${edit_rows[@]}")
rounds=9 seconds=3 json='' raw=/dev/null engine=netloop gun=fire kernel=auto server_cpu=0 gun_cpu=1
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
	--rounds | --seconds | --raw | --engine | --gun | --kernel | --cpus)
		[[ $# -gt 1 ]] || misused "$1 needs a value"
		case $1 in
		--rounds) rounds=$2 ;;
		--seconds) seconds=$2 ;;
		--raw) raw=$(realpath "$2") ;;
		--engine) engine=$2 ;;
		--gun) gun=$2 ;;
		--kernel) kernel=$2 ;;
		--cpus)
			[[ $2 =~ ^([0-9]+),([0-9]+)$ ]] || misused "--cpus $2: write two numbers, as 0,1"
			server_cpu=${BASH_REMATCH[1]} gun_cpu=${BASH_REMATCH[2]}
			;;
		esac
		shift
		;;
	-*) misused "no flag $1" ;;
	serve) rows+=("${serve_rows[@]}") ;;
	gun) rows+=("${gun_rows[@]}") ;;
	subst) rows+=("${subst_rows[@]}") ;;
	proxy) rows+=("${proxy_rows[@]}") ;;
	edit) rows+=("${edit_rows[@]}") ;;
	*)
		[[ " ${all_rows[*]} " == *" ${1%%/*} "* ]] || misused "no row $1: there are serve (${serve_rows[*]}), gun (${gun_rows[*]}), subst (${subst_rows[*]}), proxy (${proxy_rows[*]}) and edit (${edit_rows[*]})"
		rows+=("$1")
		;;
	esac
	shift
done
[[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || misused "--rounds $rounds: a number from 1 should be here"
[[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]] || misused "--seconds $seconds: a number should be here"
[[ $engine == netloop || $engine == fasthttp ]] || misused "--engine $engine: there are netloop and fasthttp"
[[ $gun =~ ^(fire|c|wrk)$ ]] || misused "--gun $gun: there are fire, c and wrk"
[[ $gun != wrk ]] || command -v wrk >/dev/null || fail "there is no wrk"
[[ $kernel =~ ^(auto|plain|avx2|vbmi)$ ]] || misused "--kernel $kernel: there are auto, plain, avx2 and vbmi"
[[ ${#rows[@]} -gt 0 ]] || rows=("${serve_rows[@]}")
whole=$(awk -v s="$seconds" 'BEGIN { w = int(s); print w < s || w == 0 ? w + 1 : w }') # seconds for wrk
: >>"$raw" || fail "nothing can be written to $raw"
for tool in gcc taskset go; do
	command -v "$tool" >/dev/null || fail "there is no $tool"
done
for cpu in "$server_cpu" "$gun_cpu"; do
	taskset -c "$cpu" true 2>/dev/null || fail "there is no CPU $cpu here: name two with --cpus"
done

contest=
if [[ -n ${REDOUBT_TRAVELS:-} ]]; then
	contest=$(cd "$REDOUBT_TRAVELS" && pwd) || fail "REDOUBT_TRAVELS=$REDOUBT_TRAVELS is no folder"
fi

cd "$(dirname "$0")/.."
work=$(mktemp -d)
server= # processes that run
firing=
beside=        # another gun
origin=        # the address of what is behind a proxy
origin_server= # its process
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
	# Still set here only where something failed on the way.
	local pid
	for pid in $firing $beside $server $origin_server; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { echo "$*" >&2; }

# shellcheck source=scripts/bench/servers.sh disable=SC1091
. scripts/bench/servers.sh
# shellcheck source=scripts/bench/guns.sh disable=SC1091
. scripts/bench/guns.sh
# shellcheck source=scripts/bench/subst.sh disable=SC1091
. scripts/bench/subst.sh
# shellcheck source=scripts/bench/proxy.sh disable=SC1091
. scripts/bench/proxy.sh
# shellcheck source=scripts/bench/edit.sh disable=SC1091
. scripts/bench/edit.sh

# series makes all rounds of a row: MAKE NAME "VALUE..." "PROGRESS" RUN... MAKE is
# what makes a run, measure or scan. The runs of a round are made forwards and
# backwards in turn. The values of all of them are a line of the file NAME in
# $work; PROGRESS is a program of awk for that line.
series() {
	local make=$1 name=$2 names progress=$4 runs=("${@:5}") round try=1 before i at lines
	read -ra names <<<"$3"
	for ((round = 1; round <= rounds; round++)); do
		before=$disturbed lines=()
		for ((i = 0; i < ${#runs[@]}; i++)); do
			at=$((round % 2 ? i : ${#runs[@]} - 1 - i))
			"$make" "${name%%.*}" "${runs[at]}"
			lines[at]=$(values "${names[@]}")
		done
		if ((disturbed > before && try < tries)); then
			say "${name/./\/}, round $round: disturbed, once more"
			disturbed=$before
			round=$((round - 1)) try=$((try + 1))
			continue
		fi
		try=1
		echo "${lines[*]}" >>"$work/$name"
		say "${name/./\/}, round $round of $rounds: $(awk "$progress" <<<"${lines[*]}")"
	done
}

# pair measures one pair: ROW AGAINST OURS THEIRS AMMO LOAD FIGURE... Both are
# GUN@SERVER. A figure is one of summary.awk's, maybe with its target:
# per_cpu>=0.92.
pair() {
	local row=$1 against=$2 span=$seconds figure progress
	wanted "$row" "$against" || return 0
	[[ $against != wrk ]] || span=$whole
	# shellcheck disable=SC2016 # they are awk's
	progress='{ printf "ours/theirs: CPU %.3f, req/s %.3f, p50 %.3f", $1 / $5, $2 / $6, $3 / $7 }'
	series measure "$row.$against" "cpu_us_per_request rps p50_us gun_us_per_request" "$progress" "$3 $5 $6 $span" "$4 $5 $6 $span"
	for figure in "${@:7}"; do
		awk -v row="$row" -v against="$against" -v wish="$figure" -v json="$json" \
			-f scripts/bench/median.awk -f scripts/bench/summary.awk <"$work/$row.$against"
	done
}

# served is a pair of servers, measured with the gun that was asked for.
served() {
	local by=c
	[[ $gun == c ]] || by=fire-busy
	pair "$1" "$2" "$by@$3" "$by@$4" "${@:5}"
}

# shots measures how late shots leave.
shots() {
	local rate way runs=() progress columns=7 first=1
	wanted shots '' || return 0
	for rate in 1000 10000; do
		for way in fire fire-busy; do
			runs+=("$way@c ids const:$rate:1000 $seconds")
		done
	done
	# shellcheck disable=SC2016 # they are awk's
	progress='{ printf "p99, us: at 1,000/s %.1f, busy %.1f; at 10,000/s %.1f, busy %.1f", $2, $9, $16, $23 }'
	series measure shots "late_p50_us late_p99_us late_p99.9_us late_max_us late unsent requests" "$progress" "${runs[@]}"
	[[ -n $json ]] || printf '\n%-9s %-17s %-10s %10s %10s %10s %10s %8s %8s %9s\n' \
		row load wait 'p50 us' 'p99 us' 'p99.9 us' 'max us' late unsent shots
	for rate in 1000 10000; do
		for way in block busy; do
			cut -d ' ' -f "$first-$((first + columns - 1))" "$work/shots" | awk -v load="const($rate,${seconds}s)" -v wait=$way \
				-v json="$json" -f scripts/bench/median.awk -f scripts/bench/shots.awk
			first=$((first + columns))
		done
	done
}

wanted() {
	[[ " ${rows[*]} " == *" $1 "* || " ${rows[*]} " == *" $1/$2 "* ]] || return 1
	known=yes
	if [[ $2 =~ ^(nginx|haproxy|wrk)$ ]] && ! command -v "$2" >/dev/null; then
		say "$1/$2 left out: there is no $2"
		return 1
	fi
	if [[ $2 == subs && -z $subs_module ]]; then
		say "$1/$2 left out: nginx has no subs_filter (libnginx-mod-http-subs-filter)"
		return 1
	fi
	if [[ $2 == hyperscan && ! -e $work/hyperscan ]]; then
		say "$1/$2 left out: there is no libhyperscan-dev"
		return 1
	fi
	if [[ $engine != netloop && $2 =~ ^(c-busy|fasthttp-engine)$ ]]; then
		say "$1/$2 left out: it needs --engine netloop"
		return 1
	fi
}

id_requests() {
	awk -v users=$users -v locations=$locations -v visits=$visits -v connection="$1" -f scripts/bench/ids.awk
}

easy_requests() {
	LC_ALL=C awk -f scripts/bench/easy.awk "$1/ammo/phase_1_get.ammo"
}

build_servers() {
	gcc -O2 -Wall -Wextra -o "$work/limit" scripts/bench/limit.c
	gcc -O2 -Wall -Wextra -o "$work/gun" scripts/bench/gun/*.c
	go build -buildvcs=false -o "$work/" . ./scripts/bench/peers/fasthttp ./scripts/bench/peers/nethttp
	say "generating data and requests"
	"$work/redoubt" gen --out "$work/set" --users $users --locations $locations --visits $visits --requests 110000 >/dev/null
	id_requests keep-alive >"$work/ids.ammo"
	id_requests close >"$work/closing.ammo"
	easy_requests "$work/set" >"$work/mix.ammo"
	if [[ -n $contest ]]; then
		say "phase1 is of the set in $contest"
	else
		say "phase1 is of the generated set"
		contest=$work/set
	fi
	easy_requests "$contest" >"$work/phase1.ammo"
}

say "building"
scanning='' proxying='' editing='' serving=''
for row in "${rows[@]}"; do
	if [[ " ${subst_rows[*]} " == *" ${row%%/*} "* ]]; then
		scanning=yes
	elif [[ " ${proxy_rows[*]} " == *" ${row%%/*} "* ]]; then
		proxying=yes
	elif [[ " ${edit_rows[*]} " == *" ${row%%/*} "* ]]; then
		editing=yes
	else
		serving=yes
	fi
done
[[ -z $scanning ]] || build_engines
[[ -z $proxying ]] || build_proxies
[[ -z $editing ]] || build_edits
[[ -z $serving ]] || build_servers

disturbed=0 # runs that were, in rounds that count
tries=4     # of a round, before it counts all the same
known='' # yes once a row or pair named is there
if [[ -z $json && ${rows[*]} != shots ]]; then
	printf '%-14s %-15s %-10s %10s %10s %7s  %-11s  %s\n' row against figure ours theirs ratio '95 %' target
fi
for n in 16 64 256; do
	served flood$n c ours c ids flood:$n 'per_cpu>=0.92' rps
	served flood$n nginx ours nginx ids flood:$n 'per_cpu>=1.1' rps
	served flood$n fasthttp ours fasthttp ids flood:$n 'per_cpu>=1.3' rps
done
served flood64 nethttp ours nethttp ids flood:64 per_cpu
served one c ours c ids flood:1 rps cpu
served one c-busy ours-busy c-busy ids flood:1 'rps>=0.92'
served open2000 c ours c ids const:2000:16 'p50<=1.1' cpu
served open2000 c-busy ours-busy c-busy ids const:2000:16 'p50<=1.15'
served close c ours c-close closing flood:16 'cpu<=1.12' rps
served close c-rude ours c-rude closing flood:16 cpu
served close fasthttp ours fasthttp closing flood:16 'cpu<=0.75' rps
served bodies ready ours-lean ours mix flood:64 'per_cpu>=0.95' rps
served engines fasthttp-engine ours ours-fasthttp mix flood:64 per_cpu rps
pair phase1 wrk fire@ours-contest wrk@ours-contest phase1 flood:64 'rps>=1' gun
pair url wrk fire@c wrk@c url flood:64 'rps>=1' gun
pair limit cgun fire-busy@c c@c ids flood:64 rps
shots
# Targets are for the fastest kernel, but for two of AVX2.
case $kernel in
avx2) one='' ten='>=2.5' thirty='>=1.1' more='' ing='' ;;
plain) one='' ten='' thirty='' more='' ing='' ;;
*) one='>=0.6' ten='>=3' thirty='>=1.8' more='>=1' ing='>=0.5' ;;
esac
own=('emit/find>=0.85' out/find 'first/find>=0.8')
scans R1-html "find/hyperscan$one" find/joined find/each out/replacer "${own[@]}"
scans R10-html "find/hyperscan$ten" find/joined find/each "${own[@]}"
scans R10-js find/hyperscan find/joined find/each "${own[@]}"
scans R30-html "find/hyperscan$thirty" find/joined find/each "${own[@]}"
scans R30-js find/hyperscan find/joined find/each "${own[@]}"
scans R31-html "find/hyperscan$more" find/joined find/each "${own[@]}"
scans M10-html find/hyperscan find/joined find/each "${own[@]}"
scans M30-html find/hyperscan find/joined find/each "${own[@]}"
scans L10-html find/hyperscan find/joined find/each out/replacer "${own[@]}"
scans ing-html "find/hyperscan$ing" find/joined find/each "${own[@]}"
for row in num-html word-html again-a giveup-a stars-a; do
	scans $row find/hyperscan find/joined find/each emit/find out/find first/find
done
proxies
edits

[[ -n $known ]] || misused "no pair ${rows[*]}"
if ((disturbed)); then
	say "in $disturbed runs something else used more than 5 % of a CPU (others_share in --raw): not to be published"
fi
