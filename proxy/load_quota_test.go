//go:build linux

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Where memory runs out, who comes last is turned away, and those who were
// there before are served to their end.
func TestOverQuota(t *testing.T) {
	const size = 2 << 20
	s := play(t, "", func(c *scriptedConn) {
		for c.request() != nil && c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)) {
			io.Copy(c, io.LimitReader(new(pattern), size))
		}
	})
	c := settings(s.addr)
	c.Limits.Memory = 2 << 20
	c.Timeouts.Write, c.Timeouts.Idle, c.Timeouts.Response = longWait, longWait, longWait
	p, addr := run(t, c, Options{})
	var taken []*client
	shed := 0
	for range 100 {
		c := connect(t, addr)
		c.SetReadBuffer(64 << 10)
		before := live(p)
		c.send("GET /x", "")
		head, err := c.in.Peek(len("HTTP/1.1 200"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(string(head), "503") {
			r, _, err := c.answer("GET")
			if err != nil || r.Header.Get("Retry-After") == "" {
				t.Fatal(r, err)
			}
			if shed++; shed == 10 {
				break
			}
			continue
		}
		taken = append(taken, c)
		// Its answer waits; others may have been given more of theirs meanwhile.
		for end := time.Now().Add(100 * time.Millisecond); live(p) <= before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	if shed < 10 || len(taken) < 5 {
		t.Errorf("%d were served, and %d turned away", len(taken), shed)
	}
	if n := metric(t, p, "shed_total"); int(n) != shed {
		t.Errorf("%v are counted as turned away, of %d", n, shed)
	}
	for i, c := range taken {
		r, err := http.ReadResponse(c.in, nil)
		if err != nil || r.StatusCode != 200 {
			t.Fatal(r, err)
		}
		if err := like(r.Body, size); err != nil {
			t.Errorf("the %dth: %v", i, err)
		}
	}
	eventually(t, "there is room again", func() bool {
		c := connect(t, addr)
		defer c.Close()
		r, _, err := c.ask("GET /x", "")
		return err == nil && r.StatusCode == 200
	})
}

// All at once may be more than anybody could have known. Each takes less then, and
// all get all of it.
func TestOverQuotaAtOnce(t *testing.T) {
	const size, clients = 1 << 20, 100
	var waiting sync.WaitGroup
	waiting.Add(clients)
	s := play(t, "", func(c *scriptedConn) {
		if c.request() == nil {
			return
		}
		waiting.Done()
		waiting.Wait()
		if c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)) {
			io.Copy(c, io.LimitReader(new(pattern), size))
		}
	})
	c := settings(s.addr)
	c.Limits.Memory = 2 << 20
	c.Upstreams[0].Keepalive = 0
	c.Timeouts.Write, c.Timeouts.Idle, c.Timeouts.Response = longWait, longWait, longWait
	p, addr := run(t, c, Options{})
	var all []*client
	for range clients {
		c := connect(t, addr)
		c.SetReadBuffer(64 << 10)
		c.send("GET /x", "")
		all = append(all, c)
	}
	whole, cut := 0, 0
	for _, c := range all {
		r, err := http.ReadResponse(c.in, nil)
		switch {
		case err != nil:
			cut++
		case r.StatusCode == 503:
			cut++
		case like(r.Body, size) != nil:
			cut++
		default:
			whole++
		}
		c.Close()
	}
	t.Logf("%d whole answers of %d", whole, clients)
	if whole != clients {
		t.Errorf("%d whole answers, %d cut", whole, cut)
	}
	eventually(t, "there is room again", func() bool {
		return !func() (short bool) { onLoop(p.workers[0], func() { short = p.workers[0].short() }); return }()
	})
}

// Clients that say nothing cost little.
func TestManyIdleClients(t *testing.T) {
	number := 10_000
	if testing.Short() {
		number = 1_000
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	was := limit
	limit.Cur, limit.Max = max(limit.Cur, uint64(2*number+1000)), max(limit.Max, uint64(2*number+1000))
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	} else {
		number = min(number, (int(was.Cur)-1000)/2)
	}
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Timeouts.Idle = 10 * longWait
	p, addr := run(t, c, Options{Workers: 2})
	routines, memory := runtime.NumGoroutine(), live(p)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	clients := make([]*client, number)
	for i := range clients {
		clients[i] = connect(t, addr)
		clients[i].in = nil // made when it is needed
		clients[i].SetDeadline(time.Now().Add(10 * longWait))
	}
	eventually(t, "all are there", func() bool { return p.group.Conns() == number })
	asked := 0
	ask := func(each int) {
		for i := 0; i < number; i += each {
			c := clients[i]
			c.in = bufio.NewReaderSize(c, 512)
			c.want(t, 200, fmt.Sprintf("GET /%d", i), "")
			c.in = nil
			asked++
		}
	}
	ask(1)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := int64(after.HeapAlloc-before.HeapAlloc) / int64(number)
	t.Logf("%d clients: %d bytes each of heap, with the test's own; %d of buffers in all", number, each, live(p)-memory)
	if n := live(p) - memory; n > 64<<10 {
		t.Errorf("idle clients hold %d bytes of buffers", n)
	}
	if each > 8<<10 {
		t.Errorf("an idle client takes %d bytes of heap", each)
	}
	if n := runtime.NumGoroutine() - routines; n > 50 {
		t.Errorf("%d more goroutines than before", n)
	}
	ask(10)
	if n := len(s.seen()); n != asked {
		t.Errorf("the server has seen %d requests of %d", n, asked)
	}
	for _, c := range clients {
		c.Close()
	}
	quiet(t, p)
}
