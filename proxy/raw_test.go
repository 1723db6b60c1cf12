//go:build linux

package proxy

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// raw is a connection that is read by hand.
type raw struct {
	t *testing.T
	*net.TCPConn
	in *bufio.Reader
}

func dialRaw(t *testing.T, addr string) *raw {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return newRaw(t, c)
}

func newRaw(t *testing.T, c net.Conn) *raw {
	c.SetDeadline(time.Now().Add(stagePatience))
	t.Cleanup(func() { c.Close() })
	return &raw{t, c.(*net.TCPConn), bufio.NewReader(c)}
}

func (r *raw) say(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r, text); err != nil {
		r.t.Fatal(err)
	}
}

// head is what comes up to the next empty line.
func (r *raw) head() string {
	r.t.Helper()
	head := ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := r.in.ReadString('\n')
		if head += line; err != nil {
			r.t.Fatalf("%v behind %q", err, head)
		}
	}
	return head
}

func (r *raw) want(text string) {
	r.t.Helper()
	got := make([]byte, len(text))
	if n, err := io.ReadFull(r.in, got); err != nil || string(got) != text {
		r.t.Fatalf("%q comes, want %q (%v)", got[:n], text, err)
	}
}

func (r *raw) wantEnd() {
	r.t.Helper()
	if rest, err := io.ReadAll(r.in); err != nil || len(rest) > 0 {
		r.t.Fatalf("%q comes (%v), want the end", rest, err)
	}
}

// backstage is a proxy, and a listener for the servers' side.
func backstage(t *testing.T, change func(*config.Config)) (addr string, accept func() *raw) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := settings(l.Addr().String())
	if change != nil {
		change(c)
	}
	_, addr = start(t, c, Options{})
	return addr, func() *raw {
		t.Helper()
		l.(*net.TCPListener).SetDeadline(time.Now().Add(stagePatience))
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return newRaw(t, c)
	}
}
