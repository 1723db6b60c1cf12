//go:build linux

package proxy

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"redoubt/proxy/config"
)

const cutAnswer = 0 // an answer that a client sees to be not whole

// What a server can do wrong on its first request, and what the client gets.
func TestServerFails(t *testing.T) {
	quick := func(c *config.Config) {
		c.Timeouts.Response, c.Timeouts.Idle = 200*time.Millisecond, 200*time.Millisecond
	}
	after := func(text string) part { // says so much to a request, and closes
		return func(c *scriptedConn) { c.request(); c.say(text) }
	}
	stalls := func(text string) part {
		return func(c *scriptedConn) { c.request(); c.say(text); c.untilClosed() }
	}
	for _, f := range []struct {
		name   string
		change func(*config.Config)
		part   part
		status int
		seen   int
	}{
		{"closes at once", nil, func(c *scriptedConn) {}, 502, 0},
		{"resets at once", nil, func(c *scriptedConn) { c.reset() }, 502, 0},
		{"reads and closes", nil, after(""), 502, 1},
		{"reads and resets", nil, func(c *scriptedConn) { c.request(); c.reset() }, 502, 1},
		{"dies in the status line", nil, after("HTTP/1."), 502, 1},
		{"dies in a field", nil, after("HTTP/1.1 200 OK\r\nContent-Le"), 502, 1},
		{"dies before the head's end", nil, after("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"), 502, 1},
		{"dies after 102", nil, after("HTTP/1.1 102 Processing\r\n\r\n"), 502, 1},
		{"no HTTP", nil, after("220 mail.example ESMTP\r\n\r\n"), 502, 1},
		{"two lengths", nil, after("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 502, 1},
		{"unasked 101", nil, after("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), 502, 1},
		{"head without end", nil, after("HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 64<<10)), 502, 1},
		{"silent", quick, stalls(""), 504, 1},
		{"silent in the head", quick, stalls("HTTP/1.1 200 OK\r\n"), 504, 1},
		{"sized body cut", nil, after("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), cutAnswer, 1},
		{"sized body cut before its first byte", nil, after("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), cutAnswer, 1},
		{"chunked body cut in a chunk", nil, after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n12345"), cutAnswer, 1},
		{"chunked body cut between chunks", nil, after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"), cutAnswer, 1},
		{"chunked body cut before its last line", nil, after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n"), cutAnswer, 1},
		{"bad chunk", nil, stalls("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nx\r\n"), cutAnswer, 1},
		{"body reset", nil, func(c *scriptedConn) {
			c.request()
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
			c.reset()
		}, cutAnswer, 1},
		{"silent in the body", quick, stalls("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), cutAnswer, 1},
		{"silent in a chunk", quick, stalls("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n12345"), cutAnswer, 1},
		{"more than it said", nil, stalls("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234567890"), 200, 1},
		{"more than it said, and the end", nil, after("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234567890"), 200, 1},
		{"answer and end", nil, after("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345"), 200, 1},
		{"answer up to the end", nil, after("HTTP/1.1 200 OK\r\n\r\n12345"), 200, 1},
		{"answer of 1.0 up to the end", nil, after("HTTP/1.0 200 OK\r\n\r\n12345"), 200, 1},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "", f.part)
			c := settings(s.addr)
			if f.change != nil {
				f.change(c)
			}
			p, addr := run(t, c, Options{})
			r, body, err := connect(t, addr).ask("GET /x", "")
			switch {
			case f.status == cutAnswer && (err == nil || r == nil):
				t.Errorf("the cut cannot be seen: %v, %q, %v", r, body, err)
			case f.status == cutAnswer:
			case err != nil:
				t.Errorf("no whole answer: %v", err)
			case r.StatusCode != f.status:
				t.Errorf("%s, want %d", r.Status, f.status)
			case f.status == 200 && body != "12345":
				t.Errorf("the body is %q", body)
			}
			if n := len(s.seen()); n != f.seen {
				t.Errorf("the server has seen %d requests, want %d: %q", n, f.seen, s.seen())
			}
			// What was answered is counted as what was sent, and who is to blame.
			eventually(t, "the request is counted", func() bool { return metric(t, p, "requests_total") == 1 })
			cut, fails := 0.0, 0.0
			if f.status == cutAnswer {
				cut = 1
			}
			if f.status != 200 {
				fails = 1
			}
			if got := metric(t, p, "cut_total"); got != cut {
				t.Errorf("%v answers counted as cut, want %v", got, cut)
			}
			if got := metric(t, p, "upstream_failures_total"); got != fails {
				t.Errorf("%v failures counted, want %v", got, fails)
			}
			if got := metric(t, p, "gone_total"); got != 0 {
				t.Errorf("%v clients counted that have gone, but none has", got)
			}
		})
	}
}

func TestServerRefuses(t *testing.T) {
	p, addr := run(t, settings(nobody(t)), Options{})
	c := connect(t, addr)
	for range 5 { // more than Fails: the last one is never taken out
		c.want(t, 502, "GET /x", "")
		c.want(t, 502, "POST /x", "Content-Length: 2\r\n\r\nab")
		c = connect(t, addr) // a request whose body was not looked at is a connection's last
	}
	if n := metric(t, p, "upstream_failures_total"); n != 10 {
		t.Errorf("%v failures counted, want 10", n)
	}
}

func TestServerIsABlackHole(t *testing.T) {
	c := settings(blackHole(t, "127.0.0.1:0"))
	c.Upstreams[0].Dial = 200 * time.Millisecond
	_, addr := run(t, c, Options{})
	begin := time.Now()
	connect(t, addr).want(t, 504, "GET /x", "")
	if d := time.Since(begin); d < c.Upstreams[0].Dial {
		t.Errorf("given up after %v, of %v", d, c.Upstreams[0].Dial)
	}
}

// A connection behind whose answer more has come is not used again: the rest
// would be taken for the next answer.
func TestSurplusIsNoAnswer(t *testing.T) {
	for _, later := range []bool{false, true} {
		said := make(chan struct{})
		s := play(t, "", func(c *scriptedConn) {
			if c.n > 0 {
				c.serve("second")
				return
			}
			c.request()
			const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
			if later {
				c.say(answerOf("first"))
				<-said
				c.say(forged)
			} else {
				c.say(answerOf("first") + forged)
			}
			c.untilClosed()
		})
		p, addr := run(t, settings(s.addr), Options{})
		c := connect(t, addr)
		if _, body, err := c.ask("GET /1", ""); body != "first" || err != nil {
			t.Fatalf("%q %v", body, err)
		}
		if close(said); later {
			eventually(t, "the connection closes", func() bool { return p.plan.upstreams[0].origins[0].open.Load() == 0 })
		}
		if _, body, err := c.ask("GET /2", ""); body != "second" || err != nil {
			t.Errorf("later %t: %q %v", later, body, err)
		}
		if n := s.count("GET /2"); n != 1 {
			t.Errorf("later %t: the server has seen the second request %d times", later, n)
		}
		if n := metric(t, p, "upstream_surplus_total"); !later && n != 1 {
			t.Errorf("%v connections counted", n)
		}
	}
}

// A server may answer before it has read a request, and close.
func TestAnswerBeforeTheBody(t *testing.T) {
	for _, closes := range []bool{false, true} {
		s := play(t, "", func(c *scriptedConn) {
			c.head()
			c.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
			if !closes {
				c.untilClosed()
			}
		})
		_, addr := run(t, settings(s.addr), Options{})
		for _, framing := range []string{"Content-Length: 8000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7a1200\r\n"} {
			c := connect(t, addr)
			go func() { // it ends with the connection, or all has been taken
				c.send("POST /x", framing)
				io.Copy(c, io.LimitReader(zeros{}, 8_000_000))
			}()
			r, body, err := c.answer("POST")
			if err != nil || r.StatusCode != 413 || body != "big" || !r.Close {
				t.Errorf("closes %t: %v %q %v", closes, r, body, err)
			}
			c.Close()
		}
		if n := len(s.seen()); n != 2 {
			t.Errorf("closes %t: the server has seen %d requests, want 2: %q", closes, n, s.seen())
		}
	}
}

// zeros are as many as anybody wants.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// What comes in one packet with the connection's end is not lost.
func TestDataAndEndTogether(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) {
		for c.request() != nil {
			together(t, c.Conn.(*net.TCPConn), answerOf("all of it"))
		}
	})
	_, addr := run(t, settings(s.addr), Options{})
	for range 20 {
		c := connect(t, addr)
		together(t, c.TCPConn, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
		if r, body, err := c.answer("GET"); err != nil || body != "all of it" {
			t.Fatalf("%v %q %v", r, body, err)
		}
		if n, err := c.in.ReadByte(); err != io.EOF {
			t.Fatalf("%q, %v where the end should be", n, err)
		}
	}
	if n := len(s.seen()); n != 20 {
		t.Errorf("the server has seen %d requests", n)
	}
}

// together sends data and the end as one packet, as far as the system allows.
func together(t testing.TB, c *net.TCPConn, text string) {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) }); err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, text)
	c.CloseWrite() // sends what was held back, with FIN
}

// Who has said all there is to say is still answered.
func TestHalfClosedClient(t *testing.T) {
	ask := make(chan struct{})
	s := play(t, "", func(c *scriptedConn) {
		c.request()
		<-ask
		c.say("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 1_000_000))
	})
	p, addr := run(t, settings(s.addr), Options{})
	c := connect(t, addr)
	c.send("POST /x", "Content-Length: 3\r\n\r\nabc")
	c.CloseWrite()
	eventually(t, "the server has the request", func() bool { return len(s.seen()) == 1 })
	onLoop(p.workers[0], func() {}) // the end has been read as well
	close(ask)
	if r, body, err := c.answer("POST"); err != nil || len(body) != 1_000_000 {
		t.Errorf("%v, %d bytes, %v", r, len(body), err)
	}
}
