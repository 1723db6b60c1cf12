//go:build linux

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// scripted is a server that plays a part on each connection, and notes what
// comes.
type scripted struct {
	listener net.Listener
	addr     string

	mu       sync.Mutex
	requests []string // first lines
	conns    []net.Conn
	open     int
}

// part is what the server does on its n-th connection, from 0. The connection is
// closed when it returns.
type part func(c *scriptedConn)

// play runs a server at addr, or, if that is "", at one of 127.0.0.1.
func play(t testing.TB, addr string, p part) *scripted {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{listener: l, addr: l.Addr().String()}
	var running sync.WaitGroup
	running.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.open++
			s.mu.Unlock()
			running.Go(func() {
				defer func() {
					conn.Close()
					s.mu.Lock()
					s.open--
					s.mu.Unlock()
				}()
				p(&scriptedConn{Conn: conn, in: bufio.NewReader(conn), n: n, of: s})
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		running.Wait()
	})
	return s
}

// seen is the first lines of the requests that have come.
func (s *scripted) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// count is how many requests have come that begin so.
func (s *scripted) count(prefix string) (n int) {
	for _, line := range s.seen() {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// opened is how many connections there have been, and how many there are.
func (s *scripted) opened() (ever, now int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), s.open
}

type scriptedConn struct {
	net.Conn
	in *bufio.Reader
	n  int
	of *scripted
}

// head reads a request's head and notes it; nil if there is none.
func (c *scriptedConn) head() *http.Request {
	r, err := http.ReadRequest(c.in)
	if err != nil {
		return nil
	}
	c.of.mu.Lock()
	c.of.requests = append(c.of.requests, r.Method+" "+r.RequestURI)
	c.of.mu.Unlock()
	return r
}

// request reads one with its body.
func (c *scriptedConn) request() *http.Request {
	r := c.head()
	if r != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil
		}
	}
	return r
}

func (c *scriptedConn) say(text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// serve answers requests with text until there are no more.
func (c *scriptedConn) serve(text string) {
	for c.request() != nil && c.say(answerOf(text)) {
	}
}

// reset closes so that the other side gets a reset.
func (c *scriptedConn) reset() {
	c.Conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// untilClosed waits for the other side to close.
func (c *scriptedConn) untilClosed() { io.Copy(io.Discard, c.in) }

func answerOf(text string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}
