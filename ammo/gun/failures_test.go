//go:build linux

package gun

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Every way to fail has its own name and its own net code.
func TestFailures(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
	// once does f with the first request of each connection.
	once := func(f func(c *conn, r *request)) func(*conn) {
		return func(c *conn) {
			if r := c.request(); r != nil {
				f(c, r)
			}
		}
	}
	sendAndEnd := func(text string) func(*conn) {
		return once(func(c *conn, _ *request) { c.send(text) })
	}
	sendAndHold := func(text string) func(*conn) {
		return once(func(c *conn, _ *request) { c.send(text); c.hold() })
	}
	for name, c := range map[string]struct {
		script func(*conn)
		ammo   string // default: keep
		want   string
		in     int64 // bytes of all shots; negative: not looked at
	}{
		"slow, but in time": {answering(func(*request) string { time.Sleep(50 * time.Millisecond); return ok }), "", "", int64(10 * len(ok))},
		"slower than the time-out": {once(func(c *conn, _ *request) {
			time.Sleep(500 * time.Millisecond)
			c.send(ok)
		}), "", "timeout 10", 0},
		"silent":                    {func(c *conn) { c.hold() }, "", "timeout 10", 0},
		"an answer without an end":  {sendAndHold(head + "12345"), "", "timeout 10", int64(10 * (len(head) + 5))},
		"a head without an end":     {sendAndHold("HTTP/1.1 200 OK\r\nContent-"), "", "timeout 10", 10 * 25},
		"1xx for ever":              {sendAndHold("HTTP/1.1 100 Continue\r\n\r\n"), "", "timeout 10", 10 * 25},
		"cut in the body":           {sendAndEnd(head + "12345"), "", "cut 10", int64(10 * (len(head) + 5))},
		"cut in the head":           {sendAndEnd("HTTP/1.1 200 OK\r\nContent-"), "", "cut 10", 10 * 25},
		"cut after 1xx":             {sendAndEnd("HTTP/1.1 100 Continue\r\n\r\n"), "", "cut 10", 10 * 25},
		"cut in a chunk":            {sendAndEnd("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n123"), "", "cut 10", -1},
		"cut before the last chunk": {sendAndEnd("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n123\r\n"), "", "cut 10", -1},
		"reset before a byte":       {once(func(c *conn, _ *request) { c.reset() }), "", "reset 10", 0},
		"reset within the answer": {once(func(c *conn, _ *request) {
			c.send(head + "12345")
			time.Sleep(20 * time.Millisecond)
			c.reset()
		}), "", "reset 10", int64(10 * (len(head) + 5))},
		"closed without an answer":  {once(func(*conn, *request) {}), "", "closed 10", 0},
		"not HTTP":                  {sendAndHold("SSH-2.0-OpenSSH_9.6\r\n"), "", "malformed 10", -1},
		"a malformed field":         {sendAndHold("HTTP/1.1 200 OK\r\nContent Length: 2\r\n\r\nok"), "", "malformed 10", -1},
		"two lengths":               {sendAndHold("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"), "", "malformed 10", -1},
		"a malformed chunk":         {sendAndHold("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), "", "malformed 10", -1},
		"101 unasked":               {sendAndHold("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), "", "malformed 10", -1},
		"surplus":                   {sendAndHold(ok + "!"), "", "surplus 10", int64(10 * len(ok))},
		"surplus behind HEAD":       {sendAndHold(ok), "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "surplus 10", int64(10 * (len(ok) - 2))},
		"surplus and the end":       {sendAndEnd(ok + "!"), "", "surplus 10", int64(10 * len(ok))},
		"surplus behind a last one": {sendAndEnd("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok!"), closes, "surplus 10", -1},
		"a drip": {once(func(c *conn, _ *request) {
			c.send(head)
			for range 10 {
				time.Sleep(100 * time.Millisecond)
				c.send("x")
			}
			c.hold()
		}), "", "timeout 10", -1},
		"until the end, and reset": {once(func(c *conn, _ *request) {
			c.send("HTTP/1.1 200 OK\r\n\r\n12345")
			time.Sleep(20 * time.Millisecond)
			c.reset()
		}), closes, "reset 10", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ammo == "" {
				c.ammo = keep
			}
			s := serve(t, c.script)
			summary := shoot(t, s, "const(100,100ms)", magazineOf(c.ammo), func(o *Options) {
				o.Timeout = 10 * time.Second // a neighbour may make all of this slow
				if strings.Contains(c.want, "timeout") {
					o.Timeout = 300 * time.Millisecond
				}
			})
			wantErrors(t, summary, c.want)
			if c.in >= 0 && summary.In != c.in {
				t.Errorf("%d bytes in, want %d", summary.In, c.in)
			}
			if want := 10 * len(c.ammo[strings.Index(c.ammo, "|")+1:]); summary.Out != int64(want) {
				t.Errorf("%d bytes out, want %d", summary.Out, want)
			}
			for name := range summary.Errors {
				if OutcomeText(name) == "" {
					t.Errorf("%q has no text", name)
				}
			}
			if strings.Contains(c.want, "timeout") {
				if summary.FromSent.P50 < 299e3 || summary.FromSent.Count != 10 {
					t.Errorf("they were waited for less than the time-out: %+v", summary.FromSent)
				}
			} else if c.want != "" && summary.FromSent.Count != 0 {
				t.Errorf("what failed counts as latency: %+v", summary.FromSent)
			}
		})
	}
}

// Bytes that come when nothing is outstanding are told of, and the shot before
// them was answered.
func TestStrays(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *conn) {
		for c.request() != nil {
			c.send(ok)
			time.Sleep(30 * time.Millisecond)
			c.send("stray")
		}
	})
	summary := shoot(t, s, "const(4,1500ms)", magazineOf(keep), nil)
	// A neighbour that takes the processor for 200 ms may bring a stray to
	// another shot.
	if summary.Strays < 2 || summary.Shots.Answered < 3 || summary.Opened < 3 {
		t.Errorf("%d strays on %d connections, %d answered, %v", summary.Strays, summary.Opened, summary.Shots.Answered, summary.Errors)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	summary, err := shootContext(t, t.Context(), deadPort(t), "const(100,500ms)", magazineOf(keep), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, summary, "refused 50")
	if summary.Out != 0 || summary.In != 0 || summary.FromPlanned.Count != 0 {
		t.Errorf("%d bytes out, %d in, latency %+v", summary.Out, summary.In, summary.FromPlanned)
	}
}

// A server that does not accept, and whose queue is full, drops what begins a
// connection.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	addr := fullQueue(t)
	summary, err := shootContext(t, t.Context(), addr, "const(50,200ms)", magazineOf(keep), func(o *Options) { o.Timeout = 200 * time.Millisecond })
	if err != nil {
		t.Fatal(err)
	}
	wantErrors(t, summary, "connect-timeout 10")
	if summary.Out != 0 {
		t.Errorf("%d bytes out", summary.Out)
	}
}

// A server that ends idle connections costs a connection each time, and no
// shot: the gun has heard of it before it fires again.
func TestServerClosesIdle(t *testing.T) {
	t.Parallel()
	for name, reset := range map[string]bool{"in order": false, "reset": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(c *conn) {
				if c.request() == nil {
					return
				}
				c.send(ok)
				time.Sleep(5 * time.Millisecond)
				if reset {
					c.reset()
				}
			})
			summary := shoot(t, s, "const(10,1s)", magazineOf(keep), nil)
			// A neighbour that takes the processor for 100 ms may spoil some.
			if summary.Shots.Answered < 8 || summary.Opened < 8 {
				t.Errorf("%d answered, %v, over %d connections", summary.Shots.Answered, summary.Errors, summary.Opened)
			}
		})
	}
}

