//go:build linux

package netloop

import (
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Data and the end of input may come in one event: both are told.
func TestDataAndEndAtOnce(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		seen := make(chan string, 10)
		r := start(t, Options{Wait: w}, all(&funcs{
			open: func(c *Conn) { seen <- "open" },
			data: func(c *Conn, in []byte) int { seen <- string(in); return len(in) },
			end:  func(c *Conn) { seen <- "end"; c.Close() },
		}))
		expect := func(want string) {
			t.Helper()
			if got := wait(t, want, seen); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		for range times(20) {
			c := r.dial()
			expect("open")
			release := r.hold(0)
			c.send("data")
			_ = c.CloseWrite()
			release()
			expect("data")
			expect("end")

			release = r.hold(0) // the same before it is accepted
			c = r.dial()
			c.send("data")
			_ = c.CloseWrite()
			release()
			expect("open")
			expect("data")
			expect("end")
		}
	})
}

// Close never has a reset overtake the answer, whatever the peer sends before
// it has read that.
func TestCloseDoesNotTruncate(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		answer := pattern(200_000)
		finish := false
		r := start(t, Options{Wait: w}, all(&funcs{
			data: func(c *Conn, in []byte) int {
				if finish = !finish; finish {
					c.Finish([][]byte{[]byte(answer[:7]), nil, []byte(answer[7:])})
				} else {
					c.Write([]byte(answer))
					c.Close()
				}
				return 1
			},
		}))
		rubbish := pattern(100_000)
		for i := range times(60) {
			c := r.dial()
			switch i % 3 {
			case 0: // more than is read at once
				release := r.hold(0)
				c.send(rubbish)
				release()
			case 1: // more while it is being answered
				c.send("go")
				r.turns(1)
				c.send(rubbish)
			case 2: // more after it was answered and closed
				c.send("go")
				r.turns(2)
				c.send(rubbish)
				r.turns(2)
				c.send(rubbish)
			}
			r.turns(2)
			c.expect(answer)
			c.expectEnd()
			c.Close()
		}
	})
}

// A peer may not linger for ever.
func TestLingerLimits(t *testing.T) {
	lingering := func(r *rig) (c *Conn) {
		r.on(0, func(l *Loop) {
			for _, conn := range l.conns {
				if conn != nil && conn.lingering {
					c = conn
				}
			}
		})
		return c
	}
	closed := make(chan error, 10)
	r := start(t, Options{}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			c.Loop().Post(c.Close)
			return 0 // what is kept has no use any more
		},
		close: func(c *Conn, reason error) { closed <- reason },
	}))
	open := func() *client {
		c := r.dial()
		c.send("x")
		if reason := wait(t, "OnClose", closed); reason != nil {
			t.Fatalf("the reason is %v", reason)
		}
		c.expectEnd()
		r.idle()
		return c
	}

	c := open()
	sent := 0
	piece := make([]byte, 16<<10)
	for {
		n, err := c.Write(piece)
		if sent += n; err != nil {
			break
		}
		if sent > 64<<20 {
			t.Fatal("it takes rubbish without end")
		}
	}
	if sent < lingerBytes {
		t.Errorf("cut after %d bytes", sent)
	}
	until(t, "the connection is gone", func() bool { return lingering(r) == nil })

	open()
	r.jump(lingerTime - 100*time.Millisecond)
	if lingering(r) == nil {
		t.Error("it does not linger")
	}
	r.jump(100*time.Millisecond + 2*tick)
	if lingering(r) != nil {
		t.Error("it lingers longer than it may")
	}
	select {
	case <-closed:
		t.Error("OnClose came twice")
	default:
	}
}

func TestAbort(t *testing.T) {
	why := make(chan error, 1)
	r := start(t, Options{}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			c.Write(make([]byte, 8<<20))
			c.Abort()
			c.Write([]byte("more"))
			c.Close()
			return 0
		},
		drain: func(*Conn) { t.Error("OnDrain after Abort") },
		close: func(c *Conn, reason error) { why <- reason },
	}))
	c := r.dial()
	c.send("go")
	if reason := wait(t, "OnClose", why); reason != ErrAborted {
		t.Errorf("the reason is %v", reason)
	}
	c.expectReset()
}

