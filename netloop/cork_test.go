//go:build linux

package netloop

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sends is how many packets with data the connection has sent: one for each
// system call, as long as they are small and the peer reads.
func (c *Conn) sends(t *testing.T) uint32 {
	t.Helper()
	info, err := unix.GetsockoptTCPInfo(int(c.fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		t.Error(err)
		return 0
	}
	return info.Data_segs_out
}

// writePieces writes "head, body. " in pieces, corked.
func writePieces(c *Conn) {
	c.Cork()
	c.Write([]byte("head"))
	c.Writev([][]byte{[]byte(", "), nil, []byte("body")})
	c.Cork()
	c.Write([]byte(". "))
}

const pieces = "head, body. "

// What is written corked goes out in one piece at the end of the turn, from
// wherever it is written, and nothing is said of it.
func TestCork(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		var conn *Conn
		h := &funcs{
			open:  func(c *Conn) { conn = c },
			drain: func(*Conn) { t.Error("OnDrain of what was not pending") },
		}
		writes := func(c *Conn) {
			before := c.sends(t)
			writePieces(c)
			if n := c.sends(t) - before; n != 0 || c.Pending() != 0 || c.writeTime != 0 {
				t.Errorf("in the turn: %d packets, %d bytes pending", n, c.Pending())
			}
		}
		h.timeout = writes
		h.data = func(c *Conn, in []byte) int { writes(c); writes(c); return len(in) }
		r := start(t, Options{Wait: w, WriteTimeout: time.Minute}, all(h))
		c := r.dial()
		c.send("x")
		c.expect(pieces + pieces)
		timer := Timer{Func: func() { writes(conn) }}
		for _, from := range []struct {
			name string
			do   func(l *Loop)
			want string
		}{
			{"an event", nil, pieces + pieces},
			{"a posted function", func(*Loop) { writes(conn) }, pieces},
			{"a timer", func(l *Loop) { l.Arm(&timer, 0) }, pieces},
			{"an alarm", func(l *Loop) { l.SetAlarm(0, func() { writes(conn) }) }, pieces},
			{"a deadline", func(*Loop) { conn.SetDeadline(1) }, pieces},
			{"a turn that is given", func(*Loop) { writes(conn); conn.Again() }, pieces},
		} {
			var before uint32
			r.on(0, func(l *Loop) { before = conn.sends(t) })
			if from.do == nil {
				c.send("x")
			} else {
				r.on(0, from.do)
			}
			c.expect(from.want)
			r.on(0, func(*Loop) {
				if n := conn.sends(t) - before; n != 1 {
					t.Errorf("from %s: %d packets", from.name, n)
				}
				if conn.corked || conn.writeTime != 0 {
					t.Errorf("from %s: still corked: %v", from.name, conn.corked)
				}
				before := conn.sends(t)
				conn.Write([]byte("at once"))
				if n := conn.sends(t) - before; n != 1 {
					t.Errorf("after %s: %d packets at once", from.name, n)
				}
			})
			c.expect("at once")
		}
	})
}

// Another connection's handler writes to one that has its turn later.
func TestCorkOther(t *testing.T) {
	var one, other *Conn
	h := &funcs{
		open: func(c *Conn) { one, other = other, c },
		data: func(c *Conn, in []byte) int { writePieces(one); writePieces(other); return len(in) },
	}
	r := start(t, Options{}, all(h))
	a, b := r.dial(), r.dial()
	until(t, "both are open", func() (is bool) {
		r.on(0, func(*Loop) { is = one != nil })
		return is
	})
	a.send("x")
	a.expect(pieces)
	b.expect(pieces)
	r.on(0, func(*Loop) {
		if n := one.sends(t) + other.sends(t); n != 2 {
			t.Errorf("%d packets", n)
		}
	})
}

