//go:build linux

package proxy

import (
	"strings"
	"testing"
)

// Requests in one line each.
func line(start string) string  { return start + "\r\nHost: a\r\n\r\n" }
func field(lines string) string { return "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n\r\n" }
func post(lines, body string) string {
	return "POST / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n\r\n" + body
}
func chunked(body string) string { return post("Transfer-Encoding: chunked", body) }

const (
	hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	after = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
)

// refused are requests that are no good, with the status that says so. Behind
// each another follows, which nobody may ever see.
var refused = []struct {
	status  int
	request string
}{
	// The request line (RFC 9112, 3).
	{400, line("GET  / HTTP/1.1")},
	{400, line("GET / HTTP/1.1 ")},
	{400, line("GET /  HTTP/1.1")},
	{400, line(" GET / HTTP/1.1")},
	{400, line("GET\t/ HTTP/1.1")},
	{400, line("GET /\tHTTP/1.1")},
	{400, line("GET /")},
	{400, line("GET")},
	{400, line("GET / http/1.1")},
	{400, line("GET / HTTP/1.x")},
	{400, line("GET / HTTP/1.10")},
	{400, line("GET / HTTP/11.1")},
	{400, line("GET / HTTP/1")},
	{400, line("GET / HTTP/-1.1")},
	{400, line("GET / HTTP/ 1.1")},
	{400, line("GET / ICY/1.1")},
	{505, line("GET / HTTP/2.0")},
	{505, line("GET / HTTP/0.9")},
	{400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, // the target is the first fault
	{400, line("G(T / HTTP/1.1")},
	{400, line("G\xc3T / HTTP/1.1")},
	{400, line("GE\x00T / HTTP/1.1")},
	{501, line(strings.Repeat("M", 100) + " / HTTP/1.1")},
	{400, "GET / HTTP/1.1\nHost: a\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"},
	{400, "GET / HTTP/1.1\rHost: a\r\n\r\n"},
	{400, "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "\r\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
	{400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"}, // TLS

	// Targets.
	{400, line("GET x HTTP/1.1")},
	{400, line("GET a/b HTTP/1.1")},
	{400, line("GET * HTTP/1.1")},
	{400, line("OPTIONS ** HTTP/1.1")},
	{400, line("GET /\x00 HTTP/1.1")},
	{400, line("GET /\x7f HTTP/1.1")},
	{400, line("GET /\xff HTTP/1.1")},
	{400, line("GET /a#b HTTP/1.1")},
	{400, line("GET /a\rb HTTP/1.1")},
	{400, line("GET /a\r\nX: y HTTP/1.1")},
	{400, line("GET http:/a/ HTTP/1.1")},
	{400, line("GET http:///x HTTP/1.1")},
	{400, line("GET http://a b/ HTTP/1.1")},
	{400, line("GET http://u@a/ HTTP/1.1")},
	{400, line("GET http://u:p@a/ HTTP/1.1")},
	{400, line("GET http://a:b/ HTTP/1.1")},
	{400, line("GET http://a\\b/ HTTP/1.1")},
	{400, line("GET ftp://a/ HTTP/1.1")},
	{400, line("GET file:///etc/passwd HTTP/1.1")},
	{400, line("GET a:80 HTTP/1.1")},
	{400, line("CONNECT / HTTP/1.1")},
	{400, line("CONNECT a HTTP/1.1")},
	{400, line("CONNECT http://a:1/ HTTP/1.1")},
	{400, line("CONNECT :80 HTTP/1.1")},
	{414, line("GET /" + strings.Repeat("a", 8192) + " HTTP/1.1")},

	// Names and values.
	{400, field("X : y")},
	{400, field("X\t: y")},
	{400, field(" X: y")},
	{400, field("\tX: y")},
	{400, field("X y: z")},
	{400, field(": y")},
	{400, field("X")},
	{400, field("X\x00: y")},
	{400, field("X\xe9: y")},
	{400, field("X(: y")},
	{400, field("\"X\": y")},
	{400, field("X\r: y")},
	{400, field("X: a\x00b")},
	{400, field("X: a\x01b")},
	{400, field("X: a\x7fb")},
	{400, field("X: a\x0bb")},
	{400, field("X: a\rb")},
	{400, field("X: a\nY: b")},
	{400, field("X: a\r\r\nY: b")},
	{400, field("X: a\n\r\nY: b")},
	{400, field("X: a\r\n b")},
	{400, field("X: a\r\n\tb")},
	{400, field("X:\r\n b")},
	{400, field("X: a\r\n \r\nY: b")},
	{400, "GET / HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a\r\n\n"},
	{400, "GET / HTTP/1.1\r\nHost: a\n\n"},
	{400, "GET / HTTP/1.1\r\nHost: a\r\n\rX: y\r\n\r\n"},
	{431, field(strings.Repeat("X: y\r\n", 100) + "X: y")},
	{431, field("X: " + strings.Repeat("y", 32<<10))},

	// Host.
	{400, "GET / HTTP/1.1\r\n\r\n"},
	{400, "GET / HTTP/1.2\r\nX: y\r\n\r\n"},
	{400, "GET http://a/ HTTP/1.1\r\n\r\n"},
	{400, field("Host: a")},
	{400, field("host: b")},
	{400, field("HOST:")},
	{400, "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: http://a\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: [v1.a]\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a%2\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: a\x80\r\n\r\n"},
	{400, "GET / HTTP/1.1\r\nHost: " + strings.Repeat("a", 256) + "\r\n\r\n"},
	{400, "GET http://a/ HTTP/1.1\r\nHost: b\r\nHost: a\r\n\r\n"},
	{400, "GET http://a/ HTTP/1.1\r\nHost: b c\r\n\r\n"},

	// Lengths.
	{400, post("Content-Length: +1", "a")},
	{400, post("Content-Length: -1", "a")},
	{400, post("Content-Length: -0", "")},
	{400, post("Content-Length: 1,1", "a")},
	{400, post("Content-Length: 1, 1", "a")},
	{400, post("Content-Length: 1 1", "a")},
	{400, post("Content-Length: 1\r\nContent-Length: 1", "a")},
	{400, post("Content-Length: 1\r\nContent-Length: 2", "a")},
	{400, post("Content-Length: 0\r\ncontent-length: 0", "")},
	{400, post("Content-Length: 0x1", "a")},
	{400, post("Content-Length: 1.0", "a")},
	{400, post("Content-Length: 1e1", "a")},
	{400, post("Content-Length: 1_0", "a")},
	{400, post("Content-Length: \"1\"", "a")},
	{400, post("Content-Length:", "")},
	{400, post("Content-Length: ,", "")},
	{400, post("Content-Length: a", "a")},
	{400, post("Content-Length: 1;", "a")},
	{400, post("Content-Length: \xb2", "a")},
	{400, post("Content-Length: \x0b1", "a")},
	{413, post("Content-Length: 102401", "")},
	{413, post("Content-Length: 18446744073709551616", "")},
	{413, post("Content-Length: 18446744073709551617", "a")}, // 1 in 64 bits

	// Codings, among them the classics: CL.TE, TE.CL, TE.TE.
	{400, post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG")},
	{400, post("Transfer-Encoding: chunked\r\nContent-Length: 3", "8\r\nSMUGGLED\r\n0\r\n\r\n")},
	{400, post("Content-Length: 0\r\nTransfer-Encoding: chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: xchunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked, identity", "0\r\n\r\n")},
	{501, post("Transfer-Encoding: identity, chunked", "0\r\n\r\n")},
	{501, post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: identity", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: gzip", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n")},
	{501, post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked, chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked\r\ntransfer-encoding: x", "0\r\n\r\n")},
	{400, post("Transfer-Encoding:", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: ,", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: \"chunked\"", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked;x=y", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked x", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chun ked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunke", "0\r\n\r\n")},
	{400, post("Transfer-Encoding : chunked", "0\r\n\r\n")},
	{400, post(" Transfer-Encoding: chunked", "0\r\n\r\n")},
	{400, post("X: y\nTransfer-Encoding: chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding\n: chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: \x0bchunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: \x00chunked", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: chunked\x0b", "0\r\n\r\n")},
	{400, post("Transfer-Encoding: \u017fhunked", "0\r\n\r\n")},
	{400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n"},

	// Expectations.
	{417, post("Expect: 200-ok\r\nContent-Length: 1", "a")},
	{417, post("Expect: 100-continue, x\r\nContent-Length: 1", "a")},

	// Methods that are no business of a filter's.
	{405, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"},
	{405, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 3\r\n\r\nabc"},
}

func TestRequestsThatAreNoGoodNeverArrive(t *testing.T) {
	s, addr := theatre(t)
	for _, c := range refused {
		s.next(says(hello))
		answer, err := say(t, addr, c.request+after)
		list, rest, bad := answers(answer, nil, err == nil)
		switch {
		case err != nil || bad != nil || rest != "" || len(list) != 1:
			t.Errorf("%.200q is answered with %q (%v, %v)", c.request, answer, err, bad)
		case list[0].status != c.status:
			t.Errorf("%.200q is answered with %d, want %d", c.request, list[0].status, c.status)
		}
		if got := s.got(t, false); len(got) > 0 {
			t.Errorf("%.200q arrives as %q", c.request, got)
		}
	}
}

// spoilt are requests whose heads are good, and whose bodies are not. Servers
// may see what comes before the fault, but no end.
var spoilt = []string{
	chunked("g\r\n"),
	chunked("\r\n"),
	chunked("-1\r\na\r\n0\r\n\r\n"),
	chunked("+1\r\na\r\n0\r\n\r\n"),
	chunked(" 1\r\na\r\n0\r\n\r\n"),
	chunked("0x1\r\na\r\n0\r\n\r\n"),
	chunked("1_0\r\na\r\n0\r\n\r\n"),
	chunked("1\na\r\n0\r\n\r\n"),
	chunked("1\ra\r\n0\r\n\r\n"),
	chunked("1\r\na\n0\r\n\r\n"),
	chunked("1\r\na0\r\n\r\n"),
	chunked("1\r\nab\r\n0\r\n\r\n"),
	chunked("1\r\nab\n0\r\n\r\n"),
	chunked("2\r\na\r\n0\r\n\r\n"),
	chunked("1\r\na\r\r\n0\r\n\r\n"),
	chunked("1 a\r\na\r\n0\r\n\r\n"),
	chunked("1 \r\na\r\n0\r\n\r\n"),
	chunked("1;\r\na\r\n0\r\n\r\n"),
	chunked("1;a\nb\r\na\r\n0\r\n\r\n"),
	chunked("1;a=\"\n\"\r\na\r\n0\r\n\r\n"),
	chunked("1;a=\"\r\n0\r\n\r\n"),
	chunked("1;a\x00\r\na\r\n0\r\n\r\n"),
	chunked("1;a=b c\r\na\r\n0\r\n\r\n"),
	chunked("1;" + strings.Repeat("a", 8192) + "\r\na\r\n0\r\n\r\n"),
	chunked("ffffffffffffffff\r\na\r\n0\r\n\r\n"),
	chunked("8000000000000000\r\na\r\n0\r\n\r\n"),
	chunked("00000000000000001\r\na\r\n0\r\n\r\n"),
	chunked("10000000000000001\r\na\r\n0\r\n\r\n"),
	chunked("1\r\na\r\n0\n\r\n"),
	chunked("1\r\na\r\n0\r\n\n"),
	chunked("1\r\na\r\n0\r\n\r"),
	chunked("1\r\na\r\n0\r\nX : y\r\n\r\n"),
	chunked("1\r\na\r\n0\r\n X: y\r\n\r\n"),
	chunked("1\r\na\r\n0\r\nX: y\n\r\n"),
	chunked("1\r\na\r\n0\r\nX: y\r\n z\r\n\r\n"),
	chunked("1\r\na\r\n0\r\nX: \x00\r\n\r\n"),
	chunked("1\r\na\r\n0\r\nContent-Length: 1\r\n\r\n"),
	chunked("1\r\na\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"),
	chunked("1\r\na\r\n0\r\nHost: a\r\n\r\n"),
	chunked("1\r\na\r\n0\r\nconnection: close\r\n\r\n"),
	chunked("1\r\na\r\n0\r\n" + strings.Repeat("X: y\r\n", 101) + "\r\n"),
	chunked("1\r\na\r\n0\r\nX: " + strings.Repeat("y", 33<<10) + "\r\n\r\n"),
	chunked("19001\r\n" + strings.Repeat("a", 0x19001) + "\r\n0\r\n\r\n"), // over limits.body
}

func TestSpoiltBodiesHaveNoEnd(t *testing.T) {
	s, addr := theatre(t)
	for _, request := range spoilt {
		s.next(says(hello))
		answer, err := say(t, addr, request+after)
		list, rest, bad := answers(answer, nil, err == nil)
		if bad != nil || rest != "" || len(list) > 1 || len(list) == 1 && list[0].status/100 != 4 {
			t.Errorf("%.200q is answered with %q (%v, %v)", request, answer, err, bad)
		}
		if got := s.got(t, true); len(got) > 0 {
			t.Errorf("%.200q arrives as %q", request, got)
		}
	}
}

// passed are requests that are good, and what the server is to get of them.
var passed = []struct{ request, want string }{
	{line("GET / HTTP/1.1"), "GET / HTTP/1.1|Host: a||"},
	{line("GET /a?b=%20&c HTTP/1.1"), "GET /a?b=%20&c HTTP/1.1|Host: a||"},
	{line("GET //a/../b HTTP/1.1"), "GET //a/../b HTTP/1.1|Host: a||"}, // no business of ours
	{line("GET /?? HTTP/1.1"), "GET /?? HTTP/1.1|Host: a||"},
	{"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1|Host: a||"},
	{line("GET / HTTP/1.9"), "GET / HTTP/1.1|Host: a||"},
	{line("get / HTTP/1.1"), "get / HTTP/1.1|Host: a||"},
	{line("X-Y_Z!# / HTTP/1.1"), "X-Y_Z!# / HTTP/1.1|Host: a||"},
	{line("TRACE / HTTP/1.1"), "TRACE / HTTP/1.1|Host: a||"},
	{line("OPTIONS * HTTP/1.1"), "OPTIONS * HTTP/1.1|Host: a||"},
	{line("OPTIONS http://b HTTP/1.1"), "OPTIONS * HTTP/1.1|Host: b||"},
	{line("OPTIONS http://b?x HTTP/1.1"), "OPTIONS /?x HTTP/1.1|Host: b||"},
	{line("OPTIONS http://b/ HTTP/1.1"), "OPTIONS / HTTP/1.1|Host: b||"},
	{line("GET http://b:81/c?d HTTP/1.1"), "GET /c?d HTTP/1.1|Host: b:81||"},
	{line("GET HTTP://b HTTP/1.1"), "GET / HTTP/1.1|Host: b||"},
	{line("GET https://b?c HTTP/1.1"), "GET /?c HTTP/1.1|Host: b||"},
	{line("GET http://[::1]:8/ HTTP/1.1"), "GET / HTTP/1.1|Host: [::1]:8||"},
	{line("GET http://a//b/ HTTP/1.1"), "GET //b/ HTTP/1.1|Host: a||"},
	{"GET / HTTP/1.1\r\nhOST:\t a \t\r\n\r\n", "GET / HTTP/1.1|hOST: a||"},
	{"GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1|Host: ||"},
	{"GET / HTTP/1.1\r\nHost: [::ffff:1.2.3.4]:80\r\n\r\n", "GET / HTTP/1.1|Host: [::ffff:1.2.3.4]:80||"},
	{"GET http://b/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.1|Host: b||"},
	{"GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET / HTTP/1.1|Host: a||"},
	{field("X:\ty"), "GET / HTTP/1.1|Host: a|X: y||"},
	{field("X:\r\nY: \t \r\nZ:z"), "GET / HTTP/1.1|Host: a|X: |Y: |Z: z||"},
	{field("X: a\tb \xe9\xff"), "GET / HTTP/1.1|Host: a|X: a\tb \u00e9\u00ff||"},
	{field("X: 1\r\nx: 2\r\nX: 1"), "GET / HTTP/1.1|Host: a|X: 1|x: 2|X: 1||"},
	{field(strings.TrimSuffix(strings.Repeat("X: y\r\n", 99), "\r\n")), "GET / HTTP/1.1|Host: a" + strings.Repeat("|X: y", 99) + "||"},
	{field("X: " + strings.Repeat("y", 25<<10)), "GET / HTTP/1.1|Host: a|X: " + strings.Repeat("y", 25<<10) + "||"},
	{line("GET /" + strings.Repeat("a", 8191) + " HTTP/1.1"), "GET /" + strings.Repeat("a", 8191) + " HTTP/1.1|Host: a||"},

	// Bodies. Their framing is written anew.
	{post("Content-Length: 0", ""), "POST / HTTP/1.1|Host: a|Content-Length: 0||"},
	{post("X: y", ""), "POST / HTTP/1.1|Host: a|X: y||"},
	{post("content-length:\t003 ", "abc"), "POST / HTTP/1.1|Host: a|Content-Length: 3||abc"},
	{"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "GET / HTTP/1.1|Host: a|Content-Length: 1||x"},
	{post("Transfer-Encoding: chunked", "0\r\n\r\n"), "POST / HTTP/1.1|Host: a|Transfer-Encoding: chunked||"},
	{post("transfer-encoding:  ChunKed ,", "0003;a=\"\\\"b\" ; c\r\nabc\r\nA\r\n0123456789\r\n00\r\n\r\n"),
		"POST / HTTP/1.1|Host: a|Transfer-Encoding: chunked||abc0123456789"},
	{post("Content-Length: 10\r\nX: y", "0\r\n\r\nGET /"), "POST / HTTP/1.1|Host: a|X: y|Content-Length: 10||0\r\n\r\nGET /"},
	{"POST / HTTP/1.0\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc", "POST / HTTP/1.1|Host: $origin|Content-Length: 3||abc"},
	{post("Content-Length: 1\r\nExpect:", "a"), "POST / HTTP/1.1|Host: a|Content-Length: 1||a"},
	{"POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na", "POST / HTTP/1.1|Host: a|Content-Length: 1||a"},
	{field("Expect: 100-continue"), "GET / HTTP/1.1|Host: a||"},
	{post("Expect: 100-Continue\r\nContent-Length: 1", "a"), "POST / HTTP/1.1|Host: a|Content-Length: 1|Expect: 100-continue||a"},
}

func TestWhatServersGetOfRequests(t *testing.T) {
	s, addr := theatre(t)
	for _, c := range passed {
		s.next(says(hello))
		answer, err := say(t, addr, c.request)
		asked, rest, bad := requests(c.request, true)
		if bad != nil || rest != "" || len(asked) != 1 {
			t.Fatalf("%.200q: the test is no good: %v", c.request, bad)
		}
		list, rest, bad := answers(answer, asked, err == nil)
		if err != nil || bad != nil || rest != "" || finals(list) != 1 || list[len(list)-1].body != "hello" {
			t.Errorf("%.200q is answered with %q (%v, %v)", c.request, answer, err, bad)
		}
		got := s.got(t, false)
		if want := strings.ReplaceAll(c.want, "$origin", s.addr); len(got) != 1 || got[0].String() != want {
			t.Errorf("%.200q arrives as\n%.300q, want\n%.300q", c.request, got, want)
		}
	}
}

// TestTheFirstFaultEndsThePipeline sends good requests, a bad one and more good
// ones in one packet.
func TestTheFirstFaultEndsThePipeline(t *testing.T) {
	s, addr := theatre(t)
	good := line("GET /1 HTTP/1.1") + post("Content-Length: 3", "abc") + chunked("1\r\na\r\n0\r\n\r\n")
	for _, bad := range []string{field("X : y"), post("Content-Length: +1", "a"), chunked("0\n\r\n"), "\x00", line("GET / HTTP/3.0")} {
		s.next(says(hello))
		answer, err := say(t, addr, good+bad+after)
		asked, _, _ := requests(good, true)
		list, rest, fault := answers(answer, asked, err == nil)
		if err != nil || fault != nil || rest != "" || len(list) != 4 || list[2].status != 200 || list[3].status < 400 {
			t.Errorf("%q: %q (%v, %v)", bad, answer, err, fault)
		}
		if got := s.got(t, true); len(got) != 3 {
			t.Errorf("%q: %d requests arrive: %q", bad, len(got), got)
		}
	}
}
