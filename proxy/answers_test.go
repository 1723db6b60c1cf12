//go:build linux

package proxy

import (
	"fmt"
	"strings"
	"testing"
)

func status(line string) string { return line + "\r\nContent-Length: 5\r\n\r\nhello" }
func with(lines, body string) string {
	return "HTTP/1.1 200 OK\r\n" + lines + "\r\n\r\n" + body
}

// noAnswers are answers that are no good, as far as can be told before a head
// is passed on.
var noAnswers = []string{
	// The status line (RFC 9112, 4).
	status("HTTP/2.0 200 OK"),
	status("HTTP/0.9 200 OK"),
	status("HTTP/1 200 OK"),
	status("HTTP/1.10 200 OK"),
	status("http/1.1 200 OK"),
	status("ICY 200 OK"),
	status("HTTP/1.1  200 OK"),
	status("HTTP/1.1\t200 OK"),
	status(" HTTP/1.1 200 OK"),
	status("HTTP/1.1 20 OK"),
	status("HTTP/1.1 099 Low"),
	status("HTTP/1.1 000 Low"),
	status("HTTP/1.1 1000 High"),
	status("HTTP/1.1 2x0 OK"),
	status("HTTP/1.1 -20 OK"),
	status("HTTP/1.1 +20 OK"),
	status("HTTP/1.1 200OK"),
	status("HTTP/1.1 200\tOK"),
	status("HTTP/1.1 OK"),
	status("HTTP/1.1"),
	status("HTTP/1.1 200 a\x00b"),
	status("HTTP/1.1 200 a\rb"),
	status("HTTP/1.1 200 a\nX: y"),
	status("HTTP/1.1 200 a\x1b[2J"),
	status("\r\nHTTP/1.1 200 OK"),
	status("\nHTTP/1.1 200 OK"),
	status("garbage"),
	"\x00", "\r\n\r\n", "\n", "hello", "<html>", "\x16\x03\x01\x02\x00",
	after,
	"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
	"HTTP/1.1 200 OK\r\r\nContent-Length: 5\r\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\rhello",

	// Names and values.
	with("Content-Length: 5\r\nX : y", "hello"),
	with(" X: y\r\nContent-Length: 5", "hello"),
	with("Content-Length: 5\r\n X: y", "hello"),
	with("Content-Length: 5\r\nX: y\r\n z", "hello"),
	with("Content-Length: 5\r\nX: a\x00b", "hello"),
	with("Content-Length: 5\r\nX: a\rb", "hello"),
	with("Content-Length: 5\r\nX: a\nSet-Cookie: b", "hello"),
	with("Content-Length: 5\r\nX\xff: b", "hello"),
	with("Content-Length: 5\r\n: b", "hello"),
	with("Content-Length: 5\r\nX", "hello"),
	with("Content-Length: 5\r\n"+strings.Repeat("X: y\r\n", 99)+"X: y", "hello"),
	with("Content-Length: 5\r\nX: "+strings.Repeat("y", 33<<10), "hello"),

	// Framing.
	with("Content-Length: 5\r\nContent-Length: 5", "hello"),
	with("Content-Length: 5\r\nContent-Length: 6", "hello"),
	with("Content-Length: 5, 5", "hello"),
	with("Content-Length: +5", "hello"),
	with("Content-Length: -5", "hello"),
	with("Content-Length: 5x", "hello"),
	with("Content-Length: 0x5", "hello"),
	with("Content-Length:", "hello"),
	with("Content-Length: 5\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding: chunked\r\nContent-Length: 5", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding: gzip", "hello"),
	with("Transfer-Encoding: identity", "hello"),
	with("Transfer-Encoding: gzip, chunked", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding: chunked, identity", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding: chunked, chunked", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding: xchunked", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding:", "hello"),
	with("Transfer-Encoding: \x0bchunked", "5\r\nhello\r\n0\r\n\r\n"),
	with("Transfer-Encoding : chunked", "5\r\nhello\r\n0\r\n\r\n"),
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",

	// Nobody has asked for these.
	"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
	"HTTP/1.1 101 Switching Protocols\r\n\r\n" + hello,
	"HTTP/1.1 100 Continue\r\n\r\n",
	"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
	"HTTP/1.1 103 Early Hints\r\nX : y\r\n\r\n" + hello,
	"HTTP/1.1 103 Early Hints\n\n" + hello,
	"HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello" + hello, // 1xx has no body
	"",
	"H",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r",
}

func TestAnswersThatAreNoGood(t *testing.T) {
	s, addr := theatre(t)
	asked := []message{{method: "GET", minor: 1}}
	for _, c := range noAnswers {
		for _, end := range []ending{closes, resets} {
			s.next(script{answers: []string{c}, end: end})
			answer, err := say(t, addr, line("GET / HTTP/1.1"))
			list, rest, bad := answers(answer, asked, err == nil)
			if n := len(list); err != nil || bad != nil || rest != "" || n == 0 || finals(list) != 1 || list[n-1].status != 502 {
				t.Errorf("%.200q is passed on as %q (%v, %v)", c, answer, err, bad)
			}
			s.got(t, false)
		}
	}
}

// goodAnswers are answers to requests, and what the client is to get of them.
var goodAnswers = []struct{ request, answer, want string }{
	{line("GET / HTTP/1.1"), hello, "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), status("HTTP/1.1 200"), "HTTP/1.1 200 |Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), status("HTTP/1.1 200 "), "HTTP/1.1 200 |Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), status("HTTP/1.1 200  a \t\xff "), "HTTP/1.1 200  a \t\xff |Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), status("HTTP/1.1 999 Odd"), "HTTP/1.1 999 Odd|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), status("HTTP/1.7 200 OK"), "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), status("HTTP/1.0 200 Fine"), "HTTP/1.1 200 Fine|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("X:\ty\r\nY:\r\nContent-Length:\t5 ", "hello"), "HTTP/1.1 200 OK|X: y|Y: |Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("Set-Cookie: a\r\nset-cookie: a\r\nContent-Length: 0", ""), "HTTP/1.1 200 OK|Set-Cookie: a|set-cookie: a|Content-Length: 0||"},
	{line("GET / HTTP/1.1"), with(strings.Repeat("X: y\r\n", 99)+"Content-Length: 5", "hello"), "HTTP/1.1 200 OK" + strings.Repeat("|X: y", 99) + "|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("X: "+strings.Repeat("y", 25<<10)+"\r\nContent-Length: 5", "hello"), "HTTP/1.1 200 OK|X: " + strings.Repeat("y", 25<<10) + "|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("Host: a\r\nHost: b\r\nContent-Length: 0", ""), "HTTP/1.1 200 OK|Content-Length: 0||"},

	// Framing.
	{line("GET / HTTP/1.1"), with("Content-Length: 005", "hello"), "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("Content-Length: 0", ""), "HTTP/1.1 200 OK|Content-Length: 0||"},
	{line("GET / HTTP/1.1"), with("Transfer-Encoding: Chunked", "0005;x=\"y\"\r\nhello\r\n0\r\n\r\n"), "HTTP/1.1 200 OK|Transfer-Encoding: chunked||hello"},
	{line("GET / HTTP/1.1"), with("Transfer-Encoding: chunked", "0\r\n\r\n"), "HTTP/1.1 200 OK|Transfer-Encoding: chunked||"},
	{line("GET / HTTP/1.1"), with("X: y", "hello"), "HTTP/1.1 200 OK|X: y|Transfer-Encoding: chunked||hello"},
	{line("GET / HTTP/1.1"), with("X: y", ""), "HTTP/1.1 200 OK|X: y|Transfer-Encoding: chunked||"},
	{line("GET / HTTP/1.1"), "HTTP/1.0 200 OK\r\n\r\nhello", "HTTP/1.1 200 OK|Transfer-Encoding: chunked||hello"},
	{line("GET / HTTP/1.0"), with("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\nX: y\r\n\r\n"), "HTTP/1.1 200 OK||hello"},
	{line("GET / HTTP/1.0"), with("X: y", "hello"), "HTTP/1.1 200 OK|X: y||hello"},
	{line("GET / HTTP/1.0"), hello, "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", hello, "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", with("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"), "HTTP/1.1 200 OK||hello"},
	{line("GET / HTTP/1.1"), hello + hello, "HTTP/1.1 200 OK|Content-Length: 5||hello"}, // the second has not been asked for
	{line("GET / HTTP/1.1"), hello + "x", "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("Connection: close\r\nContent-Length: 5", "hellohello"), "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), with("Transfer-Encoding: chunked", "0\r\n\r\n") + hello, "HTTP/1.1 200 OK|Transfer-Encoding: chunked||"},

	// No body, whatever is said.
	{line("GET / HTTP/1.1"), "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content||"},
	{line("GET / HTTP/1.1"), status("HTTP/1.1 204 No Content"), "HTTP/1.1 204 No Content||"},
	{line("GET / HTTP/1.1"), status("HTTP/1.1 304 Not Modified"), "HTTP/1.1 304 Not Modified||"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 304 Not Modified\r\nETag: x\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 304 Not Modified|ETag: x||"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 304 Not Modified||"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 204 No Content||"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 205 Reset Content|Content-Length: 0||"},
	{line("HEAD / HTTP/1.1"), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK|Content-Length: 5||"},
	{line("HEAD / HTTP/1.1"), hello, "HTTP/1.1 200 OK|Content-Length: 5||"},
	{line("HEAD / HTTP/1.1"), with("Transfer-Encoding: chunked", ""), "HTTP/1.1 200 OK|Transfer-Encoding: chunked||"},
	{line("HEAD / HTTP/1.1"), with("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"), "HTTP/1.1 200 OK|Transfer-Encoding: chunked||"},
	{line("HEAD / HTTP/1.0"), with("Transfer-Encoding: chunked", ""), "HTTP/1.1 200 OK||"},
	{line("HEAD / HTTP/1.1"), with("X: y", ""), "HTTP/1.1 200 OK|X: y||"},
	{line("HEAD / HTTP/1.1"), with("Content-Length: 0", ""), "HTTP/1.1 200 OK|Content-Length: 0||"},
	{line("HEAD / HTTP/1.1"), "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 304 Not Modified||"},

	// 1xx.
	{line("GET / HTTP/1.1"), "HTTP/1.1 100 Continue\r\n\r\n" + hello, "HTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + hello, "HTTP/1.1 103 Early Hints|Link: </x>||\nHTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: 2\r\n\r\nHTTP/1.1 199\r\n\r\n" + hello,
		"HTTP/1.1 102 Processing||\nHTTP/1.1 103 Early Hints|X: 1||\nHTTP/1.1 103 Early Hints|X: 2||\nHTTP/1.1 199 ||\nHTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.1"), "HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\nConnection: close, x\r\nX: y\r\nUpgrade: z\r\n\r\n" + hello,
		"HTTP/1.1 103 Early Hints||\nHTTP/1.1 200 OK|Content-Length: 5||hello"},
	{line("GET / HTTP/1.0"), "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" + hello, "HTTP/1.1 200 OK|Content-Length: 5||hello"},
}

