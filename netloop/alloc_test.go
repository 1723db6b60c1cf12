//go:build linux

package netloop

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// rawConnect connects a blocking socket without allocating anything.
func rawConnect(t testing.TB, to unix.Sockaddr) int {
	fd := rawSocket(t)
	if err := unix.Connect(fd, to); err != nil {
		t.Fatal(err)
	}
	return fd
}

func rawEcho(t testing.TB, fd int, b []byte) {
	if _, err := unix.Write(fd, b); err != nil {
		t.Fatal(err)
	}
	for got := 0; got < len(b); {
		n, err := unix.Read(fd, b[got:])
		if n <= 0 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		got += n
	}
}

// allocations is how many each call of f makes in the whole process.
func allocations(f func()) float64 {
	return allocationsOf(func(rounds int) {
		for range rounds {
			f()
		}
	})
}

// allocationsOf is how many each round makes.
func allocationsOf(f func(rounds int)) float64 {
	const rounds = 2000
	f(rounds / 4) // warm
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f(rounds)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / rounds
}

// A warm loop makes no garbage: for a request, for one that comes in pieces,
// for a connection, for a deadline. What happens less often than every other
// time is not theirs: the runtime allocates now and then, and more Conns are
// made when the loop falls behind.
func TestAllocations(t *testing.T) {
	const noise = 0.5
	bothWaits(t, func(t *testing.T, w Wait) {
		var parts [2][]byte
		h := &funcs{
			open: func(c *Conn) { c.SetDeadline(1 << 40) },
			data: func(c *Conn, in []byte) int {
				c.SetDeadline(1 << 40)
				if len(in) < 8 {
					return 0
				}
				parts = [2][]byte{in[:3], in[3:]}
				c.Writev(parts[:])
				return len(in)
			},
		}
		r := start(t, Options{Wait: w}, all(h))
		if len(r.Memory().Leaks()) > 0 {
			t.Skip("built with slabdebug, which notes all that is taken")
		}
		to := rawAddr(r)
		fd := rawConnect(t, to)
		defer unix.Close(fd)
		// Else a second piece waits for the first one's acknowledgement.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		b := make([]byte, 8)
		if n := allocations(func() { rawEcho(t, fd, b) }); n > noise {
			t.Errorf("%v allocations for a request", n)
		}
		if n := allocations(func() {
			if _, err := unix.Write(fd, b[:4]); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(fd, b[4:]); err != nil {
				t.Fatal(err)
			}
			for got := 0; got < len(b); {
				n, err := unix.Read(fd, b[got:])
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				got += n
			}
		}); n > noise {
			t.Errorf("%v allocations for a request in pieces", n)
		}
		if n := allocations(func() {
			fd := rawConnect(t, to)
			rawEcho(t, fd, b)
			unix.Close(fd)
		}); n > noise {
			t.Errorf("%v allocations for a connection", n)
		}
	})
}

// Nor does dialling make any, whether the connection comes to stand or not.
func TestDialAllocations(t *testing.T) {
	const noise = 0.5
	bothWaits(t, func(t *testing.T, w Wait) {
		r := start(t, Options{Wait: w}, all(echo()))
		if len(r.Memory().Leaks()) > 0 {
			t.Skip("built with slabdebug, which notes all that is taken")
		}
		l := r.loops[0]
		there := true
		to := r.listeners[0].Addr()
		left := 0
		done := make(chan bool)
		message := []byte("x")
		h := &funcs{
			open: func(c *Conn) { c.Write(message) },
			data: func(c *Conn, in []byte) int { c.Close(); return len(in) },
		}
		h.close = func(c *Conn, reason error) {
			if there != (reason == nil) {
				t.Errorf("dialling %v: %v", to, reason)
			}
			if left--; left < 0 {
				done <- true
				return
			}
			l.Dial(to, h, time.Second)
		}
		dial := func(rounds int) {
			l.Post(func() { left = rounds; l.Dial(to, h, time.Second) })
			<-done
		}
		if n := allocationsOf(dial); n > noise {
			t.Errorf("%v allocations for a connection", n)
		}
		there, to = false, closedPort(t)
		if n := allocationsOf(dial); n > noise {
			t.Errorf("%v allocations for one that is refused", n)
		}
	})
}
