# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # bench.sh, which reads this file, sets and uses the others
# The rows of bench.sh edit: proxies that replace in pages on their way. What they
# are made of is in proxy.sh.

subs_module= # of nginx; empty where there is none
case $kernel in # what ours is kept from using, by GODEBUG
avx2) without=cpu.avx512vbmi=off ;;
plain) without=cpu.avx512vbmi=off,cpu.avx2=off ;;
*) without='' ;;
esac

# build_edits makes programs, rules in the form that each peer wants, and pages:
# html as in the rows of subst, and clean, the same without what any rule finds.
build_edits() {
	local set size bytes
	go build -buildvcs=false -o "$work/" . ./scripts/bench/peers/httputil ./scripts/bench/reader
	go build -buildvcs=false -o "$work/engines" ./scripts/bench/subst
	for set in R1 R10 R30 L30; do
		"$work/engines" --rules $set --form json >"$work/$set.json"
		"$work/engines" --rules $set --form subs_filter >"$work/$set.subs"
		[[ $set == R?0 ]] || { echo 'sub_filter_once off;' && "$work/engines" --rules $set --form sub_filter; } >"$work/$set.sub"
	done
	"$work/engines" --rules R30 --form removing >"$work/removing.json"
	mkdir -p "$work/pages"
	for size in 2k 50k 500k 5m; do
		bytes=$(numfmt --from=iec "${size^^}")
		"$work/engines" --write --body html --size "$bytes" >"$work/pages/html-$size.html"
		"$work/engines" --write --body html --size $((bytes + bytes / 4)) >"$work/page"
		clean "$bytes" >"$work/pages/clean-$size.html"
		page_request "html-$size" keep-alive >"$work/html-$size.ammo"
		page_request "clean-$size" keep-alive >"$work/clean-$size.ammo"
	done
	gzip -c "$work/pages/html-5m.html" >"$work/pages/html-5m.html.gz"
	if command -v nginx >/dev/null; then
		subs_module=$(nginx -V 2>&1 | grep -o 'modules-path=[^ ]*' || true)
		subs_module=${subs_module#*=}/ngx_http_subs_filter_module.so
		[[ -e $subs_module ]] || subs_module=
	fi
}

# clean takes from $work/page what rules find, until they find nothing, and prints as
# many bytes of it.
clean() {
	"$work/redoubt" subst --rules "$work/removing.json" "$work/page" >"$work/page.next"
	while ! cmp -s "$work/page" "$work/page.next"; do
		mv "$work/page.next" "$work/page"
		"$work/redoubt" subst --rules "$work/removing.json" "$work/page" >"$work/page.next"
	done
	head -c "$1" "$work/page"
}

# configure_edit writes the configuration of a proxy, edit-SET or edit-SET-memory.
configure_edit() {
	local memory=false
	[[ $1 != *-memory ]] || memory=true
	cat >"$work/$1.json" <<-END
		{"listen": ["127.0.0.1:0"], "upstreams": {"origin": {"servers": ["$origin"]}},
		 "response": {"body": {"types": ["text/html"], "memory": $memory, "rules": $(<"$work/$(set_of "$1").json")}}}
	END
}

set_of() {
	local set=${1#*-}
	echo "${set%-memory}"
}

# expected sets expect to the file that a proxy should make of a page: all rules at
# once, or, by those that go over it with one rule after the other, in turns.
expected() {
	local kind=$1 page=$work/pages/$2.html set line
	set=$(set_of "$kind")
	expect=$work/$2.$set.once
	case $kind in
	ours-proxy) expect=$page ;;
	subs-* | regexp-*) expect=$work/$2.$set.turns ;;
	esac
	[[ ! -e $expect ]] || return 0
	if [[ $expect == *.once ]]; then
		"$work/redoubt" subst --rules "$work/$set.json" "$page" >"$expect"
		return
	fi
	cp "$page" "$work/page"
	while read -r line; do
		[[ $line == "{"* ]] || continue
		echo "[${line%,}]" >"$work/rule.json"
		"$work/redoubt" subst --match first --rules "$work/rule.json" "$work/page" >"$work/page.next"
		mv "$work/page.next" "$work/page"
	done <"$work/$set.json"
	mv "$work/page" "$expect"
}

# rewrite makes a run, "PROXY PAGE LOAD SECONDS", and sets result to its JSON. LOAD
# is flood:CONNECTIONS, or read:CONNECTIONS or slow:CONNECTIONS for the reader.
rewrite() {
	local row=$1 kind page load seconds gun=fire size most expect command extra
	read -r kind page load seconds <<<"$2"
	expected "$kind" "${page%-gzip}"
	size=$(stat -c %s "$expect")
	most=$((1024 + size / 20)) # heads, and where chunks begin and end
	start "$kind"
	if ! { aim_reader "$load" 0.5 && shoot && aim_at_page && look "$work/before" && shoot && look "$work/after" &&
		reduce "$gun" >"$work/result" && extra=$(most_memory) && first_byte; }; then
		tail -n 50 "$work/gun.out" "$work/gun.err" "$work/$kind.err" | cut -c 1-400 >&2 # a page may be in it
		fail "$row: the run of $gun against $kind failed: ${command[*]}"
	fi
	stop
	result=$(<"$work/result")
	keep "\"row\":\"$row\",\"server\":\"$kind\",\"gun\":\"$gun\"" "{$extra,${result#\{}"
}

