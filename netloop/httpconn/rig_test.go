//go:build linux

package httpconn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"redoubt/netloop"
)

// patience is how long a test waits for what has to come.
const patience = 3 * time.Second

// rig is a loop for a test, with a server on it or without. When the test ends,
// all connections must have ended, and everything must have been given back.
type rig struct {
	t      testing.TB
	group  *netloop.Group
	loop   *netloop.Loop
	addr   netip.AddrPort
	server *Server
}

func newRig(t testing.TB, n netloop.Options, o ServerOptions, open func(*Session) Handler) *rig {
	t.Helper()
	files := openFiles(t)
	group, err := netloop.New(n)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, group: group, loop: group.Loops()[0]}
	r.server = NewServer(r.loop, o, open)
	listener, err := group.Listen("127.0.0.1:0", r.server.Accept)
	if err != nil {
		t.Fatal(err)
	}
	r.addr = listener.Addr()
	idle := group.Memory().Stats().Live.Bytes // the loop's own
	ended := make(chan error)
	go func() { ended <- group.Run() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		live := int64(-1)
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if live = group.Memory().Stats().Live.Bytes; group.Conns() == 0 && live <= idle { // less: the group has ended
				break
			}
		}
		if live > idle {
			t.Errorf("%d bytes of the slab were not given back: %v", live-idle, group.Memory().Leaks())
		}
		if err := group.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
		if n := r.server.sessions.Stats().Live; n != 0 {
			t.Errorf("%d sessions were not given back: %v", n, r.server.sessions.Leaks())
		}
		for end := time.Now().Add(patience); openFiles(t) > files && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if n := openFiles(t); n > files {
			t.Errorf("%d descriptors were not closed", n-files)
		}
	})
	return r
}

func handle(h Handler) func(*Session) Handler { return func(*Session) Handler { return h } }

// openFiles counts descriptors, without those that the runtime opens once.
func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && len(target) > 7 && target[:7] == "socket:" {
			n++
		}
	}
	return n
}

// do runs f on the loop's thread, and waits for it.
func (r *rig) do(f func()) {
	done := make(chan struct{})
	r.loop.Post(func() { f(); close(done) })
	<-done
}

// settled returns when the loop has seen all that was sent before. On loopback
// that is in the receiver's socket when the write returns; the loop asks for
// events before it runs what was posted, but may have asked already when the
// first function arrives.
func (r *rig) settled() {
	for range 2 {
		r.do(func() {})
	}
}

// until waits for something to come true on the loop.
func (r *rig) until(what string, f func() bool) {
	r.t.Helper()
	ok := false
	for end := time.Now().Add(patience); !ok; {
		if r.do(func() { ok = f() }); !ok && time.Now().After(end) {
			r.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// peer is a raw connection to the rig's server.
type peer struct {
	*net.TCPConn
	t      testing.TB
	failed error // the last write: it takes a reset away from the next read
}

func (r *rig) dial() *peer { return r.dialFor(r.t) }

// dialFor is for a test within the rig's.
func (r *rig) dialFor(t testing.TB) *peer {
	c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(r.addr))
	if err != nil {
		t.Fatal(err)
	}
	return newPeer(t, c)
}

func newPeer(t testing.TB, c *net.TCPConn) *peer {
	_ = c.SetDeadline(time.Now().Add(patience))
	p := &peer{TCPConn: c, t: t}
	t.Cleanup(func() { c.Close() })
	return p
}

func (p *peer) send(s string) {
	p.t.Helper()
	if _, err := p.Write([]byte(s)); err != nil {
		p.t.Fatalf("write: %v", err)
	}
}

// expect reads exactly what is wanted.
func (p *peer) expect(want string) {
	p.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(p, got)
	if err != nil || string(got) != want {
		p.t.Fatalf("got %q (%v)\nwant %q", got[:n], err, want)
	}
}

// expectEnd reads the connection's end, and nothing before it.
func (p *peer) expectEnd() {
	p.t.Helper()
	if rest, err := io.ReadAll(p); err != nil || len(rest) > 0 {
		p.t.Fatalf("got %q (%v), want the end", rest, err)
	}
	p.Close()
}

func (p *peer) expectReset() {
	p.t.Helper()
	if rest, err := io.ReadAll(p); !errors.Is(errors.Join(err, p.failed), syscall.ECONNRESET) {
		p.t.Fatalf("got %q (%v), want a reset", rest, err)
	}
	p.Close()
}

// expectSilence wants nothing to come, nor the end.
func (p *peer) expectSilence() {
	p.t.Helper()
	_ = p.SetReadDeadline(time.Now().Add(3 * time.Millisecond))
	var b [100]byte
	if n, err := p.Read(b[:]); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatalf("got %q (%v), want silence", b[:n], err)
	}
	_ = p.SetReadDeadline(time.Now().Add(patience))
}

// origin accepts connections for a Client's test.
type origin struct {
	*net.TCPListener
	t testing.TB
}

func newOrigin(t testing.TB) *origin {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &origin{l, t}
}

func (o *origin) accept() *peer { return o.acceptFor(o.t) }

func (o *origin) acceptFor(t testing.TB) *peer {
	_ = o.SetDeadline(time.Now().Add(patience))
	c, err := o.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	return newPeer(t, c)
}

func (o *origin) addr() netip.AddrPort { return o.Addr().(*net.TCPAddr).AddrPort() }

// pattern is a body that shows where something is missing or doubled.
func pattern(n int) []byte {
	b := bytes.Repeat([]byte("0123456789abcdef\n"), n/17+1)[:n]
	for i := 0; i < n; i += 64 {
		b[i] = byte('A' + i/64%26)
	}
	return b
}
