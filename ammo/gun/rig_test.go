//go:build linux

package gun

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/ammo"
	"redoubt/ammo/schedule"
)

// patience is how long a test waits for what must happen. Nothing is measured
// by it.
const patience = 20 * time.Second

// TestMain runs the tests and looks what they have left behind. Most of what
// they do is wait, so more of them run at a time than there are processors; and
// a loop gives its place to no goroutine, so there is one for each of all the
// loops.
func TestMain(m *testing.M) {
	flag.Parse()
	const atOnce = 16
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		_ = parallel.Value.Set(strconv.Itoa(atOnce))
	}
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), 3*atOnce))
	// The runtime opens descriptors of its own with the first socket.
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		l.Close()
	}
	files, routines := openFiles(), runtime.NumGoroutine()
	code := m.Run()
	var f, r int
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f, r = openFiles(), runtime.NumGoroutine(); f <= files && r <= routines {
			os.Exit(code)
		}
	}
	stacks := make([]byte, 1<<20)
	fmt.Printf("something is left: %d descriptors were open, now %d; %d goroutines, now %d\n%s\n", files, f, routines, r, stacks[:runtime.Stack(stacks, true)])
	os.Exit(1)
}

// server is one whose every move is written in a script.
type server struct {
	t      *testing.T
	addr   netip.AddrPort
	script func(c *conn)

	conns    atomic.Int64
	requests atomic.Int64
	in, out  atomic.Int64 // bytes of whole requests, and of what was sent
	left     atomic.Int64 // connections that the gun ended first

	listener *net.TCPListener
	running  sync.WaitGroup
	mu       sync.Mutex
	open     map[*conn]bool
	stopped  bool
}

// conn is one of its connections. When its script returns, it is closed.
type conn struct {
	*net.TCPConn
	server *server
	number int64 // from 0
	in     *bufio.Reader
}

// request is what the server has understood of one.
type request struct {
	head  string // with the empty line
	body  string
	first int64 // how many the server had read before
}

func (r *request) bytes() string  { return r.head + r.body }
func (r *request) method() string { return strings.SplitN(r.head, " ", 2)[0] }
func (r *request) path() string   { return strings.SplitN(r.head, " ", 3)[1] }

// field is the value of a header field, or empty.
func (r *request) field(name string) string {
	for _, line := range strings.Split(r.head, "\r\n")[1:] {
		if n, value, _ := strings.Cut(line, ": "); n == name {
			return value
		}
	}
	return ""
}

// serve runs a server until the test ends.
func serve(t *testing.T, script func(c *conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, script: script, listener: l.(*net.TCPListener), addr: addrPort(l), open: make(map[*conn]bool)}
	s.running.Go(s.accept)
	t.Cleanup(s.stop)
	return s
}

func addrPort(l net.Listener) netip.AddrPort { return l.Addr().(*net.TCPAddr).AddrPort() }

// stop ends the server and all its connections.
func (s *server) stop() {
	s.mu.Lock()
	s.stopped = true
	s.listener.Close()
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *server) accept() {
	for {
		tcp, err := s.listener.AcceptTCP()
		if err != nil {
			s.mu.Lock()
			stopped := s.stopped
			s.mu.Unlock()
			if stopped {
				return
			}
			time.Sleep(time.Millisecond) // no descriptors, perhaps
			continue
		}
		c := &conn{TCPConn: tcp, server: s, number: s.conns.Add(1) - 1, in: bufio.NewReaderSize(tcp, 1<<16)}
		s.mu.Lock()
		if s.stopped {
			tcp.Close()
		}
		s.open[c] = true
		s.mu.Unlock()
		s.running.Go(func() {
			s.script(c)
			c.Close()
			s.mu.Lock()
			delete(s.open, c)
			s.mu.Unlock()
		})
	}
}

// request reads one, or nil where the gun has ended the connection. A body is
// as long as Content-Length says, or X-Bytes where a record lies about it.
func (c *conn) request() *request {
	var head strings.Builder
	for {
		line, err := c.in.ReadString('\n')
		head.WriteString(line)
		if err != nil {
			c.server.left.Add(1)
			return nil
		}
		if line == "\r\n" || line == "\n" {
			break
		}
	}
	r := &request{head: head.String()}
	size := r.field("X-Bytes")
	if size == "" {
		size = r.field("Content-Length")
	}
	n, _ := strconv.Atoi(size)
	body := make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		c.server.left.Add(1)
		return nil
	}
	r.body = string(body)
	r.first = c.server.requests.Add(1) - 1
	c.server.in.Add(int64(len(r.head) + len(r.body)))
	return r
}

