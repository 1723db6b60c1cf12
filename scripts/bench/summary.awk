# One figure of a pair, from a line a round: four numbers of ours (the server's
# CPU us a request, requests/s, p50 us, the gun's CPU us a request), four of
# theirs. Prints the median of the ratios and an interval by order statistics.
#
# A ratio is as likely below the true median as above it, so fewer than r of n
# are below it as often as n tosses of a coin give fewer than r heads. The
# interval from the r-th smallest to the r-th largest ratio misses the median
# twice as often; r is the largest that keeps this within 5 %: 2 for 9 rounds
# (3.9 %). Fewer than 6 rounds give the whole range, which misses more often:
# see "coverage" in the JSON.
#
# Needs -v row, against, json ("" or yes), and wish: per_cpu, rps, p50, cpu or
# gun, and maybe a target, which is reached if the interval touches it. Comes after
# median.awk.
BEGIN {
	figure = wish; sub(/[<>]=.*/, "", figure)
	target = substr(wish, length(figure) + 1)
	split("cpu rps p50 gun", columns)
	for (column = 4; column > 1 && columns[column] != figure; column--);
	if (figure == "per_cpu") inverse = 1e6
	split("CPU us/req,req/s,p50 us,gun us/req", names, ",")
	name = inverse ? "req/CPU s" : names[column]
}
{
	a = $column; b = $(column + 4)
	if (inverse) { a = inverse / a; b = inverse / b }
	ours[NR] = a; theirs[NR] = b; ratio[NR] = a / b
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
		form = inverse || column == 2 ? "%.0f" : "%.2f"
		printf "%-9s %-15s %-10s %10s %10s %7.3f  %-11s  %-7s %s\n", row, against, name,
			sprintf(form, median(ours, n)), sprintf(form, median(theirs, n)), median(ratio, n),
			n < 6 ? "-" : sprintf("%.3f-%.3f", low, high), target, met
	}
}
