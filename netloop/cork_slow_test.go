//go:build linux

package netloop

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A peer that takes little gets all, large writes do not pile up, and OnDrain
// comes once for what was pending, whether it was corked or not.
func TestCorkToSlowReader(t *testing.T) {
	text := []byte(pattern(16 << 20))
	for _, c := range []struct {
		name  string
		write func(c *Conn)
	}{
		{"at once", func(c *Conn) { c.Cork(); c.Write(text) }},
		{"in small pieces", func(c *Conn) {
			c.Cork()
			for rest := text; len(rest) > 0; rest = rest[1024:] {
				c.Write(rest[:1024])
			}
		}},
		{"in large ones", func(c *Conn) {
			c.Cork()
			for rest := text; len(rest) > 0; rest = rest[1<<20:] {
				c.Writev([][]byte{rest[:100], rest[100:200_000], rest[200_000 : 1<<20]})
			}
		}},
		{"behind what is pending", func(c *Conn) {
			c.Write(text[:15<<20])
			c.Cork()
			c.Write(text[15<<20:])
		}},
		{"before what is not corked", func(c *Conn) {
			c.Cork()
			c.Write(text[:100])
			c.uncork()
			c.Write(text[100:])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			drained := make(chan bool, 10)
			pending := 0
			r := start(t, Options{}, all(&funcs{
				data: func(conn *Conn, in []byte) int { c.write(conn); pending = conn.Pending(); return len(in) },
				drain: func(c *Conn) {
					if c.Pending() != 0 {
						t.Error("OnDrain with output pending")
					}
					drained <- true
				},
			}))
			client := r.dial()
			client.send("x")
			r.turns(3)
			r.on(0, func(*Loop) {
				if pending < 1<<20 {
					t.Errorf("%d bytes pending", pending)
				}
			})
			client.expect(string(text))
			wait(t, "OnDrain", drained)
			r.turns(3)
			if len(drained) != 0 {
				t.Error("OnDrain came twice")
			}
		})
	}
}

// What the turns of a connection do with corked output, one by one: each send
// makes a record.
func TestCorkTurns(t *testing.T) {
	r := start(t, Options{WriteTimeout: time.Minute}, all(echo()))
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	buf := make([]byte, 1<<20)
	expect := func(want string) {
		t.Helper()
		n, err := unix.Read(pair[1], buf)
		if got := string(buf[:max(n, 0)]); got != want {
			t.Errorf("got %q, %v; want %q", cut([]byte(got)), err, cut([]byte(want)))
		}
	}
	r.on(0, func(l *Loop) {
		drains := 0
		c := l.newConn(int32(pair[0]))
		c.handler = &funcs{
			data:  func(c *Conn, in []byte) int { writePieces(c); return len(in) },
			drain: func(c *Conn) { drains++ },
		}
		state := func(what string, pending, wantDrains int, another bool) {
			t.Helper()
			if c.Pending() != pending || drains != wantDrains || c.queued != another || (c.writeTime != 0) != (pending > 0) {
				t.Errorf("%s: %d bytes pending until %d, OnDrain %d times, another turn: %v", what, c.Pending(), c.writeTime, drains, c.queued)
			}
		}
		_, _ = unix.Write(pair[1], []byte("x"))
		c.service()
		state("corked in its turn", 0, 0, false)
		expect(pieces)

		c.Cork() // before its turn: what it writes then goes along
		c.Write([]byte("early, "))
		state("corked before its turn", 0, 0, true)
		_, _ = unix.Write(pair[1], []byte("x"))
		c.readable = true
		l.serviceReady()
		state("after that", 0, 0, false)
		expect("early, " + pieces)

		records := 0
		for ; c.writable; records++ { // until the peer takes no more
			c.Cork()
			c.Write([]byte(pieces))
			l.serviceReady()
		}
		state("refused at the end of a turn", len(pieces), 0, false)
		c.Cork()
		c.Write([]byte(pieces))
		state("corked behind that", 2*len(pieces), 0, true)
		l.serviceReady()
		for range records - 1 {
			expect(pieces)
		}
		c.happened(unix.EPOLLOUT)
		c.Write([]byte("more"))
		expect("") // nothing: it has to wait
		c.Cork()
		l.serviceReady()
		state("taken at the end of a turn", 0, 0, true)
		expect(pieces + pieces + "more")
		l.serviceReady()
		state("one turn on", 0, 1, false)
		c.Abort()
	})
}

// Corked output that the peer does not take is under WriteTimeout.
func TestCorkTimeout(t *testing.T) {
	why := make(chan error, 1)
	r := start(t, Options{WriteTimeout: time.Minute}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			c.Cork()
			for range 16 << 10 {
				c.Write(make([]byte, 1024))
			}
			return len(in)
		},
		close: func(c *Conn, reason error) { why <- reason },
	}))
	c := r.dial()
	c.send("x")
	c.expect("\x00")
	r.turns(3)
	r.jump(61 * time.Second)
	if reason := wait(t, "OnClose", why); reason != ErrSlowReader {
		t.Errorf("the reason is %v", reason)
	}
}

// The peer of corked output may be gone.
func TestCorkToNobody(t *testing.T) {
	why := make(chan error, 1)
	r := start(t, Options{}, all(&funcs{
		data:  func(c *Conn, in []byte) int { writePieces(c); c.PauseRead(); return len(in) },
		drain: func(*Conn) { t.Error("OnDrain of what was lost") },
		close: func(c *Conn, reason error) { why <- reason },
	}))
	release := r.hold(0)
	c := r.dial()
	c.send("x")
	c.reset()
	release()
	if reason := wait(t, "OnClose", why); !errors.Is(reason, unix.ECONNRESET) && !errors.Is(reason, unix.EPIPE) {
		t.Errorf("the reason is %v", reason)
	}
}

// Corks at any place change nothing of what arrives, and Pending keeps its
// promise: OnDrain follows.
func TestCorksMixed(t *testing.T) {
	const rounds = 40
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	text := []byte(pattern(200_000))
	var want bytes.Buffer
	left := rounds
	var turn func(c *Conn)
	turn = func(c *Conn) {
		if left == 0 {
			return
		}
		for range rnd.IntN(60) {
			n := rnd.IntN([]int{100, 5000, len(text)}[rnd.IntN(3)])
			k := rnd.IntN(n + 1)
			want.Write(text[:n])
			switch rnd.IntN(5) {
			case 0:
				c.Cork()
				c.Write(text[:n])
			case 1:
				c.Writev([][]byte{text[:k], nil, text[k:n]})
			case 2:
				c.Write(text[:k])
				c.Cork()
				c.Writev([][]byte{nil, text[k:n], nil})
			default:
				c.Write(text[:n])
			}
		}
		if left--; left == 0 {
			c.Close()
			return
		}
		if c.Pending() == 0 {
			c.Loop().Post(func() { turn(c) })
		}
	}
	r := start(t, Options{}, all(&funcs{
		data:  func(c *Conn, in []byte) int { turn(c); return len(in) },
		drain: turn,
	}))
	c := r.dial()
	_ = c.SetReadBuffer(64 << 10)
	c.send("x")
	var got strings.Builder
	buf := make([]byte, 100_000)
	for {
		n, err := c.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			break
		}
	}
	r.on(0, func(*Loop) {
		if got.String() != want.String() || left != 0 {
			t.Errorf("%d of %d bytes have come, %d turns left; seed %d", got.Len(), want.Len(), left, seed)
		}
	})
}