// A server that says that it closes and does not is left after a while, and
// costs no shot.
func TestAnnouncesCloseAndStays(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *conn) {
		for c.request() != nil {
			c.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
		}
	})
	summary := shoot(t, s, "const(50,500ms)", magazineOf(keep), func(o *Options) { o.Instances, o.Timeout = 1, 10*time.Second })
	if summary.Shots.Answered != 25 || summary.Opened != 25 {
		t.Errorf("%+v over %d connections", summary.Shots, summary.Opened)
	}
	s.stop()
	if s.left.Load() != 25 {
		t.Errorf("the gun has left %d of 25 connections", s.left.Load())
	}
}

// Ammo that asks for the end of its connection gets it, also from a server
// that does not listen.
func TestServerIgnoresClose(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	summary := shoot(t, s, "const(50,500ms)", magazineOf(closes), func(o *Options) { o.Instances, o.Timeout = 1, 10*time.Second })
	if summary.Shots.Answered != 25 || summary.Opened != 25 || s.conns.Load() != 25 {
		t.Errorf("%+v over %d connections", summary.Shots, summary.Opened)
	}
}

// A server may answer before it has the whole request, and then take the rest,
// or not.
func TestAnswersEarly(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	record := fmt.Sprintf("long|POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
	for name, c := range map[string]struct {
		script func(*conn)
		want   string // one of the errors
	}{
		"and takes the rest": {func(c *conn) {
			for {
				if _, err := c.in.Peek(100); err != nil {
					return
				}
				c.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
				if c.request() == nil {
					return
				}
			}
		}, ""},
		"and says that it closes": {func(c *conn) {
			c.in.Peek(100)
			c.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			c.hold()
		}, ""},
		"and takes nothing more": {func(c *conn) {
			c.in.Peek(100)
			c.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
			time.Sleep(time.Second)
		}, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.script)
			summary := shoot(t, s, "const(10,500ms)", magazineOf(record), func(o *Options) {
				o.Timeout = 10 * time.Second
				if c.want != "" {
					o.Instances, o.Timeout = 1, 500*time.Millisecond
				}
			})
			if c.want == "" {
				wantErrors(t, summary, "")
				if summary.Statuses["413"] != 5 {
					t.Errorf("statuses %v", summary.Statuses)
				}
			} else if summary.Statuses["413"] == 0 || summary.Shots.Answered == 5 {
				// The first is answered, and what is sent behind its body waits.
				t.Errorf("statuses %v, errors %v, dropped %d", summary.Statuses, summary.Errors, summary.Shots.Dropped)
			}
		})
	}
}