# aim_reader sets command to what compares every byte, LOAD SECONDS.
aim_reader() {
	command=("$work/reader" --target "$address" --path "/${page%-gzip}.html" --expect "$expect" --connections "${1#*:}" --seconds "$2")
	[[ $1 != slow:* ]] || command+=(--rate 5000000)
	[[ $page != *-gzip ]] || command+=(--gzip)
}

aim_at_page() {
	if [[ $load == flood:* ]]; then
		rm -rf "$work/shots"
		aim fire "$page" "$load" "$seconds"
		command+=(--timeout 60s --out "$work/shots")
	else
		aim_reader "$load" "$seconds"
		gun=reader
	fi
}

# first_byte adds to extra when an answer began, which the reader has told and fire
# has in its file of shots: connecting, sending, waiting.
first_byte() {
	[[ $gun == fire ]] || return 0
	extra+=$(awk -F '\t' '{ print $4 + $5 + $6 }' "$work/shots/phout.txt" | sort -n |
		awk '{ us[NR] = $1 } END { printf ",\"first_p50_us\":%d", us[int((NR + 1) / 2)] }')
}

# edited measures a pair: ROW AGAINST OURS THEIRS PAGE LOAD FIGURE..., as pair does.
edited() {
	local row=$1 against=$2 bytes figure progress
	wanted "$row" "$against" || return 0
	if ! command -v nginx >/dev/null; then
		say "$row/$against left out: there is no nginx for the origin"
		return 0
	fi
	[[ -n $origin_server ]] || start_origin
	bytes=$(stat -c %s "$work/pages/${5%-gzip}.html")
	# shellcheck disable=SC2016 # they are awk's
	progress='{ printf "ours/theirs: CPU %.3f, p50 %.3f, p99 %.3f, first byte %.3f, RSS %.1f/%.1f MB", $1 / $7, $3 / $9, $4 / $10, $5 / $11, $6, $12 }'
	series rewrite "$row.$against" "cpu_us_per_request rps p50_us p99_us first_p50_us rss_mb" "$progress" "$3 $5 $6 $seconds" "$4 $5 $6 $seconds"
	for figure in "${@:7}"; do
		awk -v row="$row" -v against="$against" -v wish="$figure" -v json="$json" -v size="$bytes" -v columns="cpu rps p50 p99 first rss" \
			-f scripts/bench/median.awk -f scripts/bench/summary.awk <"$work/$row.$against"
	done
}

# edits measures all rows. Those that are slow are asked over fewer connections, as
# each answer would wait for seconds behind the others.
edits() {
	local set size n ten='' thirty='' target figures=(p50 p99 first rss)
	case $kernel in
	plain) ;;
	avx2) ten='>=0.55' thirty='>=0.3' ;;
	*) if grep -qsw avx512vbmi /proc/cpuinfo; then ten='>=0.62' thirty='>=0.42'; else ten='>=0.55' thirty='>=0.3'; fi ;;
	esac
	for set in R1 R10 R30 L30; do
		for size in 2k 50k 500k 5m; do
			n=64 target=''
			[[ $size != 5m ]] || n=16
			case $set-$size in
			*-2k) ;;
			R10-*) target=$ten ;;
			R30-*) target=$thirty ;;
			esac
			edited $set-$size plain edit-$set ours-proxy html-$size flood:$n "mb$target" "${figures[@]}"
			[[ $set == R?0 ]] || # which are no literals
				edited $set-$size nginx edit-$set sub-$set html-$size flood:$n mb "${figures[@]}"
			case $set-$size in
			R30-500k) n=16 ;;
			R30-5m) n=4 ;;
			esac
			edited $set-$size subs edit-$set subs-$set html-$size flood:$n mb "${figures[@]}"
			case $set-$size in
			R[13]0-50k) n=16 ;;
			R[13]0-500k) n=2 ;;
			R[13]0-5m) n=1 ;;
			esac
			edited $set-$size httputil edit-$set regexp-$set html-$size flood:$n mb "${figures[@]}"
		done
	done
	for set in R10 R30; do
		for size in 2k 50k 500k 5m; do
			n=64
			[[ $size != 5m ]] || n=16
			edited $set-$size memory edit-$set-memory edit-$set html-$size flood:$n mb "${figures[@]}"
			edited $set-$size-clean memory edit-$set-memory edit-$set clean-$size flood:$n mb "${figures[@]}"
			edited $set-$size-clean plain edit-$set ours-proxy clean-$size flood:$n mb "${figures[@]}"
		done
	done
	edited first-5m plain edit-R30 ours-proxy html-5m read:1 first p50
	edited first-5m subs edit-R30 subs-R30 html-5m read:1 first p50
	edited first-5m httputil edit-R30 regexp-R30 html-5m read:1 first p50
	edited slow-5m plain edit-R30 ours-proxy html-5m slow:32 'rss<=40MB' first rps
	edited slow-5m nginx edit-L30 sub-L30 html-5m slow:32 'rss<=40MB' first rps
	edited slow-5m subs edit-R30 subs-R30 html-5m slow:32 'rss<=40MB' first rps
	edited slow-5m-gzip plain edit-R30 ours-proxy html-5m-gzip slow:32 rss first rps
	stop_origin
}
