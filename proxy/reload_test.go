//go:build linux

package proxy

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/config"
	"redoubt/proxy/rewrite"
)

// generation are settings whose answers tell which they are.
func generation(t testing.TB, n int, servers ...string) *config.Config {
	t.Helper()
	c := settings(servers...)
	rules, err := rewrite.Compile(rewrite.Options{Set: []rewrite.Field{{Name: "X-Generation", Value: strconv.Itoa(n)}}}, rewrite.Response)
	if err != nil {
		t.Fatal(err)
	}
	c.Routes[0].Response = rules
	return c
}

func generationOf(r *http.Response) int {
	n, _ := strconv.Atoi(r.Header.Get("X-Generation"))
	return n
}

// reload must go well.
func reload(t testing.TB, p *Proxy, c *config.Config) {
	t.Helper()
	if err := p.Reload(c); err != nil {
		t.Fatal(err)
	}
}

// While requests come all the time, none fails, no connection is closed, and
// those that come after Reload has returned meet the new rules.
func TestReloadUnderLoad(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := run(t, generation(t, 0, s.addr), Options{Workers: 2})
	var current atomic.Int64
	var over atomic.Bool
	var asked atomic.Int64
	var group sync.WaitGroup
	for range 6 {
		c := connect(t, addr) // one for all its requests
		group.Go(func() {
			for !over.Load() {
				least := current.Load()
				r, body, err := c.ask("GET /x", "")
				if err != nil || r.StatusCode != 200 || body != "x" || r.Close {
					t.Errorf("%v %q %v", r, body, err)
					return
				}
				if n := generationOf(r); n < int(least) {
					t.Errorf("a request that came after the %dth reload meets the rules of the %dth", least, n)
					return
				}
				asked.Add(1)
			}
		})
	}
	for i := 1; i <= 50; i++ {
		before := asked.Load()
		reload(t, p, generation(t, i, s.addr))
		current.Store(int64(i))
		eventually(t, "requests flow", func() bool { return asked.Load() >= before+12 || t.Failed() })
	}
	over.Store(true)
	group.Wait()
	if n := metric(t, p, `requests_total{route="all",code="200"}`); int64(n) != asked.Load() {
		t.Errorf("%v requests are counted, of %d", n, asked.Load())
	}
	if n := int64(len(s.seen())); n != asked.Load() {
		t.Errorf("the server has seen %d requests, of %d", n, asked.Load())
	}
	if ever, _ := s.opened(); ever > 2*6 {
		t.Errorf("%d connections to the server for 6 clients", ever)
	}
}

