# shellcheck shell=bash
# shellcheck disable=SC2154 # bench.sh, which reads this file, sets the others
# The rows of bench.sh proxy: proxies, one at a time, on the servers' CPU; their
# origin is on the gun's.

build_proxies() {
	go build -buildvcs=false -o "$work/" . ./scripts/bench/peers/fasthttp-proxy ./scripts/bench/peers/httputil
	go build -buildvcs=false -tags slabheap -o "$work/heap-proxy" .
	mkdir -p "$work/pages"
	page 2k $((2 << 10))
	page 50k $((50 << 10))
	page 500k $((500 << 10))
	page 5m $((5 << 20))
	page_request 2k close >"$work/2k-close.ammo"
}

# page writes a page of so many bytes, the request for it, and the answer expected.
# It is one JSON string, which is what fire compares, and no part of it is like
# another.
page() {
	awk -v size="$2" 'BEGIN {
		printf "\""
		for (left = size - 2; left >= 16; left -= 16) printf "<li>%07d</li>", i++
		printf "%" left "s\"", ""
	}' >"$work/pages/$1.html"
	page_request "$1" keep-alive >"$work/$1.ammo"
	printf 'GET\t/%s.html\t200\t%s\n' "$1" "$(<"$work/pages/$1.html")" >"$work/$1.answers"
}

