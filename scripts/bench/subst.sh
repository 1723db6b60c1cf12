# shellcheck shell=bash
# shellcheck disable=SC2154 # bench.sh, which reads this file, sets the others
# The rows of bench.sh subst: engines that go over a body, one at a time, on the
# gun's CPU.

build_engines() {
	local body
	go build -buildvcs=false -o "$work/engines" ./scripts/bench/subst
	if echo '#include <hs/hs.h>' | gcc -E - &>/dev/null; then
		gcc -O2 -Wall -Wextra -o "$work/hyperscan" scripts/bench/subst/hyperscan.c -lhs
	fi
	for body in html js a; do
		"$work/engines" --write --body $body >"$work/body.$body"
	done
}

# scan makes a run, "ENGINE SET BODY SECONDS", and sets result to its JSON.
scan() {
	local row=$1 who set body seconds command
	read -r who set body seconds <<<"$2"
	case $who in
	hyperscan) command=("$work/hyperscan" --rules scripts/bench/subst/rules.tsv --set "$set" --body "$work/body.$body") ;;
	first) command=("$work/engines" --engine find --match first --rules "$set" --body "$body" --kernel "$kernel") ;;
	*) command=("$work/engines" --engine "$who" --rules "$set" --body "$body" --kernel "$kernel") ;;
	esac
	command+=(--seconds "$seconds")
	if ! shoot; then
		cat "$work/gun.err" >&2
		fail "$row: the run of $who failed: ${command[*]}"
	fi
	keep "\"row\":\"$row\"" "$(<"$work/gun.out")"
}

# scans measures a row, SET-BODY. A pair is OURS/PEER, maybe with its target:
# find/hyperscan>=3. The engines of all pairs run in turn, once a round each.
scans() {
	local row=$1 set=${1%-*} body=${1#*-} pair ours peer who pairs=() engines=() runs=() progress='' line bytes
	local -A column # the first one of an engine's four
	for pair in "${@:2}"; do
		IFS=/ read -r ours peer <<<"${pair%%>=*}"
		wanted "$row" "$peer" || continue
		pairs+=("$pair")
		for who in "$ours" "$peer"; do
			[[ " ${engines[*]} " == *" $who "* ]] || engines+=("$who")
		done
	done
	[[ ${#pairs[@]} -gt 0 ]] || return 0
	"$work/engines" --check --rules "$set" --body "$body" --kernel "$kernel" || fail "$row: engines do not agree"

	for who in "${engines[@]}"; do
		column[$who]=$((4 * ${#runs[@]} + 1))
		runs+=("$who $set $body $seconds")
		progress+=" printf \"${progress:+, }$who %.0f\", \$$((column[$who] + 1));"
	done
	series scan "$row" "mb_per_s mb_per_s bytes matches" "{ printf \"MB/s: \"; $progress }" "${runs[@]}"

	for pair in "${pairs[@]}"; do
		IFS=/ read -r ours peer <<<"${pair%%>=*}"
		# shellcheck disable=SC2016 # it is awk's
		awk -v ours="${column[$ours]}" -v theirs="${column[$peer]}" \
			'{ for (i = 0; i < 8; i++) printf "%s ", $(i < 4 ? ours + i : theirs + i - 4); print "" }' "$work/$row" >"$work/pair"
		bytes=$(awk 'END { print $7 }' "$work/pair")
		[[ -n $json || $bytes == "$(stat -c %s "$work/body.$body")" ]] || peer+=" ($((bytes >> 10)) KB)"
		line=$(awk -v row="$row" -v against="$peer" -v wish="rps${pair#"${pair%%>=*}"}" -v json="$json" -v form="$ours" \
			-f scripts/bench/median.awk -f scripts/bench/summary.awk -f scripts/bench/subst/speed.awk "$work/pair")
		[[ -z $json ]] || line="${line%\}},\"bytes\":$bytes}"
		echo "$line"
	done
}
