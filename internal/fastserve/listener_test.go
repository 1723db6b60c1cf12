package fastserve

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// flaky fails with the errors first.
type flaky struct {
	net.Listener
	errors []error
}

func (f *flaky) Accept() (net.Conn, error) {
	if len(f.errors) > 0 {
		err := f.errors[0]
		f.errors = f.errors[1:]
		return nil, &net.OpError{Op: "accept", Err: err}
	}
	return f.Listener.Accept()
}

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Running out of descriptors passes; other errors do not.
func TestAcceptWaitsForDescriptors(t *testing.T) {
	local := listenLocal(t)
	l := newListener(&flaky{local, []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS}}, 1)
	dial(t, local.Addr().String())
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()

	l = newListener(&flaky{local, []error{syscall.EINVAL}}, 1)
	if _, err := l.Accept(); err == nil {
		t.Error("a broken listener goes on")
	}
	if len(l.slots) != 0 {
		t.Error("a failed accept keeps its slot")
	}

	// Closing ends the wait, for descriptors and for a slot.
	for _, l := range []*listener{newListener(&flaky{local, make([]error, 0)}, 0), newListener(&flaky{local, []error{syscall.EMFILE, syscall.EMFILE, syscall.EMFILE, syscall.EMFILE}}, 1)} {
		ended := make(chan error)
		go func() { _, err := l.Accept(); ended <- err }()
		time.Sleep(10 * time.Millisecond)
		l.closeOnce.Do(func() { close(l.closing) })
		select {
		case err := <-ended:
			if err != net.ErrClosed {
				t.Error(err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("Accept does not end")
		}
	}
}

// ask sends one request and returns the start of the answer.
func ask(t *testing.T, c net.Conn) string {
	t.Helper()
	io.WriteString(c, "GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n")
	b := make([]byte, 12)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Error(err)
	}
	return string(b)
}

// Above the limit connections wait, and are served when others leave, also by
// those that say nothing and never close.
func TestConnectionsWait(t *testing.T) {
	addr, _ := start(t, Options{MaxConns: 2, IdleTimeout: 300 * time.Millisecond, HeadTimeout: 300 * time.Millisecond})
	for range 6 {
		dial(t, addr) // silent, and stays open
	}
	c := dial(t, addr)
	begin := time.Now()
	if got := ask(t, c); got != "HTTP/1.1 200" {
		t.Errorf("%q", got)
	}
	if took := time.Since(begin); took > 5*time.Second { // three times the time-out, and no lingering
		t.Errorf("served after %v", took)
	}
}

// Peers that keep idle connections open do not hold up the end.
func TestShutdownWithIdlePeers(t *testing.T) {
	addr, server := start(t, Options{})
	for range 20 {
		if got := ask(t, dial(t, addr)); got != "HTTP/1.1 200" {
			t.Fatalf("%q", got)
		}
	}
	io.WriteString(dial(t, addr), "GET /users/1 HT")
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	begin := time.Now()
	err := server.Shutdown(ctx)
	// The half-sent head may use up the time to drain; the idle ones must not.
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v, %v", took, err)
	}
}

// The closing answer arrives whole although much was sent that nobody reads.
func TestNoResetEatsTheAnswer(t *testing.T) {
	addr, _ := start(t, Options{})
	for range 20 {
		c := dial(t, addr)
		body := strings.Repeat(" ", 2000)
		fmt.Fprintf(c, "POST /users/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}%s", strings.Repeat("\r\n", 5000)+body)
		time.Sleep(2 * time.Millisecond)
		all, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 200 ") || !strings.HasSuffix(string(all), "{}") {
			t.Fatalf("%q, %v", all, err)
		}
	}
}

// Workers above what processors can use are not kept.
func TestWorkersAreNotKept(t *testing.T) {
	_, server := start(t, Options{})
	for range 3000 {
		server.put(server.api.NewWorker())
	}
	if n := len(server.idle); n > 1000 {
		t.Errorf("%d idle workers", n)
	}
}