func (c *conn) send(text string) {
	n, _ := io.WriteString(c.TCPConn, text)
	c.server.out.Add(int64(n))
}

// reset ends the connection with a reset.
func (c *conn) reset() {
	c.SetLinger(0)
	c.Close()
}

// hold does nothing until the gun has gone.
func (c *conn) hold() { io.Copy(io.Discard, c.in) }

// answering is a script that answers each request with what f makes of it, and
// ends the connection after one that says close.
func answering(f func(r *request) string) func(*conn) {
	return func(c *conn) {
		for {
			r := c.request()
			if r == nil {
				return
			}
			text := f(r)
			c.send(text)
			if strings.Contains(text, "Connection: close\r\n") {
				return
			}
		}
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func fine(*request) string { return ok }

// polite ends the connection when it is asked to.
func polite(r *request) string {
	if r.field("Connection") == "close" || strings.Contains(r.head, " HTTP/1.0\r\n") {
		return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
	}
	return ok
}

// magazine is a Source in memory. As a file's, its records are good until the
// next.
type magazine struct {
	records []ammo.Record
	at      int
	passes  int           // begun, besides the first
	broken  int           // the record, from 1, that cannot be read; 0: none
	rewind  error         // of Rewind
	gate    chan struct{} // if not nil, each record waits for it
	buffer  []byte
}

var errBroken = fmt.Errorf("this record is broken")

func (m *magazine) Next() (ammo.Record, error) {
	if m.gate != nil {
		<-m.gate
	}
	for i := range m.buffer {
		m.buffer[i] = '#'
	}
	if m.at+1 == m.broken {
		return ammo.Record{}, errBroken
	}
	if m.at == len(m.records) {
		return ammo.Record{}, io.EOF
	}
	var r ammo.Record
	r, m.buffer = m.records[m.at].AppendTo(m.buffer[:0])
	m.at++
	return r, nil
}

func (m *magazine) Rewind() error {
	m.passes++
	m.at = 0
	return m.rewind
}

// magazineOf makes records of texts, each a tag, a bar and the request; without
// the bar there is no tag.
func magazineOf(texts ...string) *magazine {
	m := new(magazine)
	for i, text := range texts {
		tag, request, found := strings.Cut(text, "|")
		if !found {
			tag, request = "", text
		}
		m.records = append(m.records, ammo.Record{Tag: []byte(tag), Bytes: []byte(request), Number: i + 1})
	}
	return m
}

// numbered is a magazine of n records GET /0, GET /1, ...
func numbered(n int) *magazine {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = get(i)
	}
	return magazineOf(texts...)
}

func get(n int) string { return fmt.Sprintf("GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", n) }

const (
	keep   = "kept|GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	closes = "closed|GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
)

func plan(t *testing.T, text string) schedule.Plan {
	t.Helper()
	p, err := schedule.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shoot fires a plan and checks what must be true of every run.
func shoot(t *testing.T, s *server, load string, source Source, change func(*Options)) *Summary {
	t.Helper()
	summary, err := shootContext(t, t.Context(), s.addr, load, source, change)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

func shootContext(t *testing.T, ctx context.Context, addr netip.AddrPort, load string, source Source, change func(*Options)) (*Summary, error) {
	t.Helper()
	var rows bytes.Buffer
	o := Options{Target: addr, Source: source, Plan: plan(t, load), Instances: 50, Phout: &rows}
	var told []Second
	o.OnSecond = func(s Second) { told = append(told, s) }
	if change != nil {
		change(&o)
	}
	type end struct {
		summary *Summary
		err     error
	}
	ended := make(chan end, 1)
	go func() {
		summary, err := Fire(ctx, o)
		ended <- end{summary, err}
	}()
	select {
	case e := <-ended:
		if e.summary != nil {
			checkSummary(t, e.summary, o, told, e.err)
			if o.Phout == io.Writer(&rows) {
				checkRows(t, e.summary, o, rows.Bytes())
			}
		}
		return e.summary, e.err
	case <-time.After(o.Plan.Duration() + patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("the run does not end\n%s", stacks[:runtime.Stack(stacks, true)])
		return nil, nil
	}
}

func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	return len(entries)
}
