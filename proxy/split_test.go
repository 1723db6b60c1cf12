//go:build linux

package proxy

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// drama is a whole exchange, or several on one connection: what the client says,
// and what the server answers to each request. The server's last answer is also
// its connection's.
type drama struct {
	name   string
	client string
	server []string
	tunnel bool // both sides go on with another protocol
}

const closing = "Connection: close\r\n"

var dramas = []drama{
	{name: "pipeline", client: line("GET /1?x HTTP/1.1") + post("Content-Length: 5\r\nX:\ty ", "hello") + "\r\n" +
		post("Trailer: X\r\nTransfer-Encoding: chunked", "3;a=\"\\\"\"\r\nabc\r\n0A\r\n0123456789\r\n0;b\r\nX: y\r\nKeep-Alive: z\r\n\r\n"),
		server: []string{hello, with("Transfer-Encoding: chunked\r\nTrailer: X", "1;a\r\nh\r\n004\r\nello\r\n0\r\nX: y\r\n\r\n"),
			with(closing+"X: y", "until the end")}},
	{name: "no bodies", client: line("HEAD /1 HTTP/1.1") + line("GET http://b/2 HTTP/1.1") + line("GET /3 HTTP/1.2") + line("OPTIONS * HTTP/1.1"),
		server: []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 304\r\nContent-Length: 7\r\nConnection: x\r\nX: y\r\n\r\n",
			"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200  OK \r\n" + closing + "Content-Length: 0\r\n\r\n"}},
	{name: "upgrade", client: line("GET /1 HTTP/1.1") + upgrading + "\x00GET / HTTP/1.1\r\n\r\nany\nthing", tunnel: true,
		server: []string{hello, "HTTP/1.1 101 Now\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x01HTTP/1.1 200\r\n\r\nanything"}},
	{name: "1.0", client: "GET /1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nPOST /2 HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc",
		server: []string{"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", with(closing+"Transfer-Encoding: chunked", "5\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n")}},
	{name: "a bad request", client: line("GET /1 HTTP/1.1") + post("Content-Length: 1\r\nContent-Length: 1", "x") + after,
		server: []string{with(closing+"Content-Length: 5", "hello")}},
	{name: "a bad answer", client: line("GET /1 HTTP/1.1") + line("GET /2 HTTP/1.1"),
		server: []string{hello, with("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n")}},
}

// cutter performs dramas before one proxy.
type cutter struct {
	t     *testing.T
	proxy *Proxy
	addr  string
	stage *net.TCPListener
}

func newCutter(t *testing.T) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := settings(l.Addr().String())
	c.Routes[0].Upgrade = true
	p, addr := start(t, c, Options{})
	return &cutter{t, p, addr, l.(*net.TCPListener)}
}

// settle waits until the loop has looked at whatever has arrived. In the first
// turn a function may run before, in the second it has.
func (c *cutter) settle() {
	done := make(chan struct{})
	for range 2 {
		c.proxy.workers[0].loop.Post(func() { done <- struct{}{} })
		<-done
	}
}

// write writes text in the pieces that end at these places.
func (c *cutter) write(to io.Writer, text string, cuts []int) {
	from := 0
	for _, cut := range append(cuts[:len(cuts):len(cuts)], len(text)) {
		if from < cut {
			io.WriteString(to, text[from:cut])
			c.settle()
			from = cut
		}
	}
}

// ear hears all that comes on a connection, so that nobody waits for the other
// to read.
type ear struct {
	mu    sync.Mutex
	more  *sync.Cond
	heard string
	ended bool
	end   error // nil: in order
}

func listen(conn net.Conn) *ear {
	conn.SetDeadline(time.Now().Add(stagePatience))
	e := new(ear)
	e.more = sync.NewCond(&e.mu)
	go func() {
		buffer := make([]byte, 64<<10)
		for !e.ended {
			n, err := conn.Read(buffer)
			e.mu.Lock()
			e.heard += string(buffer[:n])
			if err != nil {
				e.ended = true
				if err != io.EOF {
					e.end = err
				}
			}
			e.more.Signal()
			e.mu.Unlock()
		}
	}()
	return e
}

// until waits until is says so of what has been heard, or the end.
func (e *ear) until(is func(heard string) bool) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.ended && !is(e.heard) {
		e.more.Wait()
	}
	return e.heard
}

func (e *ear) all() string { return e.until(func(string) bool { return false }) }

// perform performs a drama with the bytes of both cut, and returns what each side
// has got, in a form that does not depend on the time, nor on where chunks end.
func (c *cutter) perform(d *drama, clientCuts []int, serverCuts [][]int) (atServer, atClient string) {
	t := c.t
	t.Helper()
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(stagePatience))
	client := listen(conn)
	var stage *net.TCPConn
	var server *ear
	answered, from := 0, 0
	for _, cut := range append(clientCuts[:len(clientCuts):len(clientCuts)], len(d.client)) {
		io.WriteString(conn, d.client[from:cut])
		c.settle()
		from = cut
		for answered < len(d.server) && d.whole(cut) > answered {
			if stage == nil {
				c.stage.SetDeadline(time.Now().Add(stagePatience))
				if stage, err = c.stage.AcceptTCP(); err != nil {
					t.Fatalf("%s: cuts %v, %v: no connection: %v", d.name, clientCuts, serverCuts, err)
				}
				defer stage.Close()
				server = listen(stage)
			}
			server.until(func(heard string) bool {
				list, _, _ := requests(heard, false)
				return len(list) > answered
			})
			var cuts []int
			if answered < len(serverCuts) {
				cuts = serverCuts[answered]
			}
			c.write(stage, d.server[answered], cuts)
			if answered++; answered == len(d.server) && !d.tunnel {
				stage.CloseWrite()
			}
		}
	}
	conn.(*net.TCPConn).CloseWrite()
	if d.tunnel {
		server.all()
		stage.CloseWrite()
	}
	got := client.all()
	return c.canonRequests(d, server.all()), c.canonAnswers(d, got, client.end)
}

