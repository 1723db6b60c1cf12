package http1

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Heads put together from parts that are right, odd or wrong, as no fuzzer
// finds them: all readings must agree.

// pick picks one.
func pick(random *rand.Rand, parts ...string) string { return parts[random.IntN(len(parts))] }

// mostly picks the usual.
func mostly(random *rand.Rand, usual string, parts ...string) string {
	if random.IntN(16) > 0 {
		return usual
	}
	return pick(random, parts...)
}

func randomFields(random *rand.Rand, b *strings.Builder) {
	name := func() string {
		n := pick(random, "Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Upgrade", "X-A", "Trailer", "Pragma", "TE", "Vary")
		return pick(random, n, n, n, strings.ToLower(n), strings.ToUpper(n), n+"x", "X"+n)
	}
	value := func(of string) string {
		switch random.IntN(16) {
		case 0:
			return pick(random, "", " ", "\t\t", "a,b", "\xff\x80", ",", `"`, "\x00", "\x7f", "a\tb")
		case 1:
			of = "X-A"
		}
		switch strings.ToLower(of) {
		case "host":
			return pick(random, "a", "a:80", "[::1]", "[::1]:8", "a b", "a,b", "", ":", "%41", "%4", "[::g]", "a_b~!", "1.2.3.4:", strings.Repeat("h", 255+random.IntN(2)))
		case "content-length":
			return pick(random, "0", "5", "12", "007", "-1", "+1", "1,1", "9223372036854775807", "9223372036854775808", "1 ")
		case "transfer-encoding":
			return pick(random, "chunked", "Chunked", "chunked", "gzip", "gzip, chunked", ", chunked ,", "chunked;a=b", "chunked, chunked", "x;y=\"chunked, chunked\"", "chunkedx")
		case "connection":
			return pick(random, "close", "keep-alive", "Close", "upgrade", "x, close", "keep-alive, Upgrade", "close ,", "closed", "Keep-Alive", "te")
		case "expect":
			return pick(random, "100-continue", "100-CONTINUE", "100-continue,", "x", "100-continue, x", "")
		}
		return pick(random, "x", "websocket", "a b", "trailers", "*/*", strings.Repeat("v ", random.IntN(20)))
	}
	if random.IntN(4) > 0 {
		b.WriteString("Host: a\r\n")
	}
	for range random.IntN(6) {
		n := name()
		b.WriteString(n)
		b.WriteString(pick(random, ":", ": ", ":\t ", mostly(random, ": ", " :", "")))
		b.WriteString(value(n))
		b.WriteString(pick(random, "", "", " ", "\t") + mostly(random, "\r\n", "\r\n ", "\n", "\r", "\r\r\n"))
	}
	b.WriteString(mostly(random, "\r\n", "\n", "", "\r\r\n"))
	b.WriteString(pick(random, "", "x", "\r\n"))
}

func TestRandomRequests(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	taken, rounds := 0, 4000
	var r Request // one for all: nothing may be left over
	for range rounds {
		var b strings.Builder
		b.WriteString(mostly(random, "", "\r\n", "\r\n\r\n", "\n", "\r", " "))
		b.WriteString(pick(random, "GET", "POST", "OPTIONS", "CONNECT", mostly(random, "get", "G(T", "", strings.Repeat("M", 64+random.IntN(2)))))
		b.WriteString(mostly(random, " ", "  ", "\t", ""))
		authority := pick(random, "a", "a:80", "[::1]:80", "a:", ":80", "u@a", "a%20", "")
		path := pick(random, "/", "/a/b", "", "/%zz", "/a{b}")
		query := pick(random, "", "", "?", "?a=b", "?a?b", "#a")
		b.WriteString(pick(random, path+query, path+query, path+query, pick(random, "http://", "HTTPS://", "ftp://", "http:/")+authority+path+query, authority, "*", "/\x80", "/\x00"))
		b.WriteString(pick(random, " HTTP/1.1", " HTTP/1.0", mostly(random, " HTTP/1.7", " HTTP/2.0", " http/1.1", "HTTP/1.1", " HTTP/1.12", " HTTP/1.1 ")))
		b.WriteString(mostly(random, "\r\n", "\n", "\r"))
		randomFields(random, &b)
		in := []byte(b.String())
		got := everyWay(t, &r, in)
		againstOracle(t, in, &r)
		if got.n > 0 {
			taken++
			againstNetHTTP(t, in[:got.n], &r)
		}
	}
	if taken < rounds/20 {
		t.Errorf("only %d of %d heads are right", taken, rounds)
	}
}

