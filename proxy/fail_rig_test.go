//go:build linux

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"redoubt/internal/metrics"
	"redoubt/proxy/config"
)

// longWait is how long a test waits for what must come. It is a bound for what
// never does, not a measure.
const longWait = 30 * time.Second

// eventually waits for a condition.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(longWait); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// run starts a proxy, and finds out in the end whether anything has leaked:
// when all clients have gone, and when the proxy has ended.
func run(t testing.TB, c *config.Config, o Options) (*Proxy, string) {
	t.Helper()
	return runWith(t, c, o, func(*Proxy) {})
}

// runWith has a proxy prepared before it runs.
func runWith(t testing.TB, c *config.Config, o Options, prepare func(*Proxy)) (*Proxy, string) {
	t.Helper()
	if o.Warn == nil {
		o.Warn = func(text string) { t.Log("proxy:", text) }
	}
	p, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	prepare(p)
	t.Cleanup(func() { // the last
		for _, w := range p.workers {
			if x, k := w.exchanges.Stats().Live, w.links.Stats().Live; x != 0 || k != 0 {
				t.Errorf("loop %d has ended with %d exchanges and %d links: %q %q", w.index, x, k, w.exchanges.Leaks(), w.links.Leaks())
			}
		}
	})
	addr := serve(t, p)
	t.Cleanup(func() {
		if !p.group.Draining() {
			quiet(t, p)
		}
	})
	return p, addr
}

// onLoop calls f on a worker's thread.
func onLoop(w *worker, f func()) {
	done := make(chan struct{})
	w.loop.Post(func() { f(); close(done) })
	<-done
}

// quiet waits for all that belongs to clients to be gone, and for the links to
// be those that are idle in a pool, of which there may be so many.
func quiet(t testing.TB, p *Proxy) {
	t.Helper()
	var state string
	defer func() {
		if t.Failed() {
			t.Log("in the end:", state)
		}
	}()
	eventually(t, "nothing of a client is left", func() bool {
		p.mu.Lock()
		plan := p.plan
		p.mu.Unlock()
		ok := p.group.Conns() == 0 && p.conns.Len() == 0
		state = fmt.Sprintf("%d connections, %d clients", p.group.Conns(), p.conns.Len())
		idle := make(map[*origin]int64)
		for _, w := range p.workers {
			onLoop(w, func() {
				free := 0
				for _, u := range plan.upstreams {
					for _, o := range u.origins {
						n := len(o.pools[w.index].idle)
						ok = ok && o.pools[w.index].open == n
						state += fmt.Sprintf("; loop %d has %d open, %d idle", w.index, o.pools[w.index].open, n)
						if n > u.Keepalive {
							t.Errorf("%s has %d idle connections, of at most %d", o.name, n, u.Keepalive)
						}
						free += n
						idle[o] += int64(n)
					}
				}
				c := w.counts
				x, k := w.exchanges.Stats().Live, w.links.Stats().Live
				ok = ok && x == 0 && k == int64(free) && c.conns.Value() == 0 && c.inFlight.Value() == 0 && c.tunnels.Value() == 0
				state += fmt.Sprintf("; loop %d: %d exchanges, %d links, %d idle, %d conns, %d in flight, %d tunnels",
					w.index, x, k, free, c.conns.Value(), c.inFlight.Value(), c.tunnels.Value())
			})
		}
		for o, n := range idle {
			ok = ok && o.open.Load() == n && o.active.Load() == 0
			state += fmt.Sprintf("; %s: %d open, %d active", o.name, o.open.Load(), o.active.Load())
		}
		return ok
	})
}

// metric is the sum of the samples of a name; labels may follow it, as many as
// are asked for.
func metric(t testing.TB, p *Proxy, name string) (sum float64) {
	t.Helper()
	name = "redoubt_proxy_" + name
	family, _, _ := strings.Cut(name, "{")
	var text strings.Builder
	w := metrics.NewWriter(&text)
	p.WriteMetrics(w)
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "# TYPE "+strings.TrimSuffix(family, "_count")+" ") {
		t.Fatalf("there is no metric %s", family)
	}
	for line := range strings.Lines(text.String()) {
		if sample, _, _ := strings.Cut(line, " "); sample != name && !strings.HasPrefix(line, name+"{") {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		sum += n
	}
	return sum
}

// client is a client's connection.
type client struct {
	*net.TCPConn
	in *bufio.Reader
}

func connect(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(longWait))
	return &client{conn.(*net.TCPConn), bufio.NewReader(conn)}
}

// ask sends a request, made of its first line's beginning and what follows
// the Host field, and reads the answer.
func (c *client) ask(request, rest string) (r *http.Response, body string, err error) {
	if err := c.send(request, rest); err != nil {
		return nil, "", err
	}
	return c.answer(request)
}

func (c *client) send(request, rest string) error {
	if !strings.Contains(rest, "\r\n\r\n") {
		rest += "\r\n"
	}
	_, err := io.WriteString(c, request+" HTTP/1.1\r\nHost: shop.example\r\n"+rest)
	return err
}

// answer reads the final one; err tells that it is not whole.
func (c *client) answer(request string) (*http.Response, string, error) {
	method, _, _ := strings.Cut(request, " ")
	for {
		r, err := http.ReadResponse(c.in, &http.Request{Method: method})
		if err != nil {
			return nil, "", err
		}
		if r.StatusCode/100 > 1 {
			body, err := io.ReadAll(r.Body)
			return r, string(body), err
		}
	}
}

// status is an answer's, or 0 for one that was cut, as the error says.
func (c *client) status(t testing.TB, request, rest string) int {
	t.Helper()
	r, body, err := c.ask(request, rest)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.ECONNRESET):
		return 0
	case err != nil:
		t.Fatalf("%s: %v after %q", request, err, body)
	}
	return r.StatusCode
}

// want asks and expects a status.
func (c *client) want(t testing.TB, status int, request, rest string) {
	t.Helper()
	if got := c.status(t, request, rest); got != status {
		t.Fatalf("%s is answered with %d, want %d", request, got, status)
	}
}

// blackHole is a listener whose queue is full: who connects waits for ever.
func blackHole(t testing.TB, addr string) string {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	a.Port = name.(*unix.SockaddrInet4).Port
	for { // the queue holds one or two
		conn, err := net.DialTimeout("tcp", a.String(), 100*time.Millisecond)
		if err != nil {
			return a.String()
		}
		t.Cleanup(func() { conn.Close() })
	}
}

// nobody is an address where nobody listens.
func nobody(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}
