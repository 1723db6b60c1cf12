//go:build linux

package netloop

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// dialled is what a handler of a dialled connection has heard.
type dialled struct {
	funcs
	seen chan string
	why  chan error
}

func newDialled() *dialled {
	d := &dialled{seen: make(chan string, 10), why: make(chan error, 10)}
	d.open = func(c *Conn) { d.seen <- "open" }
	d.data = func(c *Conn, in []byte) int { d.seen <- string(in); return len(in) }
	d.close = func(c *Conn, reason error) { d.why <- reason }
	return d
}

func (r *rig) dialFrom(addr netip.AddrPort, h Handler, d time.Duration, then ...func(*Conn)) (conn *Conn) {
	r.on(0, func(l *Loop) {
		conn = l.Dial(addr, h, d)
		for _, f := range then {
			f(conn)
		}
	})
	return conn
}

func TestDial(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		r := start(t, Options{Wait: w}, all(echo()))
		to := r.listeners[0].Addr()
		d := newDialled()
		// What is written before the connection stands goes out then, and what
		// is shut is shut behind it.
		r.dialFrom(to, d, time.Minute, func(c *Conn) {
			c.Write([]byte("early "))
			c.Writev([][]byte{[]byte("and "), nil, []byte("late")})
			c.CloseWrite()
			if n := c.Pending(); n != 14 {
				t.Errorf("%d bytes pending", n)
			}
		})
		if got := wait(t, "OnOpen", d.seen); got != "open" {
			t.Fatalf("got %q", got)
		}
		got := ""
		for len(got) < 14 {
			got += wait(t, "the echo", d.seen)
		}
		if got != "early and late" {
			t.Errorf("got %q", got)
		}
		if reason := wait(t, "OnClose", d.why); reason != nil {
			t.Errorf("the reason is %v", reason)
		}
	})
}

// closedPort is where nobody listens.
func closedPort(t *testing.T) netip.AddrPort {
	fd := rawSocket(t)
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	return nameOf(t, fd)
}

// Where dialling fails OnClose comes alone, and never from inside Dial.
func TestDialFails(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	for _, c := range []struct {
		to   netip.AddrPort
		want error
	}{
		{closedPort(t), unix.ECONNREFUSED},
		{netip.MustParseAddrPort("255.255.255.255:1"), unix.ENETUNREACH}, // known at once
	} {
		d := newDialled()
		r.dialFrom(c.to, d, time.Minute, func(c *Conn) {
			c.Write(make([]byte, 1000))
			if len(d.why) != 0 {
				t.Error("OnClose came inside of Dial")
			}
		})
		if reason := wait(t, "OnClose", d.why); !errors.Is(reason, c.want) && reason == nil {
			t.Errorf("%v: the reason is %v", c.to, reason)
		}
		if len(d.seen) != 0 {
			t.Errorf("%v: the handler has heard %q", c.to, <-d.seen)
		}
	}
}

// No system call of Dial may end with a handler being called inside of it,
// whichever fails.
func TestDialWithoutDescriptors(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	d := newDialled()
	r.on(0, func(l *Loop) {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
		none := limit
		none.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &none)
		l.Dial(r.listeners[0].Addr(), d, 0)
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)

		ep := l.ep // where epoll takes no more
		l.ep = l.wake
		l.Dial(r.listeners[0].Addr(), d, 0)
		l.ep = ep
		if len(d.why) != 0 {
			t.Error("OnClose came inside of Dial")
		}
	})
	if reason := wait(t, "OnClose", d.why); reason != unix.EMFILE {
		t.Errorf("the reason is %v", reason)
	}
	if reason := wait(t, "OnClose", d.why); reason != unix.EINVAL {
		t.Errorf("the reason is %v", reason)
	}
}

