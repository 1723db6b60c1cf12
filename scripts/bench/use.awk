# What a run has used, for fire.awk and wrk.awk. The first two files are what
# look in guns.sh wrote before and after it: the machine's line of /proc/stat,
# the server's of /proc/PID/stat, what `times` says of the shell and, in the
# fourth line, of the programs it has waited for, then lines of /proc/PID/stat of
# what else belongs to the run, and the lines of two CPUs. Needs -v hz, ticks a
# second, and server_at and gun_at, their CPUs.
FNR == 1 { file++ }
file <= 2 { # cpu user nice system idle iowait irq softirq steal
	sign = file == 2 ? 1 : -1
	if (FNR == 1) machine_cpu += sign * ($2 + $3 + $4 + $7 + $8 + $9) / hz
	if (FNR == 2) server_cpu += sign * ($14 + $15) / hz
	if (FNR == 4) gun_cpu += sign * (seconds_of($1) + seconds_of($2))
	if (/^cpu[0-9]/) {
		idle[$1] += sign * ($5 + $6)
		for (i = 2; i <= 9; i++) whole[$1] += sign * $i
	} else if (FNR > 4) helpers_cpu += sign * ($14 + $15) / hz
	next
}

# seconds_of reads 1m2.345s.
function seconds_of(time,    part) {
	split(time, part, /[ms]/)
	return 60 * part[1] + part[2]
}

# others is the share of a CPU that nothing of the run used.
function others(server, seconds,    left) {
	left = machine_cpu - server - gun_cpu - helpers_cpu
	return left > 0 ? left / seconds : 0
}

# shares is the end of a run's JSON: of others, and of the CPUs' time, to a tick,
# what the server's and the gun's were idle.
function shares(server, seconds) {
	return sprintf("\"others_share\":%.3f,\"server_idle_share\":%.3f,\"gun_idle_share\":%.3f}", others(server, seconds),
		idle_share("cpu" server_at), idle_share("cpu" gun_at))
}

function idle_share(cpu) { return whole[cpu] > 0 ? idle[cpu] / whole[cpu] : 0 }

function wrong(text) {
	print text >"/dev/stderr"
	failed = 1
	exit 1
}
