//go:build linux

package proxy

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stalled waits until a count stands still, and returns it.
func stalled(count *atomic.Int64) int64 {
	last, still := count.Load(), 0
	for still < 30 {
		time.Sleep(5 * time.Millisecond)
		if n := count.Load(); n == last {
			still++
		} else {
			last, still = n, 0
		}
	}
	return last
}

// counting counts what goes through.
type counting struct {
	io.Writer
	n *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// pattern is a stream of bytes that repeats itself, but not at any distance that
// buffers have.
type pattern struct{ at int }

var period = sync.OnceValue(func() []byte {
	b := make([]byte, 65521)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
})

func (p *pattern) Read(b []byte) (int, error) {
	n := copy(b, period()[p.at:])
	p.at = (p.at + n) % len(period())
	return n, nil
}

// like tells whether a stream is the first n bytes of the pattern.
func like(r io.Reader, n int64) error {
	sum, want := crc32.NewIEEE(), crc32.NewIEEE()
	got, err := io.Copy(sum, r)
	io.Copy(want, io.LimitReader(new(pattern), n))
	switch {
	case err != nil:
		return fmt.Errorf("after %d bytes: %w", got, err)
	case got != n:
		return fmt.Errorf("%d bytes, want %d", got, n)
	case sum.Sum32() != want.Sum32():
		return fmt.Errorf("%d bytes, but not those that were sent", n)
	}
	return nil
}

// What the system keeps of a connection, of both sides, is no more than this;
// and what we do, no more than that.
const (
	kernelKeeps = 32 << 20
	weKeep      = 512 << 10
)

func live(p *Proxy) int64 { return p.group.Memory().Stats().Live.Bytes }

// A client that does not read stops its server.
func TestClientDoesNotRead(t *testing.T) {
	for _, framing := range []string{"Content-Length: 1073741824\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n40000000\r\n", "\r\n"} {
		var written atomic.Int64
		s := play(t, "", func(c *scriptedConn) {
			if c.request() != nil && c.say("HTTP/1.1 200 OK\r\n"+framing) {
				io.Copy(counting{c, &written}, io.LimitReader(zeros{}, 1<<30))
			}
		})
		c := settings(s.addr)
		c.Timeouts.Write, c.Timeouts.Idle, c.Timeouts.Response = longWait, longWait, longWait
		p, addr := run(t, c, Options{})
		before := live(p)
		client := connect(t, addr)
		client.send("GET /x", "")
		eventually(t, "it begins", func() bool { return written.Load() > 0 })
		if n := stalled(&written); n > kernelKeeps {
			t.Errorf("%q: the server could send %d bytes", framing, n)
		}
		if n := live(p) - before; n > weKeep {
			t.Errorf("%q: a client that does not read holds %d bytes", framing, n)
		}
		client.Close()
		eventually(t, "the server's connection ends", func() bool { _, now := s.opened(); return now == 0 })
	}
}

// A server that does not read stops its client.
func TestServerDoesNotRead(t *testing.T) {
	for _, framing := range []string{"Content-Length: 1073741824\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n40000000\r\n"} {
		over := make(chan struct{})
		s := play(t, "", func(c *scriptedConn) { c.head(); <-over; c.reset() })
		c := settings(s.addr)
		c.Limits.Body = 2 << 30
		c.Timeouts.Write, c.Timeouts.Body, c.Timeouts.Response = longWait, longWait, longWait
		p, addr := run(t, c, Options{})
		before := live(p)
		client := connect(t, addr)
		var written atomic.Int64
		go func() {
			client.send("POST /x", framing)
			io.Copy(counting{client, &written}, io.LimitReader(zeros{}, 1<<30))
		}()
		eventually(t, "it begins", func() bool { return written.Load() > 0 })
		if n := stalled(&written); n > kernelKeeps {
			t.Errorf("%q: the client could send %d bytes", framing, n)
		}
		if n := live(p) - before; n > weKeep {
			t.Errorf("%q: a server that does not read holds %d bytes", framing, n)
		}
		close(over)
		if r, _, err := client.answer("POST"); err == nil && r.StatusCode != 502 {
			t.Error(r)
		}
		client.Close()
	}
}

// Large bodies go through both ways at once, byte for byte.
func TestLargeBodies(t *testing.T) {
	size := int64(32 << 20)
	if testing.Short() {
		size = 4 << 20
	}
	echo := goOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		if r.ContentLength > 0 {
			w.Header().Set("Content-Length", fmt.Sprint(r.ContentLength))
		}
		io.Copy(w, r.Body)
	})
	c := settings(echo)
	c.Limits.Body = 1 << 30
	p, addr := run(t, c, Options{Workers: 2})
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			r, _ := http.NewRequest("POST", "http://"+addr+"/x", io.LimitReader(new(pattern), size))
			if i%2 == 0 {
				r.ContentLength = size
			}
			answer, err := transport.RoundTrip(r)
			if err == nil {
				err = like(answer.Body, size)
				answer.Body.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	over := make(chan struct{})
	go func() { group.Wait(); close(over) }()
	for most := int64(0); ; {
		select {
		case <-over:
			t.Logf("%d bytes at most for 4 exchanges", most)
			if most > 4*2*weKeep {
				t.Errorf("4 exchanges held %d bytes", most)
			}
			return
		case <-time.After(time.Millisecond):
			most = max(most, live(p))
		}
	}
}

// What comes a byte at a time comes whole.
func TestTrickle(t *testing.T) {
	trickle := func(w io.Writer, text string) {
		for i := range len(text) {
			if _, err := w.Write([]byte{text[i]}); err != nil {
				return
			}
			runtime.Gosched()
		}
	}
	var got atomic.Value
	s := play(t, "", func(c *scriptedConn) {
		r := c.head()
		b, _ := io.ReadAll(r.Body)
		got.Store(string(b))
		trickle(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nA: b\r\n\r\n")
		c.untilClosed()
	})
	_, addr := run(t, settings(s.addr), Options{})
	c := connect(t, addr)
	trickle(c, "POST /x HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n12\r\n3\r\n345\r\n0\r\n\r\n")
	r, body, err := c.answer("POST")
	if err != nil || r.StatusCode != 200 || body != "abcdefg" || got.Load() != "12345" {
		t.Errorf("%v %q %v; the server has read %q", r, body, err, got.Load())
	}
}

// A client that goes away in the middle of an answer ends it.
func TestClientGoesAway(t *testing.T) {
	for _, how := range []string{"end", "reset", "unread"} {
		s := play(t, "", func(c *scriptedConn) {
			c.request()
			c.say("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
			io.Copy(c, io.LimitReader(zeros{}, 1<<30))
		})
		p, addr := run(t, settings(s.addr), Options{})
		for range 5 {
			c := connect(t, addr)
			c.send("GET /x", "")
			if how != "unread" {
				io.CopyN(io.Discard, c.in, 100_000)
			}
			if how == "reset" {
				c.SetLinger(0)
			}
			c.Close()
		}
		eventually(t, "the server's connections end", func() bool { ever, now := s.opened(); return ever == 5 && now == 0 })
		eventually(t, "they are counted", func() bool { return metric(t, p, "gone_total") == 5 })
		if n := metric(t, p, "cut_total") + metric(t, p, "upstream_failures_total"); n != 0 {
			t.Errorf("%s: %v failures are counted of a server that is well", how, n)
		}
	}
}

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
		eventually(t, "its answer waits", func() bool { return live(p) > before })
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

// All at once may be more than anybody could have known. Nobody gets what is
// wrong, and nothing stays.
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
	if whole == 0 || whole+cut != clients {
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
