//go:build linux

package proxy

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stop ends a server: nobody can connect any more, and all connections close.
func (s *scripted) stop() {
	s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

// A server that dies while requests come all the time costs no more than those
// that were on their way to it; one that comes back gets its share again.
func TestServerDiesUnderLoad(t *testing.T) {
	const clients = 8
	serve := func(c *scriptedConn) { c.serve("x") }
	servers := []*scripted{play(t, local(1), serve), play(t, local(2), serve), play(t, local(3), serve)}
	c := settings(servers[0].addr, servers[1].addr, servers[2].addr, nobody(t)) // and one that is down from the start
	c.Upstreams[0].Fails, c.Upstreams[0].Retry = 1, 50*time.Millisecond
	p, addr := run(t, c, Options{Workers: 2})
	var over atomic.Bool
	var good, bad atomic.Int64
	var group sync.WaitGroup
	for range clients {
		c := connect(t, addr)
		group.Go(func() {
			for !over.Load() {
				switch r, body, err := c.ask("GET /x", ""); {
				case err != nil:
					t.Errorf("%v %q %v", r, body, err)
					return
				case r.StatusCode == 200 && body == "x":
					good.Add(1)
				case r.StatusCode == 502:
					bad.Add(1)
				default:
					t.Error(r)
				}
			}
		})
	}
	more := func() {
		t.Helper()
		from := good.Load()
		eventually(t, "requests are answered", func() bool { return good.Load() > from+500 })
	}
	more()
	if n := bad.Load(); n != 0 {
		t.Errorf("%d requests have failed while three servers were well", n)
	}
	servers[0].stop()
	more()
	if n := bad.Load(); n > clients {
		t.Errorf("%d requests have failed, of %d that can have been under way", n, clients)
	}
	more() // each Retry one request finds out that it is still down, and goes elsewhere
	failed := bad.Load()
	if failed > clients {
		t.Errorf("%d requests have failed", failed)
	}
	again := play(t, servers[0].addr, serve)
	eventually(t, "the server gets requests again", func() bool { return len(again.seen()) > 100 })
	if n := bad.Load(); n != failed {
		t.Errorf("%d requests have failed since it is back", n-failed)
	}
	over.Store(true)
	group.Wait()
	if n := metric(t, p, "requests_total"); int64(n) != good.Load()+bad.Load() {
		t.Errorf("%v requests are counted, of %d", n, good.Load()+bad.Load())
	}
}