// deaf is an address whose listener has no room for another connection.
func deaf(t *testing.T) netip.AddrPort {
	t.Helper()
	fd := rawSocket(t)
	t.Cleanup(func() { unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		c := rawSocket(t)
		t.Cleanup(func() { unix.Close(c) })
		_ = unix.SetNonblock(c, true)
		_ = unix.Connect(c, sa)
	}
	return nameOf(t, fd)
}

// The time to dial counts whatever else is set meanwhile, and nothing that is
// for the time after counts before.
func TestDialTimeout(t *testing.T) {
	to := deaf(t)
	r := start(t, Options{WriteTimeout: time.Second}, all(echo()))
	d := newDialled()
	conn := r.dialFrom(to, d, time.Minute, func(c *Conn) {
		c.Write([]byte("x"))
		c.SetDeadline(time.Hour)
		c.SetDeadline(0)
	})
	r.jump(59 * time.Second)
	r.on(0, func(*Loop) {
		if len(d.why) != 0 || !conn.connecting {
			t.Fatal("it was given up too early, or stands")
		}
	})
	r.jump(2 * time.Second)
	if reason := wait(t, "OnClose", d.why); reason != unix.ETIMEDOUT {
		t.Errorf("the reason is %v", reason)
	}

	// A deadline is the handler's affair also now.
	timeouts := 0
	d.timeout = func(c *Conn) { timeouts++; c.Abort() }
	r.dialFrom(to, d, time.Hour, func(c *Conn) { c.SetDeadline(time.Minute) })
	r.jump(61 * time.Second)
	if reason := wait(t, "OnClose", d.why); reason != ErrAborted || timeouts != 1 {
		t.Errorf("the reason is %v after %d time-outs", reason, timeouts)
	}
}

// What was written before the connection stood is under WriteTimeout from then
// on.
func TestDialSlowReader(t *testing.T) {
	fd := rawSocket(t) // whose connections nobody accepts, and that hold little
	defer unix.Close(fd)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 5)); err != nil {
		t.Fatal(err)
	}
	r := start(t, Options{WriteTimeout: time.Minute}, all(echo()))
	d := newDialled()
	r.dialFrom(nameOf(t, fd), d, 0, func(c *Conn) { c.Write(make([]byte, 16<<20)) })
	wait(t, "OnOpen", d.seen)
	r.turns(3)
	r.jump(61 * time.Second)
	if reason := wait(t, "OnClose", d.why); reason != ErrSlowReader {
		t.Errorf("the reason is %v", reason)
	}
}

// Close and Abort before the connection stands end it without OnOpen, also
// where the event that it stands has come already.
func TestCloseWhileDialling(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	for _, ready := range []bool{false, true} {
		for _, want := range []error{nil, ErrAborted} {
			d := newDialled()
			r.on(0, func(l *Loop) {
				c := l.Dial(r.listeners[0].Addr(), d, 0)
				c.Write([]byte("lost"))
				if want == nil {
					c.Close()
				} else {
					c.Abort()
				}
				if ready {
					c.happened(unix.EPOLLOUT)
				}
			})
			if reason := wait(t, "OnClose", d.why); reason != want {
				t.Errorf("the reason is %v, want %v", reason, want)
			}
			if len(d.seen) != 0 {
				t.Errorf("the handler has heard %q", <-d.seen)
			}
		}
	}
}

// A connection to itself, as one may get that dials a port of its own machine
// where nobody listens, is none.
func TestDialSelf(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	fd := rawSocket(t)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	sa, _ := unix.Getsockname(fd)
	if err := unix.Connect(fd, sa); err != nil {
		t.Fatal(err)
	}
	_ = unix.SetNonblock(fd, true)
	d := newDialled()
	r.on(0, func(l *Loop) {
		c := l.newConn(int32(fd))
		c.handler, c.connecting = d, true
		c.readable, c.writable = false, false
		c.register()
	})
	if reason := wait(t, "OnClose", d.why); reason != unix.ECONNREFUSED {
		t.Errorf("the reason is %v", reason)
	}
}

// Who dials anew in OnClose does so as long as the loop lives.
func TestDialInOnClose(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		n := 0
		r := start(t, Options{Wait: w}, all(&funcs{
			data: func(c *Conn, in []byte) int { c.Abort(); return len(in) },
		}))
		to := r.listeners[0].Addr()
		enough := make(chan bool)
		var last error
		f := &funcs{open: func(c *Conn) { c.Write([]byte("x")) }}
		f.close = func(c *Conn, reason error) {
			last = reason
			if n++; n == 50 {
				close(enough)
			}
			c.Loop().Dial(to, f, 0)
		}
		f.shutdown = func(*Conn) {}
		r.dialFrom(to, f, 0)
		wait(t, "many dials", enough)
		if err := r.shutdown(20 * time.Millisecond); err != ErrCut {
			t.Errorf("Shutdown: %v", err)
		}
		if err := wait(t, "Run", r.ran); err != nil {
			t.Errorf("Run: %v", err)
		}
		if last != ErrCut {
			t.Errorf("the last reason is %v", last)
		}
	})
}
