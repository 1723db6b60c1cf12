//go:build linux

package netloop

import (
	"io"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Where a connection ends in the middle of a batch of events, those that were
// for it reach nobody else, though a new connection has its descriptor and its
// slot.
func TestStaleEvents(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		target := start(t, Options{}, all(echo()))
		var mu sync.Mutex
		var seen []string
		var victim *Conn
		var reused bool
		dialled := func(l *Loop, fd int32, slot uint32) {
			c := l.Dial(target.listeners[0].Addr(), &funcs{
				open: func(c *Conn) { c.Write([]byte("!")) },
				data: func(c *Conn, in []byte) int {
					mu.Lock()
					defer mu.Unlock()
					seen = append(seen, string(in))
					c.Close()
					return len(in)
				},
			}, 0)
			reused = c.fd == fd && c.slot == slot
		}
		r := start(t, Options{Wait: w}, all(&funcs{
			data: func(c *Conn, in []byte) int {
				switch string(in) {
				case "victim":
					victim = c
				case "again": // of the victim, after its end
					t.Error("a connection that was aborted got data")
				case "kill":
					fd, slot := victim.fd, victim.slot
					gen := c.loop.gens[slot]
					victim.Abort()
					c.loop.serviceReady() // at once, within the batch
					dialled(c.loop, fd, slot)
					// What the batch may hold for the old one.
					e := tagged(unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLERR|unix.EPOLLHUP, uint64(slot)|uint64(gen)<<32)
					c.loop.dispatch(&e)
					if now := c.loop.conns[slot]; now == nil || now.hungUp || now.writable || now.readable {
						t.Error("a stale event has reached the new connection")
					}
				}
				return len(in)
			},
		}))
		tested := 0
		for range times(20) {
			v := r.dial()
			v.send("victim")
			until(t, "the victim is known", func() (is bool) {
				r.on(0, func(*Loop) { is = victim != nil })
				return is
			})
			k := r.dial()
			r.turns(2)
			release := r.hold(0)
			k.send("kill")
			v.send("again")
			release()
			v.expectReset()
			until(t, "the new one is served", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(seen) == 1
			})
			r.on(0, func(*Loop) {
				if reused { // another thread may have taken the descriptor meanwhile
					tested++
				}
				victim = nil
			})
			mu.Lock()
			if seen[0] != "!" {
				t.Errorf("the new connection got %q", seen)
			}
			seen = nil
			mu.Unlock()
			v.Close()
			k.Close()
		}
		if tested == 0 {
			t.Error("no new connection had the old one's descriptor and slot: nothing was tested")
		}
	})
}

// A handler that closes its neighbours sees them end, each once.
func TestCloseNeighbours(t *testing.T) {
	const n = 20
	var conns []*Conn
	ended := make(chan int, n)
	r := start(t, Options{}, func(c *Conn) Handler {
		i := len(conns)
		conns = append(conns, c)
		return &funcs{
			data: func(c *Conn, in []byte) int {
				for j, other := range conns {
					if j%2 == 0 {
						other.Abort()
					} else {
						other.Close()
					}
				}
				return len(in)
			},
			close: func(c *Conn, reason error) {
				if (reason == ErrAborted) != (i%2 == 0) {
					t.Errorf("connection %d ended with %v", i, reason)
				}
				ended <- i
			},
		}
	})
	var clients []*client
	for range n {
		clients = append(clients, r.dial())
	}
	until(t, "all are open", func() (is bool) {
		r.on(0, func(*Loop) { is = len(conns) == n })
		return is
	})
	release := r.hold(0)
	clients[n/2].send("x")
	for _, c := range clients {
		_, _ = io.WriteString(c, "y")
	}
	release()
	count := make([]int, n)
	for range n {
		count[wait(t, "OnClose", ended)]++
	}
	for i, k := range count {
		if k != 1 {
			t.Errorf("OnClose came %d times for connection %d", k, i)
		}
	}
}

// A connection that ends while it is queued for another turn keeps its object
// until then: one that comes meanwhile would cut the queue.
func TestEndWhileQueued(t *testing.T) {
	var r *rig
	fd := rawSocket(t)
	defer unix.Close(fd)
	n := 0
	r = start(t, Options{}, all(&funcs{data: func(c *Conn, in []byte) int {
		c.Again()
		switch in[0] {
		case 'a':
			if n++; n == 2 { // by now in the queue's turn
				if err := unix.Connect(fd, rawAddr(r)); err != nil {
					t.Error(err)
				}
				c.Abort()
			}
			return 0
		case 'b':
			if len(in) == 1 {
				c.Write(in)
			}
		}
		return 1
	}}))
	a, b := r.dial(), r.dial()
	a.send("") // both are accepted, in this order
	r.turns(3)
	release := r.hold(0)
	a.send("a")
	b.send("bbbbbb")
	release()
	b.expect("b")
	a.expectReset()
}
