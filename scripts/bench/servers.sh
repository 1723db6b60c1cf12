# shellcheck shell=bash
# shellcheck disable=SC2154 # bench.sh, which reads this file, sets the others
# The servers of bench.sh: one at a time, on a CPU of its own.

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

# await_port waits until something listens at the port.
await_port() {
	local try
	for ((try = 0; try < 100; try++)); do
		sleep 0.05
		kill -0 "$server" 2>/dev/null || break
		if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			address=127.0.0.1:$port
			break
		fi
	done
}

# configure writes the file of a server that neither picks a port nor tells when
# it is ready, with a port at which nobody listens. Below 32768 no connection of
# the gun has it.
configure() {
	for (( ; ; )); do
		port=$((20000 + RANDOM % 10000))
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	sed "s|DIR|$work|; s|PORT|$port|; s|ORIGIN|$origin|; s|MODULE|${module:+load_module $module;}|; s|RULES|${rules:+include $rules;}|" \
		"scripts/bench/peers/$1" >"$work/$1"
}

# start starts a server, on the servers' CPU or another, and sets server and
# address.
start() {
	local kind=$1 cpu=${2:-$server_cpu} command port='' module='' rules=''
	address=
	rm -f "$work/out"
	mkfifo "$work/out"
	local serve=("$work/redoubt" serve --listen 127.0.0.1:0 --workers 1)
	local ours=("${serve[@]}" --data "$work/set/data")
	local loop=(--engine "$engine")
	# Only our own loop knows how to wait otherwise.
	[[ $engine == netloop ]] && loop+=(--wait block)
	case $kind in
	ours) command=("${ours[@]}" "${loop[@]}" --bodies ready) ;;
	ours-busy) command=("${ours[@]}" --engine netloop --wait busy --bodies ready) ;;
	ours-contest) command=("${serve[@]}" --data "$contest/data" "${loop[@]}" --bodies ready) ;;
	ours-lean) command=("${ours[@]}" "${loop[@]}" --bodies lean) ;;
	ours-fasthttp) command=("${ours[@]}" --engine fasthttp --bodies ready) ;;
	c) command=("$work/limit") ;;
	c-busy) command=("$work/limit" --busy) ;;
	c-close) command=("$work/limit" --close) ;;
	c-rude) command=("$work/limit" --close --rude) ;;
	fasthttp | nethttp) command=("$work/$kind") ;;
	ours-proxy | heap-proxy) command=("$work/${kind/ours-proxy/redoubt}" proxy --listen 127.0.0.1:0 --to "$origin" --workers 1 --wait block) ;;
	fasthttp-proxy | httputil) command=("$work/$kind" --to "$origin") ;;
	edit-*)
		configure_edit "$kind"
		command=(env GODEBUG="$without" "$work/redoubt" proxy --config "$work/$kind.json" --workers 1 --wait block)
		;;
	regexp-*) command=("$work/httputil" --to "$origin" --rules "$work/${kind#*-}.json") ;;
	sub-* | subs-*)
		rules=$work/${kind#*-}.${kind%-*}
		[[ $kind == sub-* ]] || module=$subs_module
		configure nginx-proxy.conf
		command=(nginx -p "$work/" -c "$work/nginx-proxy.conf")
		;;
	nginx | nginx-*)
		configure "$kind.conf"
		command=(nginx -p "$work/" -c "$work/$kind.conf")
		;;
	haproxy)
		configure haproxy.cfg
		command=(haproxy -db -f "$work/haproxy.cfg")
		;;
	esac
	if [[ -z $port ]]; then
		taskset -c "$cpu" "${command[@]}" >"$work/out" 2>"$work/$kind.err" &
		server=$!
		await_line
	else
		taskset -c "$cpu" "${command[@]}" >"$work/$kind.out" 2>"$work/$kind.err" &
		server=$!
		await_port
	fi
	if [[ -z $address ]]; then
		cat "$work/$kind.err" >&2
		fail "server $kind did not start: ${command[*]}"
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

# start_origin starts what is behind the proxies, on the gun's CPU.
start_origin() {
	start nginx-origin "$gun_cpu"
	origin=$address origin_server=$server server=
}

stop_origin() {
	server=$origin_server origin_server=
	[[ -z $server ]] || stop
}
