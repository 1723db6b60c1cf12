//go:build linux

package netloop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Each kind of connection ends in its way, and Shutdown waits for all.
func TestShutdown(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		answer := pattern(1 << 20)
		busy := make(chan *Conn, 1)
		opened := make(chan bool, 10)
		told := make(chan string, 10)
		r := start(t, Options{Wait: w}, func(*Conn) Handler {
			kind := "idle"
			return &funcs{
				open: func(*Conn) { opened <- true },
				data: func(c *Conn, in []byte) int {
					kind = string(in)
					switch kind {
					case "busy":
						busy <- c
					case "paused":
						c.PauseRead()
					case "lingering":
						c.Close()
					}
					opened <- true
					return len(in)
				},
				shutdown: func(c *Conn) {
					told <- kind
					if kind != "busy" {
						c.Close()
					}
				},
			}
		})
		clients := make(map[string]*client)
		for _, kind := range []string{"idle", "busy", "paused", "lingering"} {
			c := r.dial()
			wait(t, "OnOpen", opened)
			if kind != "idle" {
				c.send(kind)
				wait(t, "OnData", opened)
			}
			clients[kind] = c
		}
		clients["lingering"].expectEnd()
		done := make(chan error, 1)
		go func() { done <- r.shutdown(patience) }()
		for range 3 {
			wait(t, "OnShutdown", told)
		}
		clients["idle"].expectEnd()
		clients["paused"].expectEnd()
		clients["idle"].Close()
		clients["paused"].Close()
		r.turns(3)
		select {
		case err := <-done:
			t.Fatalf("Shutdown has not waited for the busy one: %v", err)
		default:
		}
		c := wait(t, "the busy connection", busy)
		r.loops[0].Post(func() { c.Write([]byte(answer)); c.Close() })
		clients["busy"].expect(answer)
		clients["busy"].expectEnd()
		clients["busy"].Close()
		if err := wait(t, "Shutdown", done); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := wait(t, "Run", r.ran); err != nil {
			t.Errorf("Run: %v", err)
		}
		if len(told) != 0 {
			t.Errorf("a connection %q was told once more", <-told)
		}
		if err := r.shutdown(0); err != nil {
			t.Errorf("Shutdown after the end: %v", err)
		}
	})
}

// When the time is over what is left is cut, visibly; but an answer that was
// given whole, and is still being read, is not.
func TestShutdownCuts(t *testing.T) {
	answer := pattern(30_000)
	why := make(chan error, 10)
	r := start(t, Options{}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			c.Write([]byte(answer))
			if string(in) == "whole" {
				c.Close()
			}
			return len(in)
		},
		shutdown: func(*Conn) {},
		close:    func(c *Conn, reason error) { why <- reason },
	}))
	// One has no room for the whole answer: the system has the rest.
	small := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 1) })
	}}
	dialled, err := small.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	stuck, whole := r.dial(), &client{dialled.(*net.TCPConn), t}
	stuck.send("part")
	stuck.expect(answer)
	whole.send("whole")
	if reason := wait(t, "OnClose", why); reason != nil {
		t.Errorf("the reason is %v", reason)
	}
	whole.send("more")
	if err := r.shutdown(20 * time.Millisecond); err != ErrCut {
		t.Errorf("Shutdown: %v", err)
	}
	if reason := wait(t, "OnClose", why); reason != ErrCut {
		t.Errorf("the reason is %v", reason)
	}
	if err := wait(t, "Run", r.ran); err != nil {
		t.Errorf("Run: %v", err)
	}
	stuck.expectReset()
	whole.expect(answer)
	whole.expectEnd()
	if _, err := net.Dial("tcp", r.addr); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("dialling after the end: %v", err)
	}
}

// What waits in the accept queue when Shutdown begins is served, even if there
// may be no more connections at that time.
func TestShutdownServesQueue(t *testing.T) {
	for _, c := range []struct{ maxConns, queued int }{{0, 10}, {1, 10}, {0, 2 * acceptBudget}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := start(t, Options{MaxConns: c.maxConns}, all(&funcs{
				data:     func(c *Conn, in []byte) int { c.Write(in); c.Close(); return len(in) },
				shutdown: func(*Conn) {},
			}))
			release := r.hold(0)
			var clients []*client
			for range c.queued {
				c := r.dial()
				clients = append(clients, c)
			}
			done := make(chan error, 1)
			go func() { done <- r.shutdown(patience) }()
			until(t, "Shutdown has begun", func() bool { return r.loops[0].Draining() })
			release()
			for _, c := range clients {
				c.send("x")
				c.expect("x")
				c.expectEnd()
				c.Close()
			}
			if err := wait(t, "Shutdown", done); err != nil {
				t.Error(err)
			}
		})
	}
}

