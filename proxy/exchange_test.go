//go:build linux

package proxy

import (
	"io"
	"net"
	"strings"
	"testing"

	"redoubt/proxy/config"
)

const expecting = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"

// judged reads a head off the server's side and has it judged as one whose body
// is still to come.
func judged(t *testing.T, server *raw) message {
	t.Helper()
	head := server.head()
	s := strict{in: head + strings.Repeat("x", 10)}
	m, err := s.request()
	if err != nil && err != errMore {
		t.Errorf("the server gets %q: %v", head, err)
	}
	return m
}

// final reads an answer's head off the client's side and has it judged.
func final(t *testing.T, client *raw, to message, body string) message {
	t.Helper()
	head := client.head()
	list, rest, err := answers(head+body, []message{to}, true)
	if err != nil || rest != "" || len(list) != 1 {
		t.Fatalf("the client gets %q: %v", head, err)
	}
	client.want(body)
	return list[0]
}

func TestExpect(t *testing.T) {
	addr, accept := backstage(t, func(c *config.Config) { c.Upstreams[0].Keepalive = 0 })
	asked := message{method: "POST", minor: 1}
	const proceed = "HTTP/1.1 100 Continue\r\n\r\n"

	t.Run("the server says 100", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(expecting)
		server := accept()
		if m := judged(t, server); m.get("Expect") == nil {
			t.Errorf("the server gets %v", m)
		}
		server.say("HTTP/1.1 100 Whatever\r\nX: y\r\n\r\n")
		client.want(proceed)
		client.say("hello")
		server.want("hello")
		server.say("HTTP/1.1 100 Continue\r\n\r\n" + hello) // once more is once too often
		final(t, client, asked, "hello")
		server.wantEnd()
	})
	t.Run("the server says 417", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(expecting)
		server := accept()
		server.head()
		server.say("HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno")
		if m := final(t, client, asked, "no"); m.status != 417 || m.get("Connection")[0] != "close" {
			t.Errorf("the client gets %v", m)
		}
		client.say("hello" + after) // a body it should not send; nothing goes on
		client.wantEnd()
		if rest, _ := io.ReadAll(server.in); len(rest) > 0 {
			t.Errorf("the server gets %q", rest)
		}
	})
	t.Run("the server answers at once", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(expecting)
		server := accept()
		server.head()
		server.say(hello)
		if m := final(t, client, asked, "hello"); m.get("Connection")[0] != "close" {
			t.Errorf("the client gets %v", m)
		}
		client.wantEnd()
	})
	t.Run("the server says nothing", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(expecting)
		server := accept()
		server.head()
		client.want(proceed) // after a second
		client.say("hello")
		server.want("hello")
		server.say(proceed + hello)
		final(t, client, asked, "hello")
	})
	t.Run("the client does not wait", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(expecting + "hello")
		server := accept()
		server.head()
		server.want("hello")
		server.say(proceed + hello)
		final(t, client, asked, "hello") // RFC 9110, 10.1.1: 100 may be left out
	})
	t.Run("a client of HTTP/1.0", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(strings.Replace(expecting, "HTTP/1.1", "HTTP/1.0", 1))
		server := accept()
		if m := judged(t, server); m.get("Expect") != nil {
			t.Errorf("the server gets %v", m)
		}
		server.say(proceed)
		client.say("hello")
		server.want("hello")
		server.say(hello)
		final(t, client, message{method: "POST"}, "hello")
		client.wantEnd()
	})
	t.Run("a chunked body", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(post("Expect: 100-continue\r\nTransfer-Encoding: chunked", ""))
		server := accept()
		judged(t, server)
		server.say(proceed)
		client.want(proceed)
		client.say("5;x\r\nhello\r\n0\r\nX: y\r\n\r\n" + line("GET /next HTTP/1.1"))
		server.want("5\r\nhello\r\n0\r\nX: y\r\n\r\n")
		server.say("HTTP/1.1 204 No Content\r\n\r\n")
		if m := final(t, client, asked, ""); m.get("Connection")[0] != "keep-alive" {
			t.Errorf("the client gets %v", m)
		}
		second := accept()
		if m := judged(t, second); !strings.HasPrefix(m.start, "GET /next ") {
			t.Errorf("the server gets %v", m)
		}
		second.say(hello)
		final(t, client, message{method: "GET", minor: 1}, "hello")
	})
}

const upgrading = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade, X-A\r\nUpgrade: websocket\r\nX-A: 1\r\nSec-WebSocket-Key: x\r\n\r\n"