func TestWhatClientsGetOfAnswers(t *testing.T) {
	s, addr := theatre(t)
	for _, c := range goodAnswers {
		s.next(script{answers: []string{c.answer}, end: closes})
		answer, err := say(t, addr, c.request)
		asked, _, _ := requests(c.request, true)
		list, rest, bad := answers(answer, asked, err == nil)
		var got []string
		for _, m := range list {
			got = append(got, m.String())
		}
		if err != nil || bad != nil || rest != "" || strings.Join(got, "\n") != latin(c.want) && strings.Join(got, "\n") != c.want {
			t.Errorf("%.200q is passed on as\n%.400q, want\n%.400q (%v, %v)", c.answer, got, c.want, err, bad)
		}
		s.got(t, false)
	}
}

// TestACutAnswerLooksCut cuts answers at each byte. What the client gets is an
// answer of 502 while no head has been passed on, and else visibly not whole.
func TestACutAnswerLooksCut(t *testing.T) {
	s, addr := theatre(t)
	whole := []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	}
	asks := []string{line("GET / HTTP/1.1"), line("GET / HTTP/1.0"), post("Content-Length: 1", "x")}
	for _, end := range []ending{closes, resets} {
		for _, all := range whole {
			for n := range len(all) {
				request := asks[n%len(asks)]
				s.next(script{answers: []string{all[:n]}, end: end})
				answer, err := say(t, addr, request)
				wantCut(t, fmt.Sprintf("%q (%d)", all[:n], end), request, answer, err)
				s.got(t, false)
			}
		}
	}
	// One that goes on until the connection's end can only be cut by a reset.
	for _, request := range asks {
		s.next(script{answers: []string{"HTTP/1.1 200 OK\r\n\r\nhello"}, end: resets})
		answer, err := say(t, addr, request)
		wantCut(t, "until close", request, answer, err)
	}
	// Faults in chunks.
	for _, body := range []string{"x\r\n", "5\nhello", "5\r\nhello!", "5\r\nhello\n", "5\r\nhello!\n0\r\n\r\n", "5\r\nhello\r\n-1\r\n", "5\r\nhello\r\nfffffffffffffffff\r\n", "5\r\nhello\r\n0\n\n",
		"5\r\nhello\r\n0\r\nX : y\r\n\r\n", "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n", "5\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n", "5;\r\nhello\r\n", "5 x\r\nhello\r\n",
		"5;a=\"\n\"\r\nhello\r\n0\r\n\r\n", "8000000000000000\r\nhello", "7fffffffffffffff\r\nhello", "\r\n", "+5\r\nhello\r\n"} {
		for _, request := range asks {
			s.next(script{answers: []string{with("Transfer-Encoding: chunked", body)}, end: closes})
			answer, err := say(t, addr, request)
			wantCut(t, fmt.Sprintf("%q", body), request, answer, err)
		}
	}
	for _, length := range []string{"6", "9223372036854775807", "18446744073709551621"} {
		s.next(script{answers: []string{with("Content-Length: "+length, "hello")}, end: closes})
		answer, err := say(t, addr, asks[0])
		wantCut(t, length, asks[0], answer, err)
	}
}

func wantCut(t *testing.T, what, request, answer string, err error) {
	t.Helper()
	asked, _, _ := requests(request, true)
	list, rest, bad := answers(answer, asked, err == nil)
	n := len(list)
	switch {
	case bad != nil:
		t.Errorf("%s: %q: %v", what, answer, bad)
	case n > 0 && list[n-1].status == 502: // in order
		if err != nil || rest != "" {
			t.Errorf("%s: 502, but %v, %q", what, err, rest)
		}
	case finals(list) > 0:
		t.Errorf("%s seems whole: %q", what, answer)
	case err == nil:
		t.Errorf("%s: no reset: %q", what, answer)
	}
}
