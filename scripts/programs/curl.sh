# shellcheck shell=bash
# shellcheck disable=SC2154 # programs.sh, which reads this file, sets the others
# The cases of programs.sh that curl asks for.

# fetch has curl ask an address, whatever the URL says, so that Host is the same
# everywhere. It sets code, and leaves head and body in a folder.
fetch() {
	local address=$1 to=$2
	shift 2
	rm -rf "$to"
	mkdir "$to"
	code=0
	curl --silent --globoff --max-time 20 --connect-to "::$address" --dump-header "$to/head" --output "$to/body" "$@" || code=$?
	touch "$to/head" "$to/body"
	# For HEAD curl puts the head there as well.
	if [[ " $* " == *" -I "* ]]; then : >"$to/body"; fi
	# A server ends an answer that is cut with the connection, the proxy with a
	# reset: to curl that is 56.
	if [[ $code -eq 56 ]]; then code=18; fi
}

# kept prints a head by its fields' names, those of one name in their order. It
# leaves out what may differ: the version, which is each server's own, what is
# about a connection, what the proxy adds, and the time of day.
kept() {
	tr -d '\r' <"$1" | sed 's|^HTTP/1\.[01]|HTTP|' |
		grep -aviE '^(connection|keep-alive|transfer-encoding|date|via|server-timing):' | LC_ALL=C sort -s -f -t : -k 1,1 || true
}

sum() { sha256sum "$1" | cut -d ' ' -f 1; }

# one compares what curl gets with the proxy and without, and wants a status and
# perhaps a size, so that two equal failures do not pass. stdin is the same for
# both.
one() {
	local name="curl $1" status=$2 size=$3 direct=$4 proxied=$5 direct_code why='' got bytes
	shift 5
	cat >"$work/stdin"
	fetch "$direct" "$work/direct" "$@" <"$work/stdin"
	direct_code=$code
	fetch "$proxied" "$work/proxied" "$@" <"$work/stdin"
	got=$(grep -a '^HTTP/' "$work/proxied/head" | tail -n 1 | cut -d ' ' -f 2 | tr -d '\r')
	bytes=$(wc -c <"$work/proxied/body")
	if [[ $code -ne $direct_code ]]; then
		why="curl ends with $direct_code without the proxy, $code with it"
	elif ! diff <(kept "$work/direct/head") <(kept "$work/proxied/head") >"$work/diff"; then
		why="heads differ: $(tr '\n' ' ' <"$work/diff")"
	elif [[ $(sum "$work/direct/body") != "$(sum "$work/proxied/body")" ]]; then
		why="bodies differ: $(wc -c <"$work/direct/body") bytes without the proxy, $bytes with it"
	elif ! grep -aqi '^via: 1\.[01] redoubt' "$work/proxied/head"; then
		why="no Via: it has not come through the proxy"
	elif [[ $got != "$status" || -n $size && $bytes -ne $size ]]; then
		why="want status $status${size:+ and $size bytes}, got $got and $bytes"
	fi
	if [[ -n $why ]]; then bad "$name" "$why"; else ok "$name"; fi
}