// What is written on a connection that does not stand yet is pending, corked or
// not, and the cork ends.
func TestCorkWhileDialling(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	d := newDialled()
	d.open = func(c *Conn) { writePieces(c) }
	drained := make(chan bool, 10)
	d.drain = func(c *Conn) { drained <- true }
	conn := r.dialFrom(r.listeners[0].Addr(), d, time.Minute, func(c *Conn) {
		writePieces(c)
		if n := c.Pending(); n != len(pieces) {
			t.Errorf("%d bytes pending", n)
		}
	})
	got := ""
	for len(got) < 2*len(pieces) {
		got += wait(t, "the echo", d.seen)
	}
	wait(t, "OnDrain", drained)
	r.turns(2)
	r.on(0, func(*Loop) {
		if n := conn.sends(t); n != 1 || got != pieces+pieces || len(drained) != 0 {
			t.Errorf("%d packets, %q, OnDrain %d times more", n, got, len(drained))
		}
		conn.Close()
	})
	wait(t, "OnClose", d.why)

	r.dialFrom(deaf(t), d, time.Minute, func(c *Conn) { writePieces(c) })
	r.jump(61 * time.Second)
	if reason := wait(t, "OnClose", d.why); reason != unix.ETIMEDOUT {
		t.Errorf("the reason is %v", reason)
	}
}

// Each end of a connection comes behind what was corked, or loses it as it
// loses the rest.
func TestCorkAndTheEnd(t *testing.T) {
	why := make(chan error, 1)
	for _, c := range []struct {
		name string
		do   func(c *Conn)
		want string
	}{
		{"close", func(c *Conn) { writePieces(c); c.Close() }, pieces},
		{"close, then more", func(c *Conn) { c.Close(); writePieces(c) }, pieces},
		{"finish", func(c *Conn) { c.Cork(); c.Write([]byte("head, ")); c.Finish([][]byte{[]byte("body"), []byte(". ")}) }, pieces},
		{"finish what is large", func(c *Conn) { writePieces(c); c.Finish([][]byte{make([]byte, corkMost)}) }, pieces + string(make([]byte, corkMost))},
		{"shut", func(c *Conn) { writePieces(c); c.CloseWrite() }, pieces},
	} {
		name := c.name
		for _, posted := range []bool{false, true} {
			var conn *Conn
			data := c.do
			if posted {
				data = func(c *Conn) { conn = c }
			}
			r := start(t, Options{}, all(&funcs{
				data:  func(c *Conn, in []byte) int { data(c); return len(in) },
				drain: func(*Conn) { t.Error("OnDrain") },
				close: func(c *Conn, reason error) {
					if writePieces(c); c.out.bytes != 0 {
						t.Errorf("%s: %d bytes are kept in OnClose", name, c.out.bytes)
					}
					why <- reason
				},
			}))
			client := r.dial()
			client.send("x")
			if posted {
				until(t, "it is open", func() (is bool) {
					r.on(0, func(*Loop) { is = conn != nil })
					return is
				})
				r.on(0, func(*Loop) { c.do(conn) })
			}
			client.expect(c.want)
			client.expectEnd()
			client.Close()
			if reason := wait(t, c.name, why); reason != nil {
				t.Errorf("%s: the reason is %v", c.name, reason)
			}
			r.stop()
		}
	}

	r := start(t, Options{}, all(&funcs{
		data:  func(c *Conn, in []byte) int { writePieces(c); c.Abort(); writePieces(c); return len(in) },
		close: func(c *Conn, reason error) { writePieces(c); why <- reason },
	}))
	client := r.dial()
	client.send("x")
	client.expectReset()
	if reason := wait(t, "OnClose", why); reason != ErrAborted {
		t.Errorf("the reason is %v", reason)
	}
}

// The last packet of what was corked says that it is the last.
func TestCorkFinishes(t *testing.T) {
	var packets []uint32
	r := start(t, Options{}, all(&funcs{data: func(c *Conn, in []byte) int {
		writePieces(c)
		c.Close()
		return len(in)
	}}))
	for range times(8) {
		c := r.dial()
		raw, _ := c.SyscallConn()
		count := func() (info *unix.TCPInfo) {
			_ = raw.Control(func(fd uintptr) { info, _ = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
			return info
		}
		before := count()
		c.send("x")
		c.expect(pieces)
		c.expectEnd()
		packets = append(packets, count().Segs_in-before.Segs_in)
		c.Close()
	}
	if slices.Min(packets) > 2 { // an acknowledgement of the question may come alone
		t.Errorf("an answer and its end came in %d packets", packets)
	}
}
