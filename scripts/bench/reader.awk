# A run of scripts/bench/reader as a line of JSON with the names of scripts/bench/gun.
# The server's CPU time is right to 10 ms. Comes after use.awk.
NF == 2 { v[$1] = $2 }
END {
	if (failed) exit 1
	if (!(v["requests"] > 0)) wrong("reader: no answer")
	printf "{\"requests\":%d,\"seconds\":%.3f,\"rps\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"first_p50_us\":%.1f", v["requests"], v["seconds"],
		v["rps"], v["p50_us"], v["p99_us"], v["first_p50_us"]
	printf ",\"cpu_us_per_request\":%.4f,\"gun_us_per_request\":%.4f,%s\n", server_cpu * 1e6 / v["requests"],
		gun_cpu * 1e6 / v["requests"], shares(server_cpu, v["seconds"])
}