curl_nginx() {
	local to=("$nginx" "$nginx_proxy") url=http://origin.test tag made none=(--output /dev/null)
	one "nginx, 0 bytes" 200 0 "${to[@]}" "$url/0"
	one "nginx, 2 KB" 200 2048 "${to[@]}" "$url/2k"
	one "nginx, 50 KB" 200 51200 "${to[@]}" "$url/50k.html"
	one "nginx, 5 MB" 200 5242880 "${to[@]}" "$url/5m"
	one "nginx, HTTP/1.0" 200 5242880 "${to[@]}" --http1.0 "$url/5m"
	one "nginx, HTTP/1.0 kept" 200 2048 "${to[@]}" --http1.0 -H 'Connection: keep-alive' "$url/2k"
	one "nginx, closed" 200 2048 "${to[@]}" -H 'Connection: close' "$url/2k"
	one "nginx, HEAD" 200 '' "${to[@]}" -I "$url/5m"
	one "nginx, gzip as it comes" 200 '' "${to[@]}" -H 'Accept-Encoding: gzip' "$url/50k.html"
	one "nginx, gzip undone" 200 51200 "${to[@]}" --compressed "$url/50k.html"
	one "nginx, HEAD of gzip" 200 '' "${to[@]}" -I --compressed "$url/50k.html"
	one "nginx, a range" 206 1000 "${to[@]}" -r 1000-1999 "$url/50k.html"
	one "nginx, the last bytes" 206 500 "${to[@]}" -r -500 "$url/5m"
	one "nginx, a range behind the end" 416 '' "${to[@]}" -r 60000- "$url/50k.html"
	tag=$(curl --silent -I "http://$nginx/2k" | tr -d '\r' | sed -n 's/^ETag: //p')
	one "nginx, not modified" 304 0 "${to[@]}" -H "If-None-Match: $tag" "$url/2k"
	one "nginx, not found" 404 '' "${to[@]}" "$url/nothing"
	one "nginx, a redirect" 301 '' "${to[@]}" "$url/dir"
	one "nginx, a redirect followed" 403 '' "${to[@]}" -L "$url/dir"
	one "nginx, a method it does not take" 405 '' "${to[@]}" -d x "$url/2k"
	one "nginx, a path as it is" 200 2048 "${to[@]}" --path-as-is "$url/dir/..//./%32k?a=%20&b=/../"
	one "nginx, absolute form" 200 2048 "${to[@]}" --request-target "$url/2k" "$url"
	one "nginx, 5,000 bytes of query" 200 2048 "${to[@]}" "$url/2k?$(printf '%05000d' 0)"
	made=$(curl --silent --connect-to "::$nginx_proxy" "${none[@]}" "${none[@]}" "${none[@]}" "${none[@]}" --write-out '%{num_connects} ' \
		"$url/0" "$url/2k" "$url/nothing" "$url/5m")
	if [[ $made == "1 0 0 0 " ]]; then
		ok "curl nginx, four on one connection"
	else
		bad "curl nginx, four on one connection" "connections made: $made"
	fi
	curl_parallel "nginx, 60 in parallel" "$nginx_proxy" "$url/5m" "$work/files/5m" 60 12
}

