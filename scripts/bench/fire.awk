# A run of redoubt fire as a line of JSON with the names of scripts/bench/gun,
# from its --json, which has a key a line. Fails if a shot failed, an answer was
# not 200 and -v any is empty, or answers on average have not the -v size of their
# bodies and at most 1 KB, or -v most, more. Comes after use.awk.
{
	sub(/^ +/, "")
	sub(/,$/, "")
}
$0 == "{" { inside[depth + 1] = inside[depth]; depth++; next } # the whole, and list elements
/^[]}]$/ { depth--; next }
{
	key = value = $0
	sub(/^"/, "", key); sub(/": .*/, "", key)
	sub(/^"[^"]*": /, "", value)
	path = inside[depth] key
}
value == "{" || value == "[" { inside[++depth] = path "."; next }
{ v[path] = value }
path ~ /^errors\./ || (path ~ /^statuses\./ && key != "200" && any == "") {
	bad = bad (bad == "" ? "" : ", ") value (path ~ /^errors/ ? " times " : " answers ") key
}
END {
	if (failed) exit 1
	if (!(v["shots.answered"] > 0)) wrong("fire: no answer")
	if (bad != "") wrong("fire: " bad)
	over = v["bytes_in"] / v["shots.answered"] - size
	if (size != "" && (over < 0 || over > (most == "" ? 1024 : most))) wrong("fire: answers have " over " bytes more than their bodies should")
	from = v["closed_loop"] == "true" ? "latency_from_sent." : "latency_from_planned."
	printf "{\"requests\":%d,\"unsent\":%d,\"seconds\":%.3f,\"rps\":%.1f", v["shots.answered"], v["shots.dropped"], v["seconds"], v["answered_per_second"]
	printf ",\"p50_us\":%.2f,\"p90_us\":%.2f,\"p99_us\":%.2f,\"max_us\":%.2f", v[from "p50_us"], v[from "p90_us"], v[from "p99_us"], v[from "max_us"]
	late = "sent_after_planned."
	printf ",\"late\":%d,\"late_p50_us\":%.3f,\"late_p99_us\":%.3f,\"late_p99.9_us\":%.3f,\"late_max_us\":%.3f", v["shots.late"],
		v[late "p50_us"], v[late "p99_us"], v[late "p99.9_us"], v[late "max_us"]
	printf ",\"cpu_us_per_request\":%.4f,\"gun_us_per_request\":%.4f,%s\n", v["server_process.cpu_us_per_answer"],
		gun_cpu * 1e6 / v["shots.answered"], shares(v["server_process.cpu_seconds"], v["seconds"])
}
