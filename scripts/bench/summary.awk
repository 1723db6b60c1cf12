# One figure of a pair, from a line a round: four numbers of ours, four of
# theirs. Prints the median of the ratios and an interval by order statistics.
#
# A ratio is as likely below the true median as above it, so fewer than r of n
# are below it as often as n tosses of a coin give fewer than r heads. The
# interval from the r-th smallest to the r-th largest ratio misses the median
# twice as often; r is the largest that keeps this within 5 %: 2 for 9 rounds
# (3.9 %). Fewer than 6 rounds give the whole range, which misses more often:
# see "coverage" in the JSON.
#
# Needs -v row, against, json ("" or yes), and wish: per_cpu, rps, p50 or cpu,
# and maybe a target, which is reached if the interval touches it.
function median(v, n) { return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }
function order(v, n,    i, j, x) {
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j >= 1 && v[j] > x; j--) v[j + 1] = v[j]
		v[j + 1] = x
	}
}
BEGIN {
	figure = wish; sub(/[<>]=.*/, "", figure)
	target = substr(wish, length(figure) + 1)
	column = figure == "per_cpu" ? 1 : figure == "rps" ? 2 : figure == "p50" ? 3 : 4
	split("req/CPU s,req/s,p50 us,CPU us/req", names, ",")
}
{
	ours[NR] = $column; theirs[NR] = $(column + 4); ratio[NR] = $column / $(column + 4)
	list = list (NR > 1 ? "," : "") sprintf("%.4f", ratio[NR])
}
END {
	n = NR; order(ours, n); order(theirs, n); order(ratio, n)
	term = below = 0.5 ^ n; r = 1
	for (i = 1; i < n; i++) {
		term *= (n - i + 1) / i
		if (2 * (below + term) > 0.05) break
		below += term; r = i + 1
	}
	low = ratio[r]; high = ratio[n + 1 - r]
	met = ""
	if (target != "" && n >= 6) {
		bound = substr(target, 3) + 0
		met = (target ~ /^>/ ? high >= bound : low <= bound) ? "reached" : "missed"
	}
	if (json) {
		printf "{\"row\":\"%s\",\"against\":\"%s\",\"figure\":\"%s\",\"ours\":%.3f,\"theirs\":%.3f,\"ratio\":%.4f,\"low\":%.4f,\"high\":%.4f,\"coverage\":%.4f,\"rounds\":%d,\"ratios\":[%s]",
			row, against, figure, median(ours, n), median(theirs, n), median(ratio, n), low, high, 1 - 2 * below, n, list
		if (met != "") printf ",\"target\":\"%s\",\"reached\":%s", target, met == "reached" ? "true" : "false"
		print "}"
	} else {
		form = column == 3 || column == 4 ? "%.2f" : "%.0f"
		printf "%-9s %-15s %-10s %10s %10s %7.3f  %-11s  %-7s %s\n", row, against, names[column],
			sprintf(form, median(ours, n)), sprintf(form, median(theirs, n)), median(ratio, n),
			n < 6 ? "-" : sprintf("%.3f-%.3f", low, high), target, met
	}
}