func TestRandomResponses(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	taken, rounds := 0, 4000
	var r Response
	for range rounds {
		var b strings.Builder
		b.WriteString(mostly(random, "", "\r\n", " "))
		b.WriteString(pick(random, "HTTP/1.1", "HTTP/1.0", mostly(random, "HTTP/1.5", "HTTP/2.0", "HTTP/1.1.1")))
		b.WriteString(mostly(random, " ", "  ", ""))
		b.WriteString(pick(random, "200", "204", "304", "101", mostly(random, "999", "099", "20", "2000")))
		b.WriteString(pick(random, " OK", " ", "", mostly(random, " a b\t\xff", " \x00", "x")))
		b.WriteString(mostly(random, "\r\n", "\n", "\r"))
		randomFields(random, &b)
		in := []byte(b.String())
		if got := everyWay(t, &r, in); got.n > 0 {
			taken++
			againstNetHTTPResponse(t, in, &r)
		}
		againstOracleResponse(t, in, &r)
	}
	if taken < rounds/20 {
		t.Errorf("only %d of %d heads are right", taken, rounds)
	}
}

// againstOracleResponse holds an answer that was fed with in against the
// oracle.
func againstOracleResponse(t testing.TB, in []byte, r *Response) {
	t.Helper()
	for _, method := range []string{"GET", "HEAD", "CONNECT"} {
		want, ok := oracleResponse(in, method)
		if taken := r.end > 0; taken != ok {
			t.Fatalf("%.300q: taken %v (%v), by the oracle %v", in, taken, r.fault, ok)
		}
		if ok && !slices.Equal(describeResponse(r, method), want) {
			t.Fatalf("%.300q:\nhave %q\nwant %q", in, describeResponse(r, method), want)
		}
	}
}

func TestRandomBodies(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 4000 {
		var b strings.Builder
		for range random.IntN(4) {
			n := random.IntN(20) + 1
			b.WriteString(pick(random, "", "0", "000")) // of the size
			b.WriteString(strconv.FormatInt(int64(n), 16))
			b.WriteString(pick(random, "", ";a", " ; a = b", `;a="b\"c";d`, mostly(random, "", ";", ";a=", " ", ";a b", `;a="`)))
			b.WriteString(mostly(random, "\r\n", "\n"))
			b.WriteString(strings.Repeat("d", n))
			b.WriteString(mostly(random, "\r\n", "\n", "d"))
		}
		b.WriteString(mostly(random, "0\r\n", "00;a\r\n", "0\n", ""))
		b.WriteString(pick(random, "", "", "A: 1\r\nB:\t2 \r\n", "Content-Length: 1\r\n", "A : 1\r\n", " A: 1\r\n", "A: \x00\r\n"))
		b.WriteString(mostly(random, "\r\n", "\n", ""))
		b.WriteString(pick(random, "", "next"))
		chunkedAgainstOracle(t, []byte(b.String()), 1+random.IntN(40), 1+random.IntN(5))
	}
}

// chunkedAgainstOracle reads a chunked body in several ways, and holds the
// outcome against the oracle's.
func chunkedAgainstOracle(t testing.TB, in []byte, cut, piece int) {
	t.Helper()
	read := func(pieces ...int) string {
		var b Body
		b.Reset(Chunked, 0)
		return readBody(&b, in, pieces...)
	}
	all := read(len(in) + 1)
	for _, pieces := range [][]int{{1}, {cut, len(in) + 1}, {piece}} {
		if got := read(pieces...); got != all {
			t.Fatalf("%.300q in pieces of %d: %.300q, at once %.300q", in, pieces, got, all)
		}
	}
	data, trailers, rest, ok := oracleChunked(in)
	want := "data " + string(data) + "\nrest " + string(rest)
	for _, trailer := range trailers {
		want += "\n" + strings.Replace(trailer, "field ", "trailer ", 1)
	}
	var b Body
	b.Reset(Chunked, 0)
	readBody(&b, in, len(in)+1)
	if taken := b.at == bodyEnd; taken != ok || ok && all != want {
		t.Fatalf("%.300q: taken %v, %.300q; the oracle %v, %.300q", in, taken, all, ok, want)
	}
}
