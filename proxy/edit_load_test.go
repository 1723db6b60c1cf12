//go:build linux

package proxy

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/body"
	"redoubt/proxy/config"
	"redoubt/proxy/subst"
)

// heap is how much is in use, without what nobody has any more.
func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestManyLargeBodies has thirty-two bodies of 5 MB go through thirty rules at once, to
// clients that stop in the middle. What the proxy keeps of them does not depend on how
// long they are.
func TestManyLargeBodies(t *testing.T) {
	bodies, size := 32, 5<<20
	if testing.Short() || instrumented {
		bodies, size = 8, 1<<20
	}
	t.Run("plain", func(t *testing.T) { manyLarge(t, bodies, size, "") })
	t.Run("coded", func(t *testing.T) { manyLarge(t, bodies, size/3, "gzip") }) // which takes longer
}

func manyLarge(t *testing.T, bodies, size int, coding string) {
	rules := thirty(t)
	text := mixed(rand.New(rand.NewPCG(1, 2)), 64<<10) + "\n" + strings.Repeat("<p>and so on and so forth, é</p>\n", 2000)
	text = strings.Repeat(text, size/len(text)+1)
	want := offline(t, &body.Options{Rules: rules}, text)
	sum := crc32.ChecksumIEEE([]byte(want))
	answer, takes := []byte(page("", text)), ""
	if coding != "" {
		answer, takes = []byte(page("Content-Encoding: "+coding, coderOf(coding).encode(text))), "Accept-Encoding: "+coding+"\r\n"
	}
	s := play(t, "", func(c *scriptedConn) {
		for c.request() != nil {
			c.Write(answer)
		}
	})
	const ofCoded = 12 << 20 // seven or so at once
	c := rewriting(s.addr, rules...)
	c.Upstreams[0].Keepalive, c.Limits.CodedMemory = 64, ofCoded
	c.Timeouts.Write, c.Timeouts.Idle, c.Timeouts.Response = longWait, longWait, longWait
	p, addr := run(t, c, Options{Workers: 2})
	connect(t, addr).want(t, 200, "GET /warm", takes)
	before := heap()
	var clients []*client
	for range bodies {
		c := connect(t, addr)
		c.SetReadBuffer(16 << 10)
		c.send("GET /x", takes)
		clients = append(clients, c)
	}
	eventually(t, "all are under way", func() bool { return s.count("GET /x") >= bodies })
	watch := func(when string) {
		pool, now := p.codings.Stats(), heap()-before
		t.Logf("%s: %d bytes live, %d more in the heap, %+v", when, live(p), now, pool)
		if n := live(p); n > int64(bodies)*weKeep {
			t.Errorf("%s: %d bodies hold %d bytes of buffers", when, bodies, n)
		}
		if pool.Memory > ofCoded {
			t.Errorf("%s: coded bodies may take %d bytes, of %d", when, pool.Memory, ofCoded)
		}
		if now > 16<<20+ofCoded {
			t.Errorf("%s: %d bytes more are in the heap", when, now)
		}
	}
	time.Sleep(100 * time.Millisecond) // all buffers fill
	watch("while nobody reads")
	var group sync.WaitGroup
	var out atomic.Int64
	for _, c := range clients {
		group.Go(func() {
			defer c.Close()
			r, err := http.ReadResponse(c.in, nil)
			if err != nil {
				t.Error(err)
				return
			}
			in := io.Reader(r.Body)
			if coding != "" {
				if in, err = coderOf(coding).reader(in); err != nil {
					t.Error(err)
					return
				}
			}
			h := crc32.NewIEEE()
			n, err := io.Copy(counting{h, &out}, in)
			if err != nil || n != int64(len(want)) || h.Sum32() != sum {
				t.Errorf("%d bytes come, want %d (%v)", n, len(want), err)
			}
		})
	}
	eventually(t, "half has come", func() bool { return out.Load() > int64(bodies)*int64(size)/2 || t.Failed() })
	watch("half-way")
	group.Wait()
	over(t, p)
}

// A thousand routes have rules of their own, more than there is memory for at once.
func TestThousandSetsOfRules(t *testing.T) {
	routes, requests := 1000, 4000
	if testing.Short() || instrumented {
		routes, requests = 200, 400
	}
	const memory = 4 << 20
	s := play(t, "", func(c *scriptedConn) {
		for r := c.request(); r != nil; r = c.request() {
			c.say(page("", "<a href=\"https://www."+r.Host+"/x\">7 cats, 8 cats</a>"))
		}
	})
	c := rewriting(s.addr)
	c.Limits.Rules = memory
	c.Routes = nil
	for n := range routes {
		host := fmt.Sprintf("h%d.example", n)
		o := &body.Options{Name: host, Types: []string{"text/html"}, Share: 100, Rules: []subst.Rule{
			{Find: `(https?:)?//([a-z.]+\.)?h` + fmt.Sprint(n) + `\.example`, Put: fmt.Sprintf("$1//%d.shop", n), Flags: "gi"}, {Find: `\bcats?\b`, Put: "dogs", Flags: "g"},
		}}
		c.Routes = append(c.Routes, &config.Route{Name: host, Host: host, Upstream: c.Upstreams[0], ResponseBody: o})
	}
	p, addr := run(t, c, Options{Workers: 2})
	most, over := new(atomic.Int64), make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
				most.Store(max(most.Load(), int64(p.plan.shelf.Stats().Bytes)))
			}
		}
	}()
	var group sync.WaitGroup
	for g := range 8 {
		client := connect(t, addr)
		group.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			for range requests / 8 {
				n := rnd.IntN(routes)
				if rnd.IntN(2) == 0 {
					n %= 10 // some are wanted more than others
				}
				want := fmt.Sprintf("<a href=\"https://%d.shop/x\">7 dogs, 8 dogs</a>", n)
				fmt.Fprintf(client, "GET /x HTTP/1.1\r\nHost: h%d.example\r\n\r\n", n)
				if _, text, err := client.answer("GET"); err != nil || text != want {
					t.Errorf("route %d: %q %v, want %q", n, text, err, want)
					return
				}
			}
		})
	}
	group.Wait()
	close(over)
	stats := p.plan.shelf.Stats()
	t.Logf("%+v; %d bytes at most", stats, most.Load())
	if stats.Rules != routes || stats.Sets >= routes || most.Load() > memory*9/8 { // sets grow while they are used
		t.Errorf("%+v, and %d bytes at most, of %d", stats, most.Load(), memory)
	}
	if n := metric(t, p, "rule_matches_total"); int(n) != 3*requests && !t.Failed() {
		t.Errorf("%v matches are counted, of %d", n, 3*requests)
	}
}