func TestUpgrade(t *testing.T) {
	allow := func(c *config.Config) { c.Upstreams[0].Keepalive, c.Routes[0].Upgrade = 0, true }
	addr, accept := backstage(t, allow)
	asked := message{method: "GET", minor: 1}
	const switches = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Accept: y\r\n\r\n"

	t.Run("bytes right behind both heads", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(upgrading + "\x00client\r\n\r\n")
		server := accept()
		m := judged(t, server)
		if m.String() != "GET /chat HTTP/1.1|Host: a|Sec-WebSocket-Key: x|Upgrade: websocket||" || m.get("Connection")[0] != "Upgrade" {
			t.Errorf("the server gets %v", m)
		}
		server.say(switches + "\x00server\n")
		if m := final(t, client, asked, ""); m.String() != "HTTP/1.1 101 Switching Protocols|Sec-WebSocket-Accept: y|Upgrade: WebSocket||" {
			t.Errorf("the client gets %v", m)
		}
		client.want("\x00server\n")
		server.want("\x00client\r\n\r\n")
		client.say("more")
		server.want("more")
		server.say("HTTP/1.1 200 OK\r\n\r\n")
		client.want("HTTP/1.1 200 OK\r\n\r\n")
		client.CloseWrite()
		server.wantEnd()
		server.say("last")
		client.want("last")
		server.Close()
		client.wantEnd()
	})
	t.Run("103 before it", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(upgrading)
		server := accept()
		server.head()
		server.say("HTTP/1.1 103 Early Hints\r\n\r\n" + switches)
		client.want("HTTP/1.1 103 Early Hints\r\n\r\n")
		final(t, client, asked, "")
		server.Close()
		client.wantEnd()
	})
	t.Run("the server does not want to", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(upgrading + line("GET /next HTTP/1.1"))
		server := accept()
		server.head()
		server.say("HTTP/1.1 426 Upgrade Required\r\nUpgrade: x\r\nConnection: Upgrade\r\nContent-Length: 5\r\n\r\nhello")
		final(t, client, asked, "hello")
		second := accept()
		if m := judged(t, second); !strings.HasPrefix(m.start, "GET /next ") {
			t.Errorf("the server gets %v", m)
		}
		second.say(hello)
		final(t, client, asked, "hello")
	})
	for _, wrong := range []string{
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket, other\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade:\r\n\r\n",
	} {
		t.Run(wrong, func(t *testing.T) {
			client := dialRaw(t, addr)
			client.say(upgrading + "secret")
			server := accept()
			server.head()
			server.say(wrong + "secret")
			if m := final(t, client, asked, "502 Bad Gateway\n"); m.status != 502 {
				t.Errorf("the client gets %v", m)
			}
			if rest, _ := io.ReadAll(server.in); len(rest) > 0 {
				t.Errorf("the server gets %q", rest)
			}
		})
	}
	for _, request := range []string{
		field("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA"),
		field("Connection: Upgrade\r\nUpgrade: H2C, h2, h2/1"),
		field("Upgrade: websocket"), // not named in Connection
		field("Connection: Upgrade"),
		field("Connection: Upgrade\r\nUpgrade: ,"),
		strings.Replace(field("Connection: Upgrade\r\nUpgrade: websocket"), "HTTP/1.1", "HTTP/1.0", 1),
		strings.Replace(field("Connection: Upgrade\r\nUpgrade: websocket"), "GET", "PUT", 1),
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello",
	} {
		t.Run(request, func(t *testing.T) {
			client := dialRaw(t, addr)
			client.say(request)
			server := accept()
			if m := judged(t, server); m.get("Upgrade") != nil || m.get("Connection") != nil || m.get("HTTP2-Settings") != nil {
				t.Errorf("the server gets %v", m)
			}
			server.say(switches)
			asked, _, _ := requests(request, true)
			if m := final(t, client, asked[0], "502 Bad Gateway\n"); m.status != 502 {
				t.Errorf("the client gets %v", m)
			}
		})
	}
	t.Run("some of what is asked for", func(t *testing.T) {
		client := dialRaw(t, addr)
		client.say(field("Connection: Upgrade\r\nUpgrade: h2c, x/1,\r\nUpgrade: y"))
		server := accept()
		if m := judged(t, server); strings.Join(m.get("Upgrade"), ";") != "x/1, y" {
			t.Errorf("the server gets %v", m)
		}
		server.say("HTTP/1.1 101 Y\r\nUpgrade: y\r\nConnection: Upgrade\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n")
		client.head()
		server.Close()
	})
}

