# What a run has used, for fire.awk and wrk.awk. The first two files are what
# look in bench.sh wrote before and after it: the machine's line of /proc/stat,
# the server's of /proc/PID/stat, and what `times` says of the shell and, in the
# fourth line, of the programs it has waited for. Needs -v hz, ticks a second.
FNR == 1 { file++ }
file <= 2 { # cpu user nice system idle iowait irq softirq steal
	sign = file == 2 ? 1 : -1
	if (FNR == 1) machine_cpu += sign * ($2 + $3 + $4 + $7 + $8 + $9) / hz
	if (FNR == 2) server_cpu += sign * ($14 + $15) / hz
	if (FNR == 4) gun_cpu += sign * (seconds_of($1) + seconds_of($2))
	next
}

# seconds_of reads 1m2.345s.
function seconds_of(time,    part) {
	split(time, part, /[ms]/)
	return 60 * part[1] + part[2]
}

# others is the share of a CPU that neither the server nor the gun used.
function others(server, seconds,    left) {
	left = machine_cpu - server - gun_cpu
	return left > 0 ? left / seconds : 0
}

function wrong(text) {
	print text >"/dev/stderr"
	failed = 1
	exit 1
}
