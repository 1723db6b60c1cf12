# A run of wrk --latency as a line of JSON with the names of scripts/bench/gun.
# Fails if something went wrong with a connection, or an answer was neither 2xx
# nor 3xx and -v any is empty. The server's CPU time is right to 10 ms. Comes
# after use.awk.
/^ +(50|90|99)%/ { us[$1] = micros($2) }
/requests in/ { requests = $1; seconds = micros($4) / 1e6 }
/Socket errors:/ || (/Non-2xx or 3xx/ && any == "") { sub(/^ +/, ""); bad = bad " " $0 }
/^Requests\/sec:/ { rps = $2 }
END {
	if (failed) exit 1
	if (bad != "") wrong("wrk:" bad)
	if (!(requests > 0 && rps > 0 && seconds > 0)) wrong("wrk: no answer")
	printf "{\"requests\":%d,\"seconds\":%.3f,\"rps\":%.1f,\"p50_us\":%.2f,\"p90_us\":%.2f,\"p99_us\":%.2f", requests, seconds, rps, us["50%"], us["90%"], us["99%"]
	printf ",\"cpu_us_per_request\":%.4f,\"gun_us_per_request\":%.4f,%s\n", server_cpu * 1e6 / requests,
		gun_cpu * 1e6 / requests, shares(server_cpu, seconds)
}

# micros reads 312.00us, 1.20ms, 1.00s or 1.02m.
function micros(time) {
	return time * (time ~ /us,?$/ ? 1 : time ~ /ms,?$/ ? 1e3 : time ~ /m,?$/ ? 6e7 : 1e6)
}