func TestUpgradeHasToBeAllowed(t *testing.T) {
	addr, accept := backstage(t, func(c *config.Config) { c.Upstreams[0].Keepalive = 0 })
	client := dialRaw(t, addr)
	client.say(upgrading)
	server := accept()
	if m := judged(t, server); m.String() != "GET /chat HTTP/1.1|Host: a|Sec-WebSocket-Key: x||" {
		t.Errorf("the server gets %v", m)
	}
	server.say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if m := final(t, client, message{method: "GET", minor: 1}, "502 Bad Gateway\n"); m.status != 502 {
		t.Errorf("the client gets %v", m)
	}
}

// TestKeptConnections has exchanges follow each other on one connection at each
// end, with all that ends an answer in some way of its own.
func TestKeptConnections(t *testing.T) {
	addr, accept := backstage(t, nil)
	client := dialRaw(t, addr)
	var server *raw
	for i, c := range []struct{ request, answer, body string }{
		{line("GET /0 HTTP/1.1"), hello, "hello"},
		{line("HEAD /1 HTTP/1.1"), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", ""},
		{line("HEAD /2 HTTP/1.1"), with("Transfer-Encoding: chunked", ""), ""},
		{line("GET /3 HTTP/1.1"), "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ""},
		{line("GET /4 HTTP/1.1"), "HTTP/1.1 204 No Content\r\n\r\n", ""},
		{line("GET /5 HTTP/1.1"), with("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"), "5\r\nhello\r\n0\r\n\r\n"},
		{line("HEAD /6 HTTP/1.1"), with("X: y", ""), ""},
		{"GET /7 HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", hello, "hello"},
		{"HEAD /8 HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", with("Transfer-Encoding: chunked", ""), ""},
		{line("GET /9 HTTP/1.1"), "HTTP/1.1 100 Continue\r\n\r\n" + hello, "hello"},
		{"GET /10 HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", with("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"), "hello"},
	} {
		client.say(c.request)
		if server == nil {
			server = accept()
		}
		if m := judged(t, server); !strings.HasPrefix(m.start, c.request[:strings.Index(c.request, " HTTP/")]) {
			t.Fatalf("%d: the server gets %v", i, m)
		}
		server.say(c.answer)
		asked, _, _ := requests(c.request, true)
		final(t, client, asked[0], c.body)
	}
	client.wantEnd() // the last was of no told length
}

// TestWhatNobodyAskedForIsNobodys has servers say more than they were asked
// for: with the answer, and while the connection is idle. The next client gets
// its own answer, over another connection.
func TestWhatNobodyAskedForIsNobodys(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, addr := start(t, settings(l.Addr().String()), Options{})
	c := &cutter{t: t, proxy: p}
	asked := message{method: "GET", minor: 1}
	const poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
	for _, now := range []bool{true, false} {
		client := dialRaw(t, addr)
		ask := func() *raw {
			client.say(line("GET / HTTP/1.1"))
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			server := newRaw(t, conn)
			server.head()
			return server
		}
		server := ask()
		if now {
			server.say(hello + poison)
			final(t, client, asked, "hello")
		} else {
			server.say(hello)
			final(t, client, asked, "hello")
			server.say(poison)
		}
		c.settle()
		server = ask()
		server.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nright")
		final(t, client, asked, "right")
		server.Close()
	}
}

// TestAnEndBeforeABodyIsWhole has the client end its side while an earlier
// request is answered: what is missing of the next one's body never comes.
func TestAnEndBeforeABodyIsWhole(t *testing.T) {
	s := newStage(t)
	c := settings(s.addr)
	c.Upstreams[0].Keepalive, c.Timeouts.Body = 0, 0
	_, addr := start(t, c, Options{})
	for _, part := range []string{"", "ab"} {
		for _, request := range []string{post("Content-Length: 3", part), chunked("3\r\n" + part)} {
			s.next(says(hello))
			answer, err := say(t, addr, line("GET / HTTP/1.1")+request)
			list, rest, bad := answers(answer, []message{{method: "GET", minor: 1}}, err == nil)
			if bad != nil || rest != "" || len(list) != 1 || list[0].body != "hello" {
				t.Errorf("%q: %q (%v, %v)", request, answer, err, bad)
			}
			if got := s.got(t, true); len(got) != 1 {
				t.Errorf("%q arrives as %q", request, got)
			}
		}
	}
}
