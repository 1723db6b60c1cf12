# How late shots leave: the medians over the rounds of one way to fire, from a
# line a round: p50, p99, p99.9 and max in us from the planned instant to the
# sent one, shots more than 1 ms late, shots not sent, shots answered. Needs
# -v load, wait, json ("" or yes); comes after median.awk.
{ for (i = 1; i <= 7; i++) seen[i, NR] = $i }
function middle(i,    j, column) {
	for (j = 1; j <= NR; j++) column[j] = seen[i, j]
	order(column, NR)
	return median(column, NR)
}
END {
	form = json ? "{\"row\":\"shots\",\"load\":\"%s\",\"wait\":\"%s\",\"p50_us\":%.2f,\"p99_us\":%.2f,\"p99.9_us\":%.2f,\"max_us\":%.2f,\"late\":%d,\"unsent\":%d,\"shots\":%d,\"rounds\":%d}\n" \
		: "%-9s %-17s %-10s %10.2f %10.2f %10.2f %10.2f %8d %8d %9d\n"
	if (json) printf form, load, wait, middle(1), middle(2), middle(3), middle(4), middle(5), middle(6), middle(7), NR
	else printf form, "shots", load, wait, middle(1), middle(2), middle(3), middle(4), middle(5), middle(6), middle(7)
}