// A large request that is read whole takes its time to be sent, and arrives.
func TestLargeRequests(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	record := fmt.Sprintf("long|POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("0123456789abcdef", size/16))
	s := serve(t, answering(func(r *request) string {
		if r.body != strings.Repeat("0123456789abcdef", size/16) {
			return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
		}
		return ok
	}))
	summary := shoot(t, s, "const(20,500ms)", magazineOf(record), func(o *Options) { o.Instances = 2; o.Timeout = 10 * time.Second })
	if summary.Statuses["200"] != 10 || summary.Out != int64(10*(len(record)-len("long|"))) {
		t.Errorf("%v %v, %d bytes out", summary.Statuses, summary.Errors, summary.Out)
	}
}

// One instance and a server that says nothing: shots wait for the connection as
// long as they would for an answer, and are dropped then.
func TestDropped(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *conn) { c.hold() })
	summary := shoot(t, s, "const(100,1s)", magazineOf(keep), func(o *Options) { o.Instances = 1; o.Timeout = 100 * time.Millisecond })
	n := summary.Shots
	if n.Planned != 100 || n.Dropped < 70 || n.TimedOut < 5 || n.Answered != 0 || n.TimedOut != n.Sent {
		t.Errorf("%+v", n)
	}
	if summary.FromPlanned.P50 < 99e3 {
		t.Errorf("dropped shots waited for less than the time-out: %+v", summary.FromPlanned)
	}
}

// deadPort is an address where nobody listens, nor will: it is taken.
func deadPort(t *testing.T) netip.AddrPort {
	t.Helper()
	_, addr := bound(t)
	return addr
}

// bound makes a socket with a port of its own.
func bound(t *testing.T) (fd int, addr netip.AddrPort) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fd, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(name.(*unix.SockaddrInet4).Port))
}

// fullQueue is the address of a listener that accepts nothing, and whose queue
// is full.
func fullQueue(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, addr := bound(t)
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := net.DialTimeout("tcp", addr.String(), 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { c.Close() })
	}
}
