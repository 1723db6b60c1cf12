# Comes after summary.awk and makes it tell speeds: of the four numbers of a run
# the first two are MB/s. Needs -v form, what of ours was measured.
BEGIN {
	figure = form "_mb_per_s"
	name = form " MB/s"
}
$1 < 100 || $5 < 100 { column = 1 } # which it prints with decimals