// What cannot be changed, or is no good, changes nothing.
func TestReloadRejected(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := run(t, generation(t, 1, s.addr), Options{})
	client := connect(t, addr)
	for _, change := range []func(*config.Config){
		func(c *config.Config) { c.Listen = []string{"127.0.0.1:1"} },
		func(c *config.Config) { c.Admin = "127.0.0.1:1" },
		func(c *config.Config) { c.Log = &config.Log{File: "-", Format: "json"} },
		func(c *config.Config) { c.Limits.Connections = 7 },
		func(c *config.Config) { c.Limits.Memory = 7 << 20 },
		func(c *config.Config) { c.Timeouts.Write = 7 * time.Second },
	} {
		c := generation(t, 2, nobody(t))
		change(c)
		was := p.plan
		if err := p.Reload(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
		if p.plan != was {
			t.Errorf("what was rejected is in force: %+v", c)
		}
		if r, _, err := client.ask("GET /x", ""); err != nil || r.StatusCode != 200 || generationOf(r) != 1 {
			t.Errorf("%v %v", r, err)
		}
	}
}

// A tunnel goes on, whatever becomes of its route and its server.
func TestReloadTunnel(t *testing.T) {
	s := play(t, "", switches(echo))
	c := settings(s.addr)
	c.Routes[0].Upgrade = true
	p, addr := run(t, c, Options{})
	client := upgrade(t, addr, "")
	client.echoes(t, "before")
	next := play(t, "", func(c *scriptedConn) { c.serve("x") })
	reload(t, p, settings(s.addr))
	client.echoes(t, "no upgrades")
	reload(t, p, settings(next.addr))
	client.echoes(t, "no server")
	connect(t, addr).want(t, 200, "GET /x", upgradeFields)
	client.CloseWrite()
	client.ends(t)
}

// A server that the new configuration does not have gets nothing more: its idle
// connections close, and what is under way ends.
func TestReloadRemovesServer(t *testing.T) {
	release := make(chan struct{})
	old := play(t, local(1), func(c *scriptedConn) {
		for r := c.request(); r != nil; r = c.request() {
			if r.URL.Path == "/slow" {
				<-release
			}
			c.say(answerOf("old"))
		}
	})
	next := play(t, local(2), func(c *scriptedConn) { c.serve("new") })
	p, addr := run(t, settings(old.addr), Options{})
	slow, quick := connect(t, addr), connect(t, addr)
	slow.send("GET /slow", "")
	eventually(t, "it is there", func() bool { return old.count("GET /slow") == 1 })
	quick.want(t, 200, "GET /quick", "")
	reload(t, p, settings(next.addr))
	eventually(t, "the idle connection closes", func() bool { _, now := old.opened(); return now == 1 })
	if _, body, err := quick.ask("GET /quick", ""); err != nil || body != "new" {
		t.Errorf("%q %v", body, err)
	}
	close(release)
	if _, body, err := slow.answer("GET"); err != nil || body != "old" {
		t.Errorf("%q %v", body, err)
	}
	eventually(t, "the other closes as well", func() bool { _, now := old.opened(); return now == 0 })
	if _, body, err := slow.ask("GET /quick", ""); err != nil || body != "new" {
		t.Errorf("%q %v", body, err)
	}
	reload(t, p, settings(old.addr)) // and back
	if _, body, err := slow.ask("GET /quick", ""); err != nil || body != "old" {
		t.Errorf("%q %v", body, err)
	}
}

// A request whose server goes while it is being connected to ends all the same.
func TestReloadWhileDialling(t *testing.T) {
	c := settings(blackHole(t, "127.0.0.1:0"), nobody(t))
	c.Upstreams[0].Dial = 300 * time.Millisecond
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := run(t, c, Options{})
	client := connect(t, addr)
	client.send("POST /x", "Content-Length: 2\r\n\r\nab")
	eventually(t, "it is under way", func() bool { return p.plan.upstreams[0].origins[0].open.Load() == 1 })
	reload(t, p, settings(s.addr))
	if r, _, err := client.answer("POST"); err != nil || r.StatusCode < 502 || r.StatusCode > 504 {
		t.Errorf("%v %v", r, err)
	}
	connect(t, addr).want(t, 200, "GET /x", "")
}

// Fewer idle connections may be kept than there are.
func TestReloadKeepalive(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Upstreams[0].Ready = 5
	p, addr := run(t, c, Options{})
	eventually(t, "connections stand", func() bool { _, now := s.opened(); return now == 5 })
	c = settings(s.addr)
	c.Upstreams[0].Keepalive = 2
	reload(t, p, c)
	eventually(t, "some have closed", func() bool { _, now := s.opened(); return now == 2 })
	connect(t, addr).want(t, 200, "GET /x", "")
}

// However often, nothing grows.
func TestReloadManyTimes(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	var n names
	n.set("127.0.0.1")
	with := func(i int) *config.Config {
		c := generation(t, i, s.addr, "shop.example:"+portOf(t, s.addr))
		c.Upstreams[0].Ready = 2
		c.Upstreams[0].Health = &config.Health{Path: "/health", Every: time.Millisecond, Timeout: time.Second}
		return c
	}
	p, addr := runWith(t, with(0), Options{Workers: 2}, func(p *Proxy) { p.lookup = n.lookup })
	client := connect(t, addr)
	times := func(count int) (routines int, heap uint64) {
		for i := range count {
			reload(t, p, with(i))
			if r, _, err := client.ask("GET /x", ""); err != nil || r.StatusCode != 200 || generationOf(r) != i {
				t.Fatal(r, err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	routines, heap := times(20)
	after, more := times(200)
	t.Logf("%d and %d goroutines, %d and %d bytes", routines, after, heap, more)
	if after > routines+30 { // the server's, and those of checks under way
		t.Errorf("%d goroutines, and after 200 more %d", routines, after)
	}
	if more > heap+2<<20 {
		t.Errorf("%d bytes, and after 200 more %d", heap, more)
	}
	var idle int
	for _, w := range p.workers {
		onLoop(w, func() {
			for _, o := range p.plan.upstreams[0].origins {
				idle += len(o.pools[w.index].idle)
			}
		})
	}
	if idle > 2*2*2+2 {
		t.Errorf("%d idle connections, of 2 loops to 2 servers with 2 each", idle)
	}
}

// Whoever comes last wins, on all loops.
func TestReloadConcurrently(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := run(t, generation(t, 0, s.addr), Options{Workers: 2})
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 20 {
				if err := p.Reload(generation(t, i, s.addr)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	client := connect(t, addr)
	for range 100 {
		client.want(t, 200, "GET /x", "")
	}
	group.Wait()
	for _, w := range p.workers {
		onLoop(w, func() {
			if w.plan != p.plan {
				t.Errorf("loop %d has another plan", w.index)
			}
		})
	}
}

// Before Run a configuration is taken; after the end none matters. Neither
// hangs, nor leaves anything behind.
func TestReloadBeforeAndAfter(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := runWith(t, generation(t, 1, nobody(t)), Options{Workers: 2}, func(p *Proxy) {
		reload(t, p, generation(t, 2, s.addr))
	})
	client := connect(t, addr)
	if r, _, err := client.ask("GET /x", ""); err != nil || r.StatusCode != 200 || generationOf(r) != 2 {
		t.Errorf("%v %v", r, err)
	}
	client.Close()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	routines := runtime.NumGoroutine()
	for range 20 {
		c := generation(t, 3, s.addr)
		c.Upstreams[0].Health = &config.Health{Path: "/health", Every: time.Millisecond, Timeout: time.Second}
		p.Reload(c)
	}
	eventually(t, "nobody is left who looks after the servers", func() bool { return runtime.NumGoroutine() <= routines })
	before := s.count("GET /health")
	time.Sleep(20 * time.Millisecond)
	if n := s.count("GET /health"); n != before {
		t.Error("the servers of a proxy that has ended are still asked whether they are well")
	}
	p.Healthy()
}

// A proxy that was never run can be given another configuration, and shut
// down, in any order.
func TestReloadNeverRun(t *testing.T) {
	for order := range 2 {
		p, err := New(settings(nobody(t)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if i == order {
				reload(t, p, settings(nobody(t)))
			} else if err := p.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if err := p.Run(); err != nil {
			t.Error(err)
		}
		if err := p.Reload(settings(nobody(t))); err != nil {
			t.Log(err)
		}
	}
}