# curl_parallel gets a file many times at once.
curl_parallel() {
	local name="curl $1" address=$2 url=$3 want=$4 count=$5 most=$6 different
	rm -rf "$work/many"
	mkdir "$work/many"
	code=0
	curl --no-progress-meter --fail --max-time 30 --parallel --parallel-immediate --parallel-max "$most" --connect-to "::$address" \
		--output "$work/many/#1" "$url?[1-$count]" || code=$?
	different=$(sha256sum "$work/many"/* | awk -v want="$(sum "$want")" '$1 != want { n++ } END { print n + 0, NR }')
	if [[ $code -ne 0 || $different != "0 $count" ]]; then
		bad "$name" "curl ends with $code; different, and all: $different of $count"
	else
		ok "$name"
	fi
}

curl_origin() {
	local to=("$origin" "$origin_proxy") url=http://origin.test began before after try how
	one "25 KB of fields" 200 '' "${to[@]}" -H "@$work/head25k" "$url/echo"
	one "POST of a form" 200 '' "${to[@]}" -d 'a=1&b=2' "$url/echo"
	one "POST of nothing" 200 '' "${to[@]}" -X POST "$url/echo"
	one "POST of 5 MB, with Expect" 200 '' "${to[@]}" -H 'Expect: 100-continue' --data-binary "@$work/files/5m" "$url/echo"
	grep -q '^HTTP/1.1 100' "$work/proxied/head" || bad "curl POST of 5 MB, with Expect" "no 100 Continue"
	one "POST of 5 MB, without Expect" 200 '' "${to[@]}" -H 'Expect:' --data-binary "@$work/files/5m" "$url/echo"
	one "POST in HTTP/1.0" 200 '' "${to[@]}" --http1.0 --data-binary "@$work/files/50k.html" "$url/echo"
	one "a form with files" 200 '' "${to[@]}" -H 'Content-Type: multipart/form-data; boundary=b' --data-binary "@$work/files/2k" "$url/echo"
	one "PUT of a file" 200 '' "${to[@]}" -T "$work/files/5m" "$url/echo/5m"
	one "PUT of 5 MB in chunks" 200 '' "${to[@]}" -H 'Transfer-Encoding: chunked' -T - "$url/echo" <"$work/files/5m"
	one "PUT of nothing in chunks" 200 '' "${to[@]}" -H 'Transfer-Encoding: chunked' -T - "$url/echo" </dev/null
	one "an expectation that is refused" 403 '' "${to[@]}" -H 'Expect: 100-continue' --data-binary "@$work/files/5m" "$url/refuse"
	one "OPTIONS *" 200 '' "${to[@]}" -X OPTIONS --request-target '*' "$url"
	one "a path that is not clean" 200 '' "${to[@]}" -H 'X-Echo: yes' --path-as-is "$url//a/./b/..//%2e%2E/c%2Fd?//../%00&%ZZ"
	one "fields as they come" 200 '' "${to[@]}" "$url/fields"
	one "25 KB of fields in an answer" 200 '' "${to[@]}" "$url/heavy"
	one "chunks" 200 '' "${to[@]}" "$url/chunked/1000"
	one "chunks, HTTP/1.0" 200 '' "${to[@]}" --http1.0 "$url/chunked/1000"
	one "until the connection's end" 200 '' "${to[@]}" "$url/until-close"
	one "until the connection's end, HTTP/1.0" 200 '' "${to[@]}" --http1.0 "$url/until-close"
	one "HEAD" 200 0 "${to[@]}" -I "$url/plain"
	one "204" 204 0 "${to[@]}" "$url/status/204"
	one "304" 304 0 "${to[@]}" "$url/status/304"
	one "103 Early Hints" 200 7 "${to[@]}" "$url/hints"
	[[ $(grep -c '^HTTP/1.1 103' "$work/proxied/head") -eq 2 ]] || bad "curl 103 Early Hints" "not two of 103"
	one "trailers" 200 21 "${to[@]}" "$url/trailers"
	# In raw bytes these are the last chunk, the trailers, and an empty line.
	one "trailers, raw" 200 '' "${to[@]}" --raw -H 'TE: trailers' "$url/trailers"
	tail -c 60 "$work/proxied/body" | grep -qa '^X-Late: not announced' || bad "curl trailers, raw" "no X-Late"
	for how in sized chunked; do
		one "an answer that is cut, $how" 200 11 "${to[@]}" "$url/cut/$how"
		[[ $code -eq 18 ]] || bad "curl an answer that is cut, $how" "curl ends with $code, as if nothing were missing"
	done

	before=$(curl --silent "http://$origin/counts/aborted")
	began=$SECONDS
	fetch "$origin_proxy" "$work/proxied" --max-time 0.3 "$url/endless"
	for ((try = 0; try < 100; try++)); do
		after=$(curl --silent "http://$origin/counts/aborted")
		[[ $after -eq $before ]] || break
		sleep 0.02
	done
	if [[ $code -ne 28 || $after -ne $((before + 1)) ]]; then
		bad "curl a client that gives up" "curl ends with $code; the origin heard of $((after - before)), after $((SECONDS - began)) s"
	else
		ok "curl a client that gives up"
	fi
	curl --silent --output "$work/want" "http://$origin/chunked/300"
	curl_parallel "300 chunks, 200 in parallel" "$origin_proxy" "$url/chunked/300" "$work/want" 200 40
}

curl_api() {
	local to=("$api" "$api_proxy") url=http://travels.test
	one "serve, a user" 200 '' "${to[@]}" "$url/users/1"
	one "serve, visits" 200 '' "${to[@]}" "$url/users/1/visits?fromDate=0&toDistance=1000"
	one "serve, an average" 200 '' "${to[@]}" "$url/locations/1/avg?gender=m"
	one "serve, HEAD" 200 0 "${to[@]}" -I "$url/visits/1"
	one "serve, not found" 404 0 "${to[@]}" "$url/users/4000000000"
	one "serve, an update" 200 2 "${to[@]}" -H 'Content-Type: application/json' -d '{"first_name": "Куда"}' "$url/users/1?query_id=1"
	one "serve, a bad update" 400 0 "${to[@]}" -d '{"first_name": null}' "$url/users/1"
	one "serve, an update in chunks" 200 2 "${to[@]}" -X POST -H 'Transfer-Encoding: chunked' -T - "$url/users/2" <<<'{"last_name": "Пора"}'
	one "serve, HTTP/1.0" 200 '' "${to[@]}" --http1.0 "$url/users/2"
	one "serve, a method it does not know" 405 0 "${to[@]}" -X DELETE "$url/users/2"
	curl --silent --output "$work/want" "http://$api/users/3"
	curl_parallel "serve, 300 in parallel" "$api_proxy" "$url/users/3" "$work/want" 300 50
}