// whole is how many requests the client's first n bytes hold.
func (d *drama) whole(n int) int {
	list, _, _ := requests(d.client[:n], true)
	if d.tunnel {
		return min(len(list), len(d.server))
	}
	return len(list)
}

func (c *cutter) canonRequests(d *drama, heard string) string {
	list, rest, err := requests(heard, false)
	if d.tunnel && len(list) >= len(d.server) { // what follows is no request, whatever it looks like
		list = list[:len(d.server)]
		at := strings.LastIndex(heard, list[len(list)-1].head)
		rest, err = heard[at+len(list[len(list)-1].head):], nil
	}
	if err != nil || rest != "" && !d.tunnel {
		return fmt.Sprintf("BAD %v: %q", err, heard)
	}
	return canon(list) + rest
}

func (c *cutter) canonAnswers(d *drama, got string, end error) string {
	asked, _, _ := requests(d.client, true)
	list, rest, err := answers(got, asked, end == nil)
	if err != nil || end != nil || rest != "" && !d.tunnel {
		return fmt.Sprintf("BAD %v, %v: %q", err, end, got)
	}
	return canon(list) + rest
}

var passing = regexp.MustCompile(`(Date|X-Request-ID|Server-Timing): [^\r]*`)

func canon(list []message) string {
	var b strings.Builder
	for i := range list {
		m := &list[i]
		fmt.Fprintf(&b, "%s<%s>%s%q\n", passing.ReplaceAllString(m.head, "$1"), m.framing, m.body, m.trailers)
	}
	return b.String()
}

// TestAnySplitIsTheSame cuts what each side says at every place, and once more
// at random ones.
func TestAnySplitIsTheSame(t *testing.T) {
	c := newCutter(t)
	step := 1
	if testing.Short() || instrumented {
		step = 7
	}
	for i := range dramas {
		d := &dramas[i]
		check := c.checker(d)
		for at := 1; at < len(d.client); at += step {
			check([]int{at}, nil)
		}
		for n, answer := range d.server {
			for at := 1; at < len(answer); at += step {
				cuts := make([][]int, n+1)
				cuts[n] = []int{at}
				check(nil, cuts)
			}
		}
		c.random(d, check, 60/step)
	}
}

// TestLongOnesToo cuts exchanges with long heads and bodies.
func TestLongOnesToo(t *testing.T) {
	c := newCutter(t)
	text := strings.Repeat("0123456789abcdef\r\n\r\n", 3000)
	chunks := ""
	for i := 0; i < len(text); i += 7777 {
		piece := text[i:min(i+7777, len(text))]
		chunks += fmt.Sprintf("%X;x=y\r\n%s\r\n", len(piece), piece)
	}
	chunks += "0\r\nX: " + text[:16] + "\r\n\r\n"
	long := "X: " + strings.Repeat("y", 25<<10)
	d := &drama{name: "long", client: post(long+"\r\nTransfer-Encoding: chunked", chunks) + post("Content-Length: 60000", text[:60000]) + field(long) + line("GET /4 HTTP/1.1"),
		server: []string{with("Transfer-Encoding: chunked", chunks), with(long+"\r\nContent-Length: 60000", text[:60000]), hello, with(closing+long, text[:50000])}}
	runs := 40
	if testing.Short() || instrumented {
		runs = 4
	}
	c.random(d, c.checker(d), runs)
}

// checker returns a function that performs a drama with cuts, and compares it
// with the one without.
func (c *cutter) checker(d *drama) func(client []int, server [][]int) {
	c.t.Helper()
	wantServer, wantClient := c.perform(d, nil, nil)
	if strings.HasPrefix(wantServer, "BAD") || strings.HasPrefix(wantClient, "BAD") {
		c.t.Fatalf("%s: %s\n%s", d.name, wantServer, wantClient)
	}
	if n := strings.Count(wantServer, "Via: 1."); n != len(d.server) {
		c.t.Fatalf("%s: %d requests arrive: %q", d.name, n, wantServer)
	}
	return func(client []int, server [][]int) {
		c.t.Helper()
		atServer, atClient := c.perform(d, client, server)
		if atServer != wantServer {
			c.t.Fatalf("%s: cuts %v, %v: the server gets %s", d.name, client, server, differ(atServer, wantServer))
		}
		if atClient != wantClient {
			c.t.Fatalf("%s: cuts %v, %v: the client gets %s", d.name, client, server, differ(atClient, wantClient))
		}
	}
}

// differ shows where two texts begin to differ.
func differ(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(at-200, 0)
	return fmt.Sprintf("from byte %d on\n%.600q, not\n%.600q", at, got[from:], want[from:])
}

// random cuts at random places, a few or many, on both sides.
func (c *cutter) random(d *drama, check func([]int, [][]int), runs int) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if c.t.Failed() {
			c.t.Logf("seed %d", seed)
		}
	}()
	some := func(n int) (cuts []int) {
		every := 1 + r.IntN(n)
		if n > 1000 {
			every = n/30 + r.IntN(n)
		}
		for at := 1 + r.IntN(every); at < n; at += 1 + r.IntN(every) {
			cuts = append(cuts, at)
		}
		return cuts
	}
	for range runs {
		var server [][]int
		for _, answer := range d.server {
			server = append(server, some(len(answer)))
		}
		check(some(len(d.client)), server)
	}
}
