# shellcheck shell=bash
# shellcheck disable=SC2154 # bench.sh, which reads this file, sets the others
# The guns of bench.sh: one at a time, on a CPU of its own.

# aim sets command to what fires at the server: GUN AMMO LOAD SECONDS. LOAD is
# flood:CONNECTIONS or const:RATE:CONNECTIONS.
aim() {
	local gun=$1 file=$work/$2.ammo seconds=$4 shape n connections
	IFS=: read -r shape n connections <<<"$3"
	case $gun in
	fire | fire-busy)
		command=("$work/redoubt" fire --target "$address" --ammo "$file" --load "$shape($n,${seconds}s)" --pid "$server" --json)
		[[ $shape == flood ]] || command+=(--instances "$connections")
		[[ $gun == fire ]] || command+=(--busy)
		;;
	c)
		command=("$work/gun" --requests "$file" --connections "${connections:-$n}" --seconds "$seconds" --warmup 0 --pid "$server")
		[[ $shape == flood ]] || command+=(--rate "$n")
		[[ $2 != closing ]] || command+=(--close)
		[[ -z $any ]] || command+=(--any)
		command+=("$address")
		;;
	wrk)
		command=(wrk -t1 -c"$n" -d"${seconds}s" --latency)
		if [[ $2 == url ]]; then
			command+=("http://$address/users/1") # which is what is in url.ammo
		elif [[ -e $work/pages/$2.html ]]; then
			command+=("http://$address/$2.html") # which is what is in its ammo
		else
			command+=(-s scripts/bench/ammo.lua "http://$address" -- "$file")
		fi
		;;
	esac
}

# shoot runs the command on the gun's CPU.
shoot() {
	local code=0
	taskset -c "$gun_cpu" "${command[@]}" >"$work/gun.out" 2>"$work/gun.err" &
	firing=$!
	wait "$firing" || code=$?
	firing=
	return $code
}

# look writes to a file what use.awk compares. It starts no program, which would
# count as used by the gun.
look() {
	local line pid
	{
		read -r line </proc/stat && echo "$line" &&
			read -r line <"/proc/$server/stat" && echo "$line" && times &&
			for pid in $origin_server $beside; do
				read -r line <"/proc/$pid/stat" && echo "$line" || return
			done &&
			while read -r line && [[ $line == cpu* ]]; do
				[[ $line != "cpu$server_cpu "* && $line != "cpu$gun_cpu "* ]] || echo "$line"
			done </proc/stat
	} >"$1"
}

# reduce prints the JSON of a run, which is in $work/gun.out or the file named,
# with the C gun's names.
reduce() {
	local from=${1%-busy} out=${2:-$work/gun.out}
	if [[ $from == c ]]; then
		cat "$out"
	else
		awk -v hz="$(getconf CLK_TCK)" -v any="${any:-}" -v size="${size:-}" -v most="${most:-}" -v server_at="$server_cpu" -v gun_at="$gun_cpu" \
			-f scripts/bench/use.awk -f "scripts/bench/$from.awk" "$work/before" "$work/after" "$out"
	fi
}

# keep sets result to a run's JSON, and appends it to --raw behind what was run.
keep() {
	result=$2
	echo "{$1,${result#\{}" >>"$raw"
	if awk -v o="$(values others_share)" 'BEGIN { exit !(o > 0.05) }'; then
		disturbed=$((disturbed + 1))
	fi
}

# url_requests prints what wrk sends for /users/1.
url_requests() {
	local text
	text=$(printf 'GET /users/1 HTTP/1.1\r\nHost: %s\r\n\r\n.' "$address")
	text=${text%.} # $() takes line ends off the end
	printf '%d\n%s' "${#text}" "$text"
}

# measure makes a run, "GUN@SERVER AMMO LOAD SECONDS", and sets result to its JSON.
measure() {
	local row=$1 gun kind ammo load seconds any='' warm='' command
	read -r gun kind ammo load seconds <<<"${2/@/ }"
	start "$kind"
	case $ammo in
	mix | phase1) any=yes ;; # some ask for what is not there
	url) url_requests >"$work/url.ammo" ;;
	esac
	# Each run finds a server that the same gun has warmed up.
	[[ $load == flood:* ]] || warm=flood:16
	if ! { aim c "$ammo" "${warm:-$load}" 0.5 && shoot && aim "$gun" "$ammo" "$load" "$seconds" &&
		look "$work/before" && shoot && look "$work/after" && reduce "$gun" >"$work/result"; }; then
		tail -n 50 "$work/gun.out" "$work/gun.err" "$work/$kind.err" >&2
		fail "$row: the run of $gun against $kind failed: ${command[*]}"
	fi
	stop
	keep "\"row\":\"$row\",\"server\":\"$kind\",\"gun\":\"$gun\"" "$(<"$work/result")"
}

# values prints numbers in result, by name.
values() {
	local name found=()
	for name; do
		[[ $result =~ \"$name\":([0-9.]+) ]] || fail "no $name in $result"
		found+=("${BASH_REMATCH[1]}")
	done
	echo "${found[*]}"
}
