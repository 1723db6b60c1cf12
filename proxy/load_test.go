//go:build linux

package proxy

import (
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