page_request() {
	local text
	printf -v text 'GET /%s.html HTTP/1.1\r\nHost: pages.test\r\nUser-Agent: bench\r\nAccept: */*\r\nConnection: %s\r\n\r\n' "$1" "$2"
	printf '%d\n%s' ${#text} "$text"
}

# relay makes a run, "GUN@PROXY[+OTHER] PAGE LOAD SECONDS", and sets result to its
# JSON. OTHER is a page that one more connection downloads all the time.
relay() {
	local row=$1 gun kind page load seconds other size warm='' extra command
	read -r gun kind page load seconds <<<"${2/@/ }"
	IFS=+ read -r kind other <<<"$kind"
	start "$kind"
	size=$(stat -c %s "$work/pages/${page%-close}.html")
	[[ $load == flood:* ]] || warm=flood:16
	# Every byte is compared in the warm-up, and afterwards how many there are.
	if ! { aim_patiently fire "$page" "${warm:-$load}" 0.5 && command+=(--answers "$work/${page%-close}.answers" --fail 'errors>0') && shoot &&
		download && aim_patiently "$gun" "$page" "$load" "$seconds" && look "$work/before" && shoot && look "$work/after" &&
		reduce "$gun" >"$work/result" && extra=$(most_memory) && downloaded; }; then
		tail -n 50 "$work/gun.out" "$work/gun.err" "$work/$kind.err" | cut -c 1-400 >&2 # a page may be in it
		fail "$row: the run of $gun against $kind failed: ${command[*]}"
	fi
	stop
	result=$(<"$work/result")
	keep "\"row\":\"$row\",\"server\":\"$kind${other:++$other}\",\"gun\":\"$gun\"" "{$extra,${result#\{}"
}

# aim_patiently aims a gun that does not give up after the usual two seconds: behind
# two CPUs that others use, too, 64 long answers are late but not wrong.
aim_patiently() {
	aim "$@"
	command+=(--timeout 10s)
}

# most_memory prints the most that the server has held.
most_memory() { awk '/^VmHWM:/ { printf "\"rss_mb\":%.2f", $2 / 1024 }' "/proc/$server/status"; }

# download starts the gun that downloads $other, for as long as another run takes.
download() {
	local command
	[[ -n $other ]] || return 0
	aim_patiently fire "$other" flood:1 "$(awk -v s="$seconds" 'BEGIN { print s + 1.5 }')"
	taskset -c "$gun_cpu" "${command[@]}" >"$work/beside.out" 2>"$work/beside.err" &
	beside=$!
	sleep 0.5
}

# downloaded waits for it, and adds to extra how fast it was.
downloaded() {
	local code=0 pid=$beside
	if [[ -n $pid ]]; then
		wait "$pid" || code=$?
		beside='' size=$(stat -c %s "$work/pages/$other.html")
		[[ $code -eq 0 ]] && result=$(reduce fire "$work/beside.out") || return
	else
		result='{"rps":0}' size=0
	fi
	extra+=$(awk -v rps="$(values rps)" -v size="$size" 'BEGIN { printf ",\"beside_mb_per_s\":%.1f", rps * size / 1e6 }')
}

# proxied measures a pair: ROW AGAINST OURS THEIRS PAGE LOAD FIGURE..., as pair does.
# OURS and THEIRS are PROXY[+OTHER].
proxied() {
	local row=$1 against=$2 by=fire span=$seconds size figure progress
	wanted "$row" "$against" || return 0
	if ! command -v nginx >/dev/null; then
		say "$row/$against left out: there is no nginx for the origin"
		return 0
	fi
	[[ -n $origin_server ]] || start_origin
	if [[ $gun == wrk && $row =~ ^p[0-9] ]]; then
		by=wrk span=$whole
	fi
	size=$(stat -c %s "$work/pages/${5%-close}.html")
	# shellcheck disable=SC2016 # they are awk's
	progress='{ printf "ours/theirs: CPU %.3f, req/s %.3f, p50 %.3f, p99 %.3f", $1 / $7, $2 / $8, $3 / $9, $4 / $10 }'
	series relay "$row.$against" "cpu_us_per_request rps p50_us p99_us rss_mb beside_mb_per_s" "$progress" \
		"$by@$3 $5 $6 $span" "$by@$4 $5 $6 $span"
	for figure in "${@:7}"; do
		awk -v row="$row" -v against="$against" -v wish="$figure" -v json="$json" -v size="$size" -v columns="cpu rps p50 p99 rss beside" \
			-f scripts/bench/median.awk -f scripts/bench/summary.awk <"$work/$row.$against"
	done
}

# proxies measures all rows. Targets are for small pages: of large ones most is copying
# in the kernel.
proxies() {
	local line row page n nginx fasthttp httputil peer kind figures=(mb p50 p99 rps rss)
	for line in "p2k 2k 64 >=1.2 >=1.2 >=3" "p50k 50k 64" "p500k 500k 64" "p5m 5m 16"; do
		read -r row page n nginx fasthttp httputil <<<"$line"
		proxied "$row" nginx ours-proxy nginx-proxy "$page" "flood:$n" "per_cpu$nginx" "${figures[@]}"
		proxied "$row" haproxy ours-proxy haproxy "$page" "flood:$n" per_cpu "${figures[@]}"
		proxied "$row" fasthttp ours-proxy fasthttp-proxy "$page" "flood:$n" "per_cpu$fasthttp" "${figures[@]}"
		proxied "$row" httputil ours-proxy httputil "$page" "flood:$n" "per_cpu$httputil" "${figures[@]}"
	done
	for peer in nginx haproxy fasthttp httputil; do
		kind=$peer
		[[ $peer =~ ^(haproxy|httputil)$ ]] || kind=$peer-proxy
		proxied pclose $peer ours-proxy $kind 2k-close flood:16 per_cpu p50 p99 rps rss
		proxied popen $peer ours-proxy $kind 2k const:2000:16 cpu p50 p99 rss
	done
	proxied p2k heap ours-proxy heap-proxy 2k flood:64 per_cpu p50 p99 rss
	proxied p500k heap ours-proxy heap-proxy 500k flood:64 per_cpu p50 p99 rss
	proxied pclose heap ours-proxy heap-proxy 2k-close flood:16 per_cpu p50 p99 rss
	proxied pmix alone ours-proxy+5m ours-proxy 2k flood:9 p99 p50 rps
	proxied pmix nginx ours-proxy+5m nginx-proxy+5m 2k flood:9 p99 p50 rps beside
	stop_origin
}