// Large answers are sent whole, to HEAD without their body, and their memory is
// given back, also where the reader goes away; more than there is room for are
// refused.
func TestLargeAnswers(t *testing.T) {
	addr, server := start(t, Options{WriteTimeout: 2 * time.Second})
	place := strings.Repeat("x", 900_000)
	c := dial(t, addr)
	post := func(target, body string) {
		t.Helper()
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", target, len(body), body)
		if got, _ := answers(t, c, "POST"); got[0] != "200 {}" {
			t.Fatal(got)
		}
	}
	post("/locations/1", `{"place":"`+place+`"}`)
	for i := range 8 {
		post("/visits/new", fmt.Sprintf(`{"id":%d,"user":1,"location":1,"visited_at":1,"mark":1}`, i))
	}
	io.WriteString(c, "GET /users/1/visits HTTP/1.1\r\nHost: x\r\n\r\n")
	got, _ := answers(t, c, "GET")
	if n := strings.Count(got[0], place); n != 8 {
		t.Errorf("%d places of 8", n)
	}
	io.WriteString(c, "HEAD /users/1/visits HTTP/1.1\r\nHost: x\r\n\r\n")
	if got, _ := answers(t, c, "HEAD"); got[0] != "200" {
		t.Errorf("HEAD: %.20s", got[0])
	}
	idle := func() {
		t.Helper()
		for range 1000 {
			if server.large.Load() == 0 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d bytes are still held", server.large.Load())
	}
	idle()
	for range 5 { // these never read
		io.WriteString(dial(t, addr), "GET /users/1/visits HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	idle()
	server.large.Store(largeBodies - 1000)
	io.WriteString(c, "GET /users/1/visits HTTP/1.1\r\nHost: x\r\n\r\n")
	if got, _ := answers(t, c, "GET"); got[0] != "503" {
		t.Errorf("without room: %.20s", got[0])
	}
	server.large.Store(0)
}

// Connections that once carried a long request do not keep its memory.
func TestIdleConnectionsAreSmall(t *testing.T) {
	addr, _ := start(t, Options{})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const n = 60
	body := strings.Repeat(" ", 900_000)
	for range n {
		c := dial(t, addr)
		fmt.Fprintf(c, "POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		if got, _ := answers(t, c, "POST"); got[0] != "400" {
			t.Fatal(got)
		}
		if got := ask(t, c); got != "HTTP/1.1 200" {
			t.Fatal(got)
		}
	}
	if grown := int64(heap() - before); grown > n*300_000 {
		t.Errorf("an idle connection keeps %d KB", grown/n>>10)
	}
}

// After Close the peer's time is the listener's: nobody prolongs it.
func TestClosedConnectionHasNoDeadlines(t *testing.T) {
	local := listenLocal(t)
	l := newListener(local, 1)
	l.hurry.Store(true)
	dial(t, local.Addr().String())
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := c.SetReadDeadline(time.Now().Add(time.Hour)); err != net.ErrClosed {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if l.empty(ctx); ctx.Err() != nil {
		t.Error("the connection lingers on")
	}
}

// Shutdown at any moment, with connections in every state.
func TestShutdownAtAnyMoment(t *testing.T) {
	for i := range 15 {
		addr, server := start(t, Options{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					c, err := net.Dial("tcp", addr)
					if err != nil {
						return
					}
					c.SetDeadline(time.Now().Add(5 * time.Second))
					io.WriteString(c, "GET /users/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n\r\n")
					all, err := io.ReadAll(c)
					c.Close()
					if err == nil && len(all) > 0 && !strings.HasSuffix(string(all), user1) {
						t.Errorf("torn: %q", all)
					}
				}
			})
		}
		time.Sleep(time.Duration(i) * 2 * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		wg.Wait()
	}
}
