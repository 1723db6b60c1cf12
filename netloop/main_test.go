//go:build linux

package netloop

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a test waits for what must happen. Nothing is measured
// by it.
const patience = 20 * time.Second

func TestMain(m *testing.M) {
	// The runtime opens descriptors of its own with the first socket.
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close()
	}
	os.Exit(m.Run())
}

// funcs is a Handler made of functions. Those that are nil do what most do.
type funcs struct {
	open     func(*Conn)
	data     func(c *Conn, in []byte) int // nil: takes all
	end      func(*Conn)                  // nil: Close
	drain    func(*Conn)
	timeout  func(*Conn)
	shutdown func(*Conn) // nil: Close
	close    func(*Conn, error)
}

func (f *funcs) OnOpen(c *Conn) {
	if f.open != nil {
		f.open(c)
	}
}

func (f *funcs) OnData(c *Conn, in []byte) int {
	if f.data != nil {
		return f.data(c, in)
	}
	return len(in)
}

func (f *funcs) OnEnd(c *Conn) {
	if f.end != nil {
		f.end(c)
		return
	}
	c.Close()
}

func (f *funcs) OnDrain(c *Conn) {
	if f.drain != nil {
		f.drain(c)
	}
}

func (f *funcs) OnTimeout(c *Conn) {
	if f.timeout != nil {
		f.timeout(c)
	}
}

func (f *funcs) OnShutdown(c *Conn) {
	if f.shutdown != nil {
		f.shutdown(c)
		return
	}
	c.Close()
}

func (f *funcs) OnClose(c *Conn, reason error) {
	if f.close != nil {
		f.close(c, reason)
	}
}

// all has every connection handled by h.
func all(h Handler) func(*Conn) Handler { return func(*Conn) Handler { return h } }

func echo() *funcs {
	return &funcs{data: func(c *Conn, in []byte) int { c.Write(in); return len(in) }}
}

// rig is a running group with one listener.
type rig struct {
	*Group
	t    *testing.T
	addr string
	ran  chan error // what Run has returned
}

// start runs a group. At the test's end it is shut down, and must leave no
// block of memory, descriptor or goroutine behind.
func start(t *testing.T, o Options, accept func(*Conn) Handler) *rig {
	t.Helper()
	files, routines := openFiles(t), runtime.NumGoroutine()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ls, err := g.Listen("127.0.0.1:0", accept)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Group: g, t: t, addr: ls.Addr().String(), ran: make(chan error, 1)}
	go func() { r.ran <- g.Run() }()
	for i := range g.loops {
		r.on(i, func(*Loop) {})
	}
	t.Cleanup(func() {
		r.stop()
		until(t, "all descriptors are closed", func() bool { return openFiles(t) <= files })
		until(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= routines })
	})
	return r
}

// stop ends the group, in order unless a test has ended it before.
func (r *rig) stop() {
	r.t.Helper()
	select {
	case <-r.ended:
	default:
		r.idle()
		if err := r.shutdown(patience); err != nil {
			r.t.Errorf("Shutdown: %v", err)
		}
		if err := <-r.ran; err != nil {
			r.t.Errorf("Run: %v", err)
		}
	}
}

func (r *rig) shutdown(d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return r.Shutdown(ctx)
}

// idle waits until no connection is left, and checks that all memory is back
// but the loops' scratch.
func (r *rig) idle() {
	r.t.Helper()
	until(r.t, "no connection is left", func() bool {
		n := 0
		for i := range r.loops {
			r.on(i, func(l *Loop) {
				for _, c := range l.conns {
					if c != nil && !c.lingering {
						n++
					}
				}
			})
		}
		return n == 0
	})
	for _, l := range r.loops {
		if held := r.Memory().Stats().Live.Bytes; held != int64(len(r.loops))*scratchSize {
			r.t.Errorf("loop %d: %d bytes are held without a connection", l.index, held)
		}
	}
}

// on runs f on a loop's thread and waits for its end.
func (r *rig) on(loop int, f func(*Loop)) {
	r.t.Helper()
	l := r.loops[loop]
	done := make(chan struct{})
	l.Post(func() { f(l); close(done) })
	wait(r.t, "a posted function", done)
}

// hold keeps a loop busy until the returned function is called: what happens
// meanwhile is seen in one go.
func (r *rig) hold(loop int) (release func()) {
	held, gate := make(chan struct{}), make(chan struct{})
	r.loops[loop].Post(func() { close(held); <-gate })
	wait(r.t, "the loop to be held", held)
	return func() { close(gate) }
}

// jump has the clock of a group with one loop go forward.
func (r *rig) jump(d time.Duration) {
	for _, d := range [...]time.Duration{d, 2 * tick} { // once late, input is looked at, and again a tick later
		r.on(0, func(l *Loop) { l.group.begin = l.group.begin.Add(-d) })
		r.turns(2)
	}
}

// turns waits for some iterations of the first loop.
func (r *rig) turns(n int) {
	for range n {
		r.on(0, func(*Loop) {})
	}
}

// dial returns a client that is closed at the test's end.
func (r *rig) dial() *client {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &client{c.(*net.TCPConn), r.t}
}

type client struct {
	*net.TCPConn
	t *testing.T
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) expect(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		c.t.Fatalf("got %q (%d bytes, %v), want %q", cut(got[:n]), n, err, cut([]byte(want)))
	}
}

// expectEnd wants no more to come, and an end in order.
func (c *client) expectEnd() {
	c.t.Helper()
	if more, err := io.ReadAll(c); err != nil || len(more) != 0 {
		c.t.Fatalf("%d more bytes (%q) and %v, want the end", len(more), cut(more), err)
	}
}

func (c *client) expectReset() {
	c.t.Helper()
	if _, err := io.Copy(io.Discard, c); !errors.Is(err, unix.ECONNRESET) {
		c.t.Fatalf("the connection ends with %v, want a reset", err)
	}
}

// reset closes with a reset.
func (c *client) reset() {
	_ = c.SetLinger(0)
	c.Close()
}

func cut(b []byte) []byte { return b[:min(len(b), 200)] }

// wait waits for a channel to be closed or to yield.
func wait[T any](t *testing.T, what string, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		stacks := make([]byte, 64<<10)
		t.Fatalf("waiting in vain for %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
	return v
}

// until asks again and again.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("waiting in vain until %s", what)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// bothWaits runs a test in each Wait mode.
func bothWaits(t *testing.T, f func(t *testing.T, w Wait)) {
	t.Run("block", func(t *testing.T) { f(t, Block) })
	t.Run("busy", func(t *testing.T) { f(t, Busy) })
}

// pattern is n bytes that are the same in no two places near each other.
func pattern(n int) string {
	var s strings.Builder
	s.Grow(n + 8)
	for x := uint64(1); s.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		for i := range 8 {
			s.WriteByte(byte(x >> (8 * i)))
		}
	}
	return s.String()[:n]
}

// times is how often a test repeats what fails only now and then.
func times(n int) int {
	if testing.Short() {
		return max(n/4, 1)
	}
	return n
}