// Under load, of all connections that were established before Shutdown none is
// reset, and each gets its answer.
func TestShutdownUnderLoad(t *testing.T) {
	const clients, answerSize = 8, 3000
	answer := pattern(answerSize)
	for _, loops := range []int{1, 2} {
		t.Run(fmt.Sprint(loops), func(t *testing.T) {
			for round := range times(16) {
				r := start(t, Options{Loops: loops, Wait: Wait(round % 4 / 3)}, all(&funcs{
					data:     func(c *Conn, in []byte) int { c.Write([]byte(answer)); c.Close(); return len(in) },
					shutdown: func(*Conn) {}, // the request is still to come
				}))
				var served atomic.Int64
				var running sync.WaitGroup
				for range clients {
					running.Add(1)
					go func() {
						defer running.Done()
						dialer := net.Dialer{Timeout: 40 * time.Millisecond}
						for {
							c, err := dialer.Dial("tcp", r.addr)
							if err != nil {
								if !r.loops[0].Draining() {
									continue // the machine had no time
								}
								return // refused, or not answered: never established
							}
							_ = c.SetDeadline(time.Now().Add(patience))
							if _, err := c.Write([]byte("GET")); err != nil {
								t.Errorf("cannot ask: %v", err)
							}
							got, err := io.ReadAll(c)
							if string(got) != answer || err != nil {
								t.Errorf("%d of %d bytes and %v", len(got), len(answer), err)
							}
							c.Close()
							served.Add(1)
						}
					}()
				}
				until(t, "there is load", func() bool { return served.Load() > 50 })
				if err := r.shutdown(patience); err != nil {
					t.Errorf("Shutdown: %v", err)
				}
				if err := wait(t, "Run", r.ran); err != nil {
					t.Errorf("Run: %v", err)
				}
				running.Wait()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// A dialled connection that comes to stand while the loop drains is told, and
// may close at once.
func TestShutdownWhileDialling(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	other := start(t, Options{}, all(echo()))
	var log []string
	done := make(chan bool)
	h := &funcs{
		open:     func(c *Conn) { log = append(log, "open"); c.Write([]byte("x")) },
		data:     func(c *Conn, in []byte) int { return len(in) },
		shutdown: func(c *Conn) { log = append(log, "shutdown"); c.Close() },
		close:    func(c *Conn, reason error) { log = append(log, fmt.Sprint("close ", reason)); close(done) },
	}
	release := r.hold(0)
	r.loops[0].Post(func() { r.loops[0].Dial(other.listeners[0].Addr(), h, 0) }) // before it is told to drain
	ended := make(chan error, 1)
	go func() { ended <- r.shutdown(patience) }()
	until(t, "Shutdown has begun", func() bool { return r.loops[0].Draining() })
	release()
	wait(t, "OnClose", done)
	if err := wait(t, "Shutdown", ended); err != nil {
		t.Error(err)
	}
	if s := fmt.Sprint(log); s != "[open shutdown close <nil>]" {
		t.Errorf("the handler has heard %s", s)
	}
}

// A group may be shut down before it runs, and while Run begins.
func TestShutdownBeforeRun(t *testing.T) {
	files := openFiles(t)
	for i := range times(40) {
		g, err := New(Options{Loops: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Listen("127.0.0.1:0", all(echo())); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		ran := make(chan error, 1)
		if i%2 == 0 {
			go func() { ran <- g.Run() }()
		}
		if err := g.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if i%2 != 0 {
			go func() { ran <- g.Run() }()
		}
		if err := wait(t, "Run", ran); err != nil {
			t.Errorf("Run: %v", err)
		}
		g.Close()
		cancel()
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d descriptors are left", n-files)
	}
}

// While the group ends a peer may not linger long.
func TestShutdownHurries(t *testing.T) {
	closed := make(chan error, 1)
	r := start(t, Options{}, all(&funcs{
		data:  func(c *Conn, in []byte) int { c.Close(); return len(in) },
		close: func(c *Conn, reason error) { closed <- reason },
	}))
	r.dial().send("x")
	wait(t, "OnClose", closed)
	done := make(chan error, 1)
	go func() { done <- r.shutdown(patience) }()
	until(t, "Shutdown has begun", func() bool { return r.loops[0].Draining() })
	r.turns(2)
	r.on(0, func(l *Loop) {
		for _, c := range l.conns {
			if c != nil && c.deadline-l.now > int64(hurryTime) {
				t.Errorf("it may linger for another %v", time.Duration(c.deadline-l.now))
			}
		}
	})
	if err := wait(t, "Shutdown", done); err != nil {
		t.Error(err)
	}
}

// Where nobody listens one quiet look ends the group, and it is never quiet
// while a handler that has lost its connection dials anew.
func TestShutdownWithoutListeners(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		server := start(t, Options{}, all(&funcs{open: func(c *Conn) { c.Write([]byte("x")) }}))
		to := server.listeners[0].Addr()
		g, err := New(Options{Loops: 2, Wait: w})
		if err != nil {
			t.Fatal(err)
		}
		if n := g.quietTicks(); n != 1 {
			t.Errorf("it has to be quiet for %d ticks", n)
		}
		if n := server.quietTicks(); n <= 1 {
			t.Errorf("with a listener it has to be quiet for %d ticks", n)
		}
		ran := make(chan error, 1)
		go func() { ran <- g.Run() }()
		opened := make(chan bool, 10)
		left := 5
		h := &funcs{
			open:     func(c *Conn) { opened <- true },
			data:     func(c *Conn, in []byte) int { return 0 },
			shutdown: func(c *Conn) { c.Abort() },
		}
		h.close = func(c *Conn, reason error) {
			if reason != ErrAborted {
				t.Errorf("the reason is %v, with %d to dial", reason, left)
			}
			if left--; left > 0 {
				time.Sleep(5 * time.Millisecond) // some looks long
				c.Loop().Dial(to, h, 0)
			}
		}
		g.loops[1].Post(func() { g.loops[1].Dial(to, h, 0) })
		wait(t, "OnOpen", opened)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := wait(t, "Run", ran); err != nil || left != 0 {
			t.Errorf("Run: %v, %d not dialled", err, left)
		}
	})
}
