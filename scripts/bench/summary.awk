# One figure of a pair, from a line a round: numbers of ours, by default four (the
# server's CPU us a request, requests/s, p50 us, the gun's CPU us a request), and
# as many of theirs. Prints the median of the ratios and an interval by order
# statistics.
#
# A ratio is as likely below the true median as above it, so fewer than r of n
# are below it as often as n tosses of a coin give fewer than r heads. The
# interval from the r-th smallest to the r-th largest ratio misses the median
# twice as often; r is the largest that keeps this within 5 %: 2 for 9 rounds
# (3.9 %). Fewer than 6 rounds give the whole range, which misses more often:
# see "coverage" in the JSON.
#
# Needs -v row, against, json ("" or yes), and wish: one of columns, or per_cpu or,
# with -v size, bytes of an answer, mb, which are cpu turned round; and maybe a
# target, which is reached if the interval touches it; if it ends in MB, that of our
# own figure. -v columns, "cpu ..." at
# first, if the numbers are others. Comes after median.awk.
BEGIN {
	figure = wish; sub(/[<>]=.*/, "", figure)
	target = substr(wish, length(figure) + 1)
	n = split(columns == "" ? "cpu rps p50 gun" : columns, names)
	for (column = n; column > 1 && names[column] != figure; column--);
	if (figure == "per_cpu") inverse = 1e6
	if (figure == "mb") inverse = size
	n_titles = split("per_cpu=req/CPU s,mb=MB/CPU s,cpu=CPU us/req,rps=req/s,p50=p50 us,p99=p99 us,gun=gun us/req,rss=RSS MB,beside=5m MB/s,first=first us", titles, /[,=]/)
	for (i = 1; i < n_titles && titles[i] != figure; i += 2);
	name = titles[i + 1]
}
{
	a = $column; b = $(column + n)
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
		if (target ~ /MB$/) met = ours[r] <= bound ? "reached" : "missed"
		else met = (target ~ /^>/ ? high >= bound : low <= bound) ? "reached" : "missed"
	}
	if (json) {
		printf "{\"row\":\"%s\",\"against\":\"%s\",\"figure\":\"%s\",\"ours\":%.3f,\"theirs\":%.3f,\"ratio\":%.4f,\"low\":%.4f,\"high\":%.4f,\"coverage\":%.4f,\"rounds\":%d,\"ratios\":[%s]",
			row, against, figure, median(ours, n), median(theirs, n), median(ratio, n), low, high, 1 - 2 * below, n, list
		if (met != "") printf ",\"target\":\"%s\",\"reached\":%s", target, met == "reached" ? "true" : "false"
		print "}"
	} else {
		form = (inverse || column == 2) && median(ours, n) >= 100 && median(theirs, n) >= 100 ? "%.0f" : "%.2f"
		printf "%-14s %-15s %-10s %10s %10s %7.3f  %-11s  %-7s %s\n", row, against, name,
			sprintf(form, median(ours, n)), sprintf(form, median(theirs, n)), median(ratio, n),
			n < 6 ? "-" : sprintf("%.3f-%.3f", low, high), target, met
	}
}