// After Abort or Close nothing is told but OnClose, even by a deadline in the
// same iteration.
func TestNothingAfterAbort(t *testing.T) {
	var conn *Conn
	why := make(chan error, 1)
	r := start(t, Options{}, all(&funcs{
		open:     func(c *Conn) { conn = c; c.SetDeadline(time.Minute) },
		data:     func(c *Conn, in []byte) int { t.Error("OnData after Abort"); return 0 },
		timeout:  func(c *Conn) { t.Error("OnTimeout after Abort") },
		shutdown: func(c *Conn) { t.Error("OnShutdown after Abort") },
		close:    func(c *Conn, reason error) { why <- reason },
	}))
	c := r.dial()
	until(t, "it is open", func() (is bool) {
		r.on(0, func(*Loop) { is = conn != nil })
		return is
	})
	r.on(0, func(l *Loop) {
		conn.Abort()
		l.wheel.advance(l.now + int64(time.Hour))
		l.now += int64(time.Hour)
		l.wheel.arm(&conn.timer, l.now)
		l.wheel.advance(l.now + tick)
		conn.tellShutdown()
		conn.happened(unix.EPOLLIN)
	})
	if reason := wait(t, "OnClose", why); reason != ErrAborted {
		t.Errorf("the reason is %v", reason)
	}
	c.expectReset()
}

// A handler that goes on writing in OnClose reaches nobody, whoever has the
// descriptor's number by then.
func TestWriteInOnClose(t *testing.T) {
	r := start(t, Options{}, all(&funcs{
		data:    func(c *Conn, in []byte) int { c.Abort(); return 0 },
		timeout: func(c *Conn) { t.Error("OnTimeout after OnClose") },
		close: func(c *Conn, reason error) {
			c.SetDeadline(time.Nanosecond)
			c.Write(make([]byte, 1000))
			c.Writev([][]byte{make([]byte, 1000)})
			c.Close()
			if n := c.Pending(); n != 0 || c.fd >= 0 {
				t.Errorf("%d bytes pending on descriptor %d", n, c.fd)
			}
		},
	}))
	for range 3 {
		c := r.dial()
		c.send("x")
		c.expectReset()
	}
	r.jump(time.Minute)
}

// After Close nothing is told but OnClose, however long the output takes.
func TestNothingAfterClose(t *testing.T) {
	const size = 8 << 20
	var conn *Conn
	r := start(t, Options{}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			conn = c
			c.SetDeadline(time.Second)
			c.Write(make([]byte, size))
			c.Close()
			return 0
		},
		drain:    func(*Conn) { t.Error("OnDrain after Close") },
		timeout:  func(*Conn) { t.Error("OnTimeout after Close") },
		shutdown: func(*Conn) { t.Error("OnShutdown after Close") },
	}))
	c := r.dial()
	c.send("x")
	until(t, "output is pending", func() (is bool) {
		r.on(0, func(*Loop) { is = conn != nil && conn.Pending() > 0 })
		return is
	})
	r.jump(2 * time.Second)
	r.on(0, func(*Loop) { conn.tellShutdown() })
	if n, err := io.CopyN(io.Discard, c, size); err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	c.expectEnd()
}

// OnTimeout comes once for each deadline, not before it, and not for one that
// was put off or taken back.
func TestDeadline(t *testing.T) {
	var conn *Conn
	var fired int
	r := start(t, Options{}, all(&funcs{
		open:    func(c *Conn) { conn = c },
		timeout: func(c *Conn) { fired++ },
	}))
	r.dial()
	until(t, "it is open", func() (is bool) {
		r.on(0, func(*Loop) { is = conn != nil })
		return is
	})
	expect := func(d time.Duration, want int) {
		t.Helper()
		r.jump(d)
		r.on(0, func(*Loop) {
			if fired != want {
				t.Fatalf("OnTimeout came %d times, want %d", fired, want)
			}
		})
	}
	set := func(d ...time.Duration) {
		r.on(0, func(*Loop) {
			for _, d := range d {
				conn.SetDeadline(d)
			}
		})
	}
	set(time.Minute)
	expect(50*time.Second, 0)
	set(time.Minute) // put off
	expect(50*time.Second, 0)
	expect(11*time.Second, 1)
	expect(time.Hour, 1) // once
	set(time.Hour, time.Minute)
	expect(61*time.Second, 2)
	set(time.Minute, 0)
	expect(time.Hour, 2)
	set(1<<63 - 1) // for ever
	expect(24*time.Hour, 2)
	set(time.Minute)
	expect(61*time.Second, 3)
}
