# shellcheck shell=bash
# shellcheck disable=SC2154 # programs.sh, which reads this file, sets the others
# The cases of programs.sh that load generators ask for: ab compares lengths,
# wrk bodies (compare.lua).

# ab_one has ab fire, and wants all answers to be as long as the origin's own.
# kept says how many come on a connection that is kept; ab says nothing of that
# where it does not keep any.
ab_one() {
	local name="ab $1" direct=$2 proxied=$3 target=$4 count=$5 kept=$6 report why='' got want
	shift 6
	set -- -q -s 10 -H 'Host: origin.test' "$@"
	want=$(ab "$@" -n 1 -c 1 "http://$direct$target" 2>&1 | figure 'Document Length')
	code=0
	report=$(ab "$@" -n "$count" "http://$proxied$target" 2>&1) || code=$?
	got="$(figure 'Complete requests' <<<"$report") $(figure 'Failed requests' <<<"$report") $(figure 'Document Length' <<<"$report")"
	if [[ $code -ne 0 ]]; then
		why="ends with $code: $(tail -n 3 <<<"$report")"
	elif [[ $got != "$count 0 ${want:-unknown}" ]]; then
		why="complete, failed, length: $got; want $count 0 $want"
	elif grep -q 'Non-2xx' <<<"$report"; then
		why=$(grep 'Non-2xx' <<<"$report")
	elif [[ $(figure 'Keep-Alive requests' <<<"$report") != "$kept" ]]; then
		why="$(figure 'Keep-Alive requests' <<<"$report") on kept connections, want ${kept:-none}"
	fi
	if [[ -n $why ]]; then bad "$name" "$why"; else ok "$name"; fi
}

# figure prints the number of a line of ab's report.
figure() { sed -n "s/^$1: *\([0-9]*\).*/\1/p"; }

ab_all() {
	local page=$work/files/50k.html
	if [[ -z ${lacks[nginx]:-} ]]; then
		ab_one "nginx, kept" "$nginx" "$nginx_proxy" /2k 5000 5000 -k -c 16
		ab_one "nginx, closed" "$nginx" "$nginx_proxy" /2k 2000 '' -c 16
		ab_one "nginx, 5 MB" "$nginx" "$nginx_proxy" /5m 60 60 -k -c 4
		ab_one "nginx, HEAD" "$nginx" "$nginx_proxy" /5m 2000 2000 -k -i -c 16
	fi
	# In HTTP/1.0 a body in pieces ends with the connection.
	ab_one "chunks" "$origin" "$origin_proxy" /chunked/100 500 0 -k -c 16
	ab_one "POST, kept" "$origin" "$origin_proxy" /echo 2000 2000 -k -c 16 -p "$page" -T text/html
	ab_one "POST, closed" "$origin" "$origin_proxy" /echo 1000 '' -c 16 -p "$page" -T text/html
	ab_one "PUT of 5 MB" "$origin" "$origin_proxy" /echo 30 30 -k -c 4 -u "$work/files/5m" -T text/x
	ab_one "serve, kept" "$api" "$api_proxy" /users/3 5000 5000 -k -c 32
	ab_one "serve, closed" "$api" "$api_proxy" /users/3 2000 '' -c 32
	printf '{"mark": 3}' >"$work/mark"
	ab_one "serve, POST" "$api" "$api_proxy" /visits/1 2000 2000 -k -c 16 -p "$work/mark" -T application/json
}

# wrk_one has wrk fire for a second, and compares each body with the origin's
# own.
wrk_one() {
	local name="wrk $1" direct=$2 proxied=$3 target=$4 report requests
	shift 4
	"$work/client" -get "http://$direct$target" >"$work/want"
	code=0
	report=$(wrk -t 1 -c 32 -d 1s --timeout 5s "$@" -s scripts/programs/compare.lua "http://$proxied$target" -- "$work/want" 2>&1) || code=$?
	requests=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' <<<"$report")
	if [[ $code -ne 0 || ${requests:-0} -eq 0 ]] || grep -qE 'Socket errors|Non-2xx' <<<"$report" || ! grep -qx 'Wrong: 0' <<<"$report"; then
		bad "$name" "ends with $code: $(tail -n 7 <<<"$report")"
	else
		ok "$name: $requests answers"
	fi
}

wrk_all() {
	if [[ -z ${lacks[nginx]:-} ]]; then
		wrk_one "nginx, 2 KB" "$nginx" "$nginx_proxy" /2k
		wrk_one "nginx, 50 KB" "$nginx" "$nginx_proxy" /50k.html
		wrk_one "nginx, 5 MB" "$nginx" "$nginx_proxy" /5m
		wrk_one "nginx, closed" "$nginx" "$nginx_proxy" /2k -H 'Connection: close'
	fi
	wrk_one "chunks" "$origin" "$origin_proxy" /chunked/100
	wrk_one "serve" "$api" "$api_proxy" /users/3
	wrk_one "serve, closed" "$api" "$api_proxy" /users/3 -H 'Connection: close'
}
