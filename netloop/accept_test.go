//go:build linux

package netloop

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Who comes when there may be no more connections waits, and is served later.
func TestMaxConns(t *testing.T) {
	for _, loops := range []int{1, 2} {
		t.Run(fmt.Sprint(loops), func(t *testing.T) {
			const most, n = 3, 12
			r := start(t, Options{Loops: loops, MaxConns: most}, all(echo()))
			var clients []*client
			for range n {
				c := r.dial()
				c.send("x")
				clients = append(clients, c)
			}
			served := make(chan *client)
			for _, c := range clients {
				go func() {
					var b [1]byte
					if _, err := c.Read(b[:]); err != nil {
						t.Error(err)
					}
					served <- c
				}()
			}
			var open []*client
			for i := range n {
				if len(open) == most {
					select {
					case <-served:
						t.Fatal("more are served than there may be")
					case <-time.After(2 * time.Millisecond):
					}
					if have := r.Conns(); have != most {
						t.Fatalf("%d connections", have)
					}
					open[0].Close()
					open = open[1:]
				}
				open = append(open, wait(t, fmt.Sprintf("client %d to be served", i), served))
			}
		})
	}
}

// Without descriptors for new connections the loop does not spin, and goes on
// when there are some.
func TestNoDescriptors(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	first := r.dial()
	first.send("x")
	first.expect("x")

	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	fds := []int{rawSocket(t), rawSocket(t)}
	restore := func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	// Numbers below are filled, those above are not to be had.
	filled := []int{}
	for {
		fd, err := unix.Dup(fds[0])
		if err != nil {
			t.Fatal(err)
		}
		filled = append(filled, fd)
		if fd > fds[1] && fd > fds[0] {
			break
		}
	}
	lowered := limit
	lowered.Cur = uint64(filled[len(filled)-1] + 1)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lowered); err != nil {
		t.Fatal(err)
	}
	defer restore()
	defer func() {
		for _, fd := range append(fds, filled...) {
			unix.Close(fd)
		}
	}()
	to := rawAddr(r)
	for _, fd := range fds {
		if err := unix.Connect(fd, to); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(fd, []byte("y")); err != nil {
			t.Fatal(err)
		}
	}
	paused := func() (is bool) {
		r.on(0, func(l *Loop) { is = l.listening[0].paused })
		return is
	}
	until(t, "the listener is paused", paused)
	// A loop that asks again and again would use all of this time.
	const span = 200 * time.Millisecond
	before := loopTime(r)
	time.Sleep(span)
	if used := loopTime(r) - before; used > span/2 {
		t.Errorf("the loop used %v of %v", used, span)
	}
	first.send("z") // others are served meanwhile
	first.expect("z")
	restore()
	for _, fd := range fds {
		var b [1]byte
		if n, err := unix.Read(fd, b[:]); n != 1 || err != nil || b[0] != 'y' {
			t.Errorf("got %q, %v", b[:max(n, 0)], err)
		}
	}
	until(t, "the listener is not paused any more", func() bool { return !paused() })
}

// loopTime is how much processor time the loop's thread has used.
func loopTime(r *rig) (d time.Duration) {
	r.on(0, func(*Loop) {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			r.t.Error(err)
		}
		d = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	})
	return d
}

func rawSocket(t testing.TB) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// nameOf is where a socket is bound.
func nameOf(t testing.TB, fd int) netip.AddrPort {
	t.Helper()
	a, errno := localAddr(int32(fd))
	if errno != 0 {
		t.Fatal(errno)
	}
	return a.addrPort()
}

func rawAddr(r *rig) unix.Sockaddr {
	a := r.listeners[0].Addr()
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
}

// Connections that are gone before they are accepted trouble nobody.
func TestGoneBeforeAccept(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	for range times(20) {
		release := r.hold(0)
		gone := r.dial()
		gone.send("x")
		gone.reset()
		c := r.dial()
		c.send("y")
		release()
		c.expect("y")
		c.Close()
	}
}

// Whose a connection is, is known although the peer has reset it before anybody
// looked: what it has sent is read, and may be judged by that.
func TestPeerOfTheGone(t *testing.T) {
	type heard struct {
		early, late netip.AddrPort
		text        string
	}
	all := make(chan heard, 1)
	r := start(t, Options{}, func(c *Conn) Handler {
		h := heard{early: c.RemoteAddr()}
		return &funcs{
			data: func(c *Conn, in []byte) int {
				h.text += string(in)
				return len(in)
			},
			close: func(c *Conn, _ error) {
				h.late = c.RemoteAddr()
				all <- h
			},
		}
	})
	for range times(20) {
		release := r.hold(0)
		c := r.dial()
		own := c.LocalAddr().(*net.TCPAddr).AddrPort()
		c.send("x")
		c.reset()
		release()
		if h := wait(t, "OnClose", all); h.early != own || h.late != own || h.text != "x" {
			t.Fatalf("%q comes from %v, later %v, want from %v", h.text, h.early, h.late, own)
		}
	}
}

// A connection may be refused by the function that is to name its handler, and
// be closed in OnOpen.
func TestCloseAtOnce(t *testing.T) {
	n := 0
	r := start(t, Options{}, func(c *Conn) Handler {
		n++
		switch n % 3 {
		case 0:
			c.Abort()
		case 1:
			return &funcs{open: func(c *Conn) { c.Write([]byte("hello")); c.Close() }}
		}
		return &funcs{open: func(c *Conn) { c.Abort() }}
	})
	for i := 1; i < 20; i++ {
		release := r.hold(0) // a reset before the client is up would be its error
		c := r.dial()
		release()
		if i%3 == 1 {
			c.expect("hello")
			c.expectEnd()
		} else {
			c.expectReset()
		}
		c.Close()
	}
}

// Where accepting fails for good, Run says why.
func TestAcceptFails(t *testing.T) {
	files := openFiles(t)
	why := make(chan error, 1)
	r := start(t, Options{Loops: 2}, all(&funcs{
		open:  func(c *Conn) { c.Write([]byte("hello")) },
		close: func(c *Conn, reason error) { why <- reason },
	}))
	c := r.dial()
	c.expect("hello")
	fd := rawSocket(t)
	r.loops[0].Post(func() { r.loops[0].accept(&listening{Listener: r.listeners[0], fd: int32(fd)}) })
	err := wait(t, "Run", r.ran)
	unix.Close(fd)
	if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "accept on "+r.addr) {
		t.Errorf("Run: %v", err)
	}
	if reason := wait(t, "OnClose", why); !errors.Is(reason, unix.EINVAL) {
		t.Errorf("the reason is %v", reason)
	}
	c.expectReset()
	if err := r.shutdown(patience); err != nil {
		t.Errorf("Shutdown after the end: %v", err)
	}
	if err := r.Run(); err == nil {
		t.Error("a group runs twice")
	}
	c.Close()
	if n := openFiles(t); n > files {
		t.Errorf("%d descriptors are left", n-files)
	}
}
