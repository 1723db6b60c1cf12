//go:build linux

package proxy

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"redoubt/proxy/rewrite"
)

// ask has one request answered, with everything judged, and returns what the
// server and the client got.
func ask(t *testing.T, s *stage, addr, request, answer string) (got message, list []message) {
	t.Helper()
	s.next(says(answer))
	said, err := say(t, addr, request)
	asked, _, bad := requests(request, true)
	if bad != nil {
		t.Fatalf("the test is no good: %q: %v", request, bad)
	}
	list, rest, bad := answers(said, asked, err == nil)
	if err != nil || bad != nil || rest != "" || finals(list) != len(asked) {
		t.Fatalf("%q is answered with %q (%v, %v)", request, said, err, bad)
	}
	all := s.got(t, false)
	if len(all) != 1 {
		t.Fatalf("%q arrives as %q", request, all)
	}
	return all[0], list
}

// TestFieldsOfAConnectionEndHere sends fields that are about a connection, both
// ways: each line of the request, and of the answer, and what of it goes on.
func TestFieldsOfAConnectionEndHere(t *testing.T) {
	s, addr := theatre(t)
	for _, c := range []struct{ lines, request, answer string }{
		{"Connection: x-a\r\nX-A: 1\r\nX-B: 2", "|X-B: 2", "|X-B: 2"},
		{"X-A: 1\r\nX-B: 2\r\nConnection: X-a , ,x-B", "", ""},
		{"Connection: x-a\r\nConnection: x-b\r\nX-A: 1\r\nX-B: 2\r\nX-C: 3", "|X-C: 3", "|X-C: 3"},
		{"Connection: close\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
		{"Connection: keep-alive\r\nKeep-Alive: timeout=5", "", ""},
		{"Connection: close, x-a\r\nClose: 1\r\nX-A: 1\r\nx-a: 2", "", ""},
		{"Connection: keep-alive, x-a\r\nX-A: 1", "", ""},
		{"Connection: ,,\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
		{"Connection: \"x-a, x-b\"\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
		{"Connection: x\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
		{"Proxy-Connection: keep-alive\r\nKeep-Alive: 5", "", ""},
		{"Proxy-Authorization: Basic eA==\r\nProxy-Authenticate: Basic", "", ""},
		{"TE: gzip\r\nTrailer: X", "", ""},
		{"TE: trailers\r\nConnection: te", "|TE: trailers", ""},
		{"TE: trailers;q=0.5, gzip, TRAILERS\r\nX-A: 1", "|X-A: 1|TE: trailers", "|X-A: 1"},
		{"Upgrade: websocket\r\nConnection: Upgrade", "", ""}, // the route allows none
		{"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAA", "", ""},
		{"Connection: content-type, cookie\r\nContent-Type: a\r\nCookie: b\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
		{"Connection: connection, transfer-encoding, expect, via, date\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
		{"Connection: x-forwarded-for, x-request-id, forwarded, server-timing\r\nX-A: 1", "|X-A: 1", "|X-A: 1"},
	} {
		got, list := ask(t, s, addr, field(c.lines), with(c.lines+"\r\nContent-Length: 0", ""))
		if want := "GET / HTTP/1.1|Host: a" + c.request + "||"; got.String() != want {
			t.Errorf("%q: the server gets %q, want %q", c.lines, got, want)
		}
		if want := "HTTP/1.1 200 OK" + c.answer + "|Content-Length: 0||"; list[0].String() != want {
			t.Errorf("%q: the client gets %q, want %q", c.lines, list[0], want)
		}
	}
	// Nobody gets rid of Host or the length by naming them.
	got, list := ask(t, s, addr, post("Connection: host, content-length, X-A\r\nX-A: 1\r\nContent-Length: 3", "abc"),
		with("Connection: content-length\r\nContent-Length: 3", "abc"))
	if got.String() != "POST / HTTP/1.1|Host: a|Content-Length: 3||abc" || list[0].String() != "HTTP/1.1 200 OK|Content-Length: 3||abc" {
		t.Errorf("the server gets %q, the client %q", got, list[0])
	}
	got, list = ask(t, s, addr, post("Connection: transfer-encoding, host\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n"),
		with("Connection: transfer-encoding\r\nTransfer-Encoding: chunked", "1\r\nb\r\n0\r\n\r\n"))
	if got.String() != "POST / HTTP/1.1|Host: a|Transfer-Encoding: chunked||a" || list[0].String() != "HTTP/1.1 200 OK|Transfer-Encoding: chunked||b" {
		t.Errorf("the server gets %q, the client %q", got, list[0])
	}
}

func TestWhatIsToldOfTheClient(t *testing.T) {
	s, addr := theatre(t)
	c := settings(s.addr)
	c.Upstreams[0].Keepalive = 0
	c.Trust = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	_, trusting := start(t, c, Options{})
	lines := "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: b\r\nForwarded: for=1.2.3.4\r\nX-Request-ID: abc\r\nVia: 1.0 x"
	for _, c := range []struct{ addr, request, want string }{
		{addr, field(lines), "X-Forwarded-For=127.0.0.1 X-Forwarded-Proto=http X-Forwarded-Host=a Forwarded=for=127.0.0.1;host=\"a\";proto=http Via=1.0 x,1.1 redoubt"},
		{trusting, field(lines), "X-Forwarded-For=1.2.3.4, 5.6.7.8, 127.0.0.1 X-Forwarded-Proto=https X-Forwarded-Host=b Forwarded=for=1.2.3.4, for=127.0.0.1;host=\"a\";proto=http Via=1.0 x,1.1 redoubt"},
		{addr, "GET / HTTP/1.0\r\n\r\n", "X-Forwarded-For=127.0.0.1 X-Forwarded-Proto=http X-Forwarded-Host= Forwarded=for=127.0.0.1;proto=http Via=1.0 redoubt"},
		{addr, line("GET http://b:1/ HTTP/1.1"), "X-Forwarded-For=127.0.0.1 X-Forwarded-Proto=http X-Forwarded-Host=b:1 Forwarded=for=127.0.0.1;host=\"b:1\";proto=http Via=1.1 redoubt"},
	} {
		got, list := ask(t, s, c.addr, c.request, with("Via: 1.1 y\r\nContent-Length: 0\r\nServer-Timing: x;dur=1\r\nDate: then", ""))
		text := ""
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "Via"} {
			text += " " + name + "=" + strings.Join(got.get(name), ",")
		}
		if text[1:] != c.want {
			t.Errorf("%q: the server gets\n%s, want\n%s", c.request, text[1:], c.want)
		}
		if id := got.get("X-Request-ID")[0]; (id == "abc") != (c.addr == trusting) || len(id) != 16 && id != "abc" {
			t.Errorf("%q: X-Request-ID %q", c.request, id)
		}
		if m := list[0]; strings.Join(m.get("Via"), ",") != "1.1 y,1.1 redoubt" || strings.Join(m.get("Date"), ",") != "then" || len(m.get("Server-Timing")) != 2 {
			t.Errorf("the client gets %q", m.fields)
		}
	}
}

func TestTrailers(t *testing.T) {
	s := newStage(t)
	c := settings(s.addr)
	c.Upstreams[0].Keepalive = 0
	c.Routes[0].Request = compile(t, rewrite.Options{Remove: []string{"X-Gone"}, Set: []rewrite.Field{{Name: "X-Real-IP", Value: "$client"}}}, rewrite.Request)
	c.Routes[0].Response = compile(t, rewrite.Options{Remove: []string{"x-lost"}}, rewrite.Response)
	_, addr := start(t, c, Options{})
	const body = "5\r\nhello\r\n0\r\nX-A:\t1 \r\nx-gone: 2\r\nX-REAL-IP: 3\r\nX-Lost: 4\r\nX-A:5\r\nKeep-Alive: 6\r\nX-Forwarded-For: 7\r\nProxy-Authorization: 8\r\nX-Request-ID: 9\r\n\r\n"
	got, list := ask(t, s, addr, post("Transfer-Encoding: chunked\r\nTrailer: X-A", body), with("Transfer-Encoding: chunked\r\nTrailer: X-A", body))
	if want := "POST / HTTP/1.1|Host: a|Trailer: X-A|X-Real-IP: 127.0.0.1|Transfer-Encoding: chunked||hello|X-A: 1|X-Lost: 4|X-A: 5"; got.String() != want {
		t.Errorf("the server gets %q,\nwant %q", got, want)
	}
	if want := "HTTP/1.1 200 OK|Trailer: X-A|Transfer-Encoding: chunked||hello|X-A: 1|x-gone: 2|X-REAL-IP: 3|X-A: 5"; list[0].String() != want {
		t.Errorf("the client gets %q,\nwant %q", list[0], want)
	}
}

func compile(t testing.TB, o rewrite.Options, side rewrite.Side) *rewrite.Rules {
	t.Helper()
	rules, err := rewrite.Compile(o, side)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestHeaderRules(t *testing.T) {
	type fields = []rewrite.Field
	f := func(side rewrite.Side, o rewrite.Options, lines, want string) {
		t.Helper()
		s := newStage(t)
		c := settings(s.addr)
		c.Upstreams[0].Keepalive = 0
		if side == rewrite.Request {
			c.Routes[0].Request = compile(t, o, side)
		} else {
			c.Routes[0].Response = compile(t, o, side)
		}
		_, addr := start(t, c, Options{})
		request, answer := lines, hello
		if side == rewrite.Response {
			request, answer = line("GET /p?q HTTP/1.1"), with(lines+"Content-Length: 0", "")
		}
		got, list := ask(t, s, addr, request, answer)
		m := got
		if side == rewrite.Response {
			m = list[0]
		}
		text := m.String()
		for _, name := range []string{"Via", "Date"} {
			text += fmt.Sprintf(" %s=%d", name, len(m.get(name)))
		}
		if want = strings.ReplaceAll(want, "$origin", s.addr); text != want {
			t.Errorf("%+v: %q becomes\n%q, want\n%q", o, lines, text, want)
		}
	}
	ask := rewrite.Request
	f(ask, rewrite.Options{Remove: []string{"x-a"}}, field("X-A: 1\r\nX-B: 2\r\nx-a: 3"), "GET / HTTP/1.1|Host: a|X-B: 2|| Via=1 Date=0")
	f(ask, rewrite.Options{Remove: []string{"Via", "X-Request-ID"}, Set: fields{{Name: "X-Request-ID", Value: "$request_id"}}}, field("Via: x"), "GET / HTTP/1.1|Host: a|| Via=0 Date=0")
	f(ask, rewrite.Options{Set: fields{{Name: "X", Value: "$client $host $path $upstream $$"}}}, line("GET /p?q HTTP/1.1"), "GET /p?q HTTP/1.1|Host: a|X: 127.0.0.1 a /p $origin $|| Via=1 Date=0")
	f(ask, rewrite.Options{Add: fields{{Name: "X", Value: "1"}, {Name: "X", Value: "2"}}}, field("X: 0"), "GET / HTTP/1.1|Host: a|X: 0|X: 1|X: 2|| Via=1 Date=0")
	f(ask, rewrite.Options{Headers: []rewrite.Rule{{Name: "X", Find: "a(.)", Put: "$1$1", Flags: "g"}}}, field("X: abac\r\nY: ab"), "GET / HTTP/1.1|Host: a|X: bbcc|Y: ab|| Via=1 Date=0")
	f(ask, rewrite.Options{URL: []rewrite.Rule{{Find: "^/old/(.*)", Put: "/new/$1"}}}, line("GET /old/x?y HTTP/1.1"), "GET /new/x?y HTTP/1.1|Host: a|| Via=1 Date=0")
	f(ask, rewrite.Options{URL: []rewrite.Rule{{Find: "^/old/(.*)", Put: "/$host/$1"}}}, line("GET http://b/old/x?y HTTP/1.1"), "GET /b/x?y HTTP/1.1|Host: b|| Via=1 Date=0")
	f(ask, rewrite.Options{URL: []rewrite.Rule{{Find: ".*", Put: "/x"}}}, line("OPTIONS * HTTP/1.1"), "OPTIONS * HTTP/1.1|Host: a|| Via=1 Date=0")

	// Host: there is one, whatever the rule makes of it, in each form of the target.
	set := func(value string) rewrite.Options {
		return rewrite.Options{Set: fields{{Name: "Host", Value: value}}}
	}
	f(ask, set("b:1"), field("X: y"), "GET / HTTP/1.1|X: y|Host: b:1|| Via=1 Date=0")
	f(ask, set("b:1"), line("GET http://c/ HTTP/1.1"), "GET / HTTP/1.1|Host: b:1|| Via=1 Date=0")
	f(ask, set("b:1"), "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1|Host: b:1|| Via=1 Date=0")
	f(ask, set("$upstream"), "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1|Host: $origin|| Via=1 Date=0")
	f(ask, set("$path"), line("GET / HTTP/1.1"), "GET / HTTP/1.1|Host: a|| Via=1 Date=0")
	f(ask, set("$path"), line("GET http://b/ HTTP/1.1"), "GET / HTTP/1.1|Host: b|| Via=1 Date=0")
	f(ask, set("$path"), "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1|Host: $origin|| Via=1 Date=0")
	f(ask, set("$host"), "GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1|Host: $origin|| Via=1 Date=0")
	f(ask, set("$host"), "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1|Host: || Via=1 Date=0")
	change := rewrite.Options{Headers: []rewrite.Rule{{Name: "Host", Find: "^a", Put: "b"}}}
	f(ask, change, line("GET / HTTP/1.1"), "GET / HTTP/1.1|Host: b|| Via=1 Date=0")
	f(ask, change, line("GET http://a:1/ HTTP/1.1"), "GET / HTTP/1.1|Host: b:1|| Via=1 Date=0")
	f(ask, rewrite.Options{Headers: []rewrite.Rule{{Name: "Host", Find: "a", Put: "/"}}}, line("GET http://a/ HTTP/1.1"), "GET / HTTP/1.1|Host: a|| Via=1 Date=0")

	answer := rewrite.Response
	f(answer, rewrite.Options{Remove: []string{"Server", "Via", "Date"}, Add: fields{{Name: "Date", Value: "now"}}}, "Server: x\r\nVia: y\r\nDate: z\r\n", "HTTP/1.1 200 OK|Content-Length: 0|| Via=0 Date=1")
	f(answer, rewrite.Options{Headers: []rewrite.Rule{{Name: "Location", Find: `//origin\.example`, Put: "//$host"}}}, "Location: http://origin.example/x\r\n", "HTTP/1.1 200 OK|Location: http://a/x|Content-Length: 0|| Via=1 Date=1")
	f(answer, rewrite.Options{Set: fields{{Name: "X", Value: "$path $host"}}, Remove: []string{"Y"}}, "X: 1\r\nY: 2\r\n", "HTTP/1.1 200 OK|X: /p a|Content-Length: 0|| Via=1 Date=1")
}
