//go:build linux

package proxy

import (
	"context"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// A server that was sick when its checks were given up is tried again: nobody
// would ever say that it is well.
func TestReloadEndsSickness(t *testing.T) {
	var checks atomic.Int64
	s := play(t, "", func(c *scriptedConn) {
		for r := c.request(); r != nil; r = c.request() {
			if r.URL.Path == "/health" {
				checks.Add(1)
				c.say("HTTP/1.1 500 Sick\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			c.say(answerOf("x"))
		}
	})
	with, without := settings(s.addr), settings(s.addr)
	with.Upstreams[0].Health = &config.Health{Path: "/health", Every: time.Millisecond, Timeout: time.Second}
	with.Upstreams[0].Fails = 1
	p, addr := run(t, with, Options{Workers: 2, Warn: func(string) {}})
	client := connect(t, addr)
	o := p.plan.upstreams[0].origins[0]
	for range 20 {
		eventually(t, "it is sick", o.sick.Load)
		client.want(t, 503, "GET /", "")
		// One loop takes the plan, the other is busy: the checks go on meanwhile.
		release := hold(t, p.workers[1])
		reloaded := make(chan error)
		go func() { reloaded <- p.Reload(without) }()
		eventually(t, "one loop has the plan", func() (is bool) {
			onLoop(p.workers[0], func() { is = p.workers[0].plan.upstreams[0].Health == nil })
			return is
		})
		before := checks.Load()
		eventually(t, "checks go on", func() bool { return checks.Load() > before+2 })
		release()
		if err := <-reloaded; err != nil {
			t.Fatal(err)
		}
		client.want(t, 200, "GET /", "")
		reload(t, p, with)
	}
}

// slowly finds a name after a while.
func slowly(context.Context, string, string) ([]netip.Addr, error) {
	time.Sleep(50 * time.Millisecond)
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// Requests do not meet a server whose name has not been looked up yet: a start
// and a reload wait for that.
func TestNameIsFoundFirst(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := runWith(t, settings("first.example:"+portOf(t, s.addr)), Options{Workers: 2}, func(p *Proxy) { p.lookup = slowly })
	client := connect(t, addr)
	client.want(t, 200, "GET /", "")
	for _, name := range []string{"second.example:", "third.example:"} {
		reloaded := make(chan error, 1)
		go func() { reloaded <- p.Reload(settings(name + portOf(t, s.addr))) }()
		for over := false; !over; {
			select {
			case err := <-reloaded:
				if err != nil {
					t.Fatal(err)
				}
				over = true
			default:
			}
			client.want(t, 200, "GET /", "") // also the one behind the reload
		}
	}
}

// A name that is not found holds nothing up for ever.
func TestNameIsNotFound(t *testing.T) {
	var n names
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := runWith(t, settings(s.addr), Options{}, func(p *Proxy) { p.lookup = n.lookup })
	client := connect(t, addr)
	client.want(t, 200, "GET /", "")
	reload(t, p, settings("none.example:"+portOf(t, s.addr)))
	client.want(t, 502, "GET /", "")
	reload(t, p, settings("none.example:"+portOf(t, s.addr), s.addr))
	client.want(t, 200, "GET /", "")
}
