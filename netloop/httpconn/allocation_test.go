//go:build linux

package httpconn

import (
	"runtime"
	"strings"
	"testing"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// mallocs counts what the process allocates while f runs, least of a few runs:
// the runtime allocates now and then on its own.
func mallocs(f func()) uint64 {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// allocations counts them for rounds of a raw client, which allocates nothing.
func allocations(t *testing.T, p *peer, send, want string, rounds int) uint64 {
	t.Helper()
	out, in := []byte(send), make([]byte, len(want))
	round := func() {
		if _, err := p.Write(out); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(in); {
			k, err := p.Read(in[n:])
			if err != nil {
				t.Fatalf("%v behind %q", err, in[:n])
			}
			n += k
		}
	}
	round()
	if string(in) != want {
		t.Fatalf("got %q\nwant %q", in, want)
	}
	return mallocs(func() {
		for range rounds {
			round()
		}
	})
}

func TestServerAllocatesNothingWhenWarm(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	const rounds = 200
	answer := []byte("hello")
	f := func(name string, o ServerOptions, h Handler, send, want string) {
		t.Helper()
		o.MaxBody, o.NoDate = 100, true
		r := newRig(t, netloop.Options{}, o, handle(h))
		p := r.dial()
		// A few stay: what the runtime does meanwhile.
		if n := allocations(t, p, send, want, rounds); n > rounds/10 {
			t.Errorf("%s: %d allocations in %d rounds", name, n, rounds)
		}
		p.Close()
	}
	whole := &funcs{request: func(s *Session, r *http1.Request) { s.Reply(200, "", answer) }}
	post := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\r\n"
	chunked := "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	f("whole", ServerOptions{WholeBodies: true}, whole, strings.Repeat(get("/")+post+chunked, 8), strings.Repeat(ok(false, "hello"), 24))

	var head http1.Segments
	stream := &funcs{
		request: func(s *Session, r *http1.Request) {
			if k, _ := r.Framing(); k == http1.None {
				s.Reply(200, "", answer)
			}
		},
		body: func(*Session, []byte) {},
		bodyEnd: func(s *Session) {
			head.Reset()
			head.StatusLine(200, nil)
			s.SendHead(&head, 200, http1.Chunked, 0)
			s.SendBody(answer)
			s.EndBody(nil)
		},
	}
	const streamed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	f("stream", ServerOptions{}, stream, post+get("/")+chunked, streamed+ok(false, "hello")+streamed)
}

// asker sends the next request when an answer is there.
type asker struct {
	request [][]byte
	left    int
	ended   chan struct{}
}

func (a *asker) ask(c *Client) {
	if a.left--; a.left >= 0 {
		c.Send(Plain, a.request)
	} else {
		a.ended <- struct{}{}
	}
}
func (a *asker) OnConnect(c *Client)                      { a.ask(c) }
func (a *asker) OnBegin(*Client)                          {}
func (a *asker) OnInterim(*Client, *http1.Response)       {}
func (a *asker) OnResponse(*Client, *http1.Response)      {}
func (a *asker) OnBody(*Client, []byte)                   {}
func (a *asker) OnDone(c *Client, _ *http1.Body, ok bool) { a.ask(c) }
func (a *asker) OnTurn(*Client)                           {}
func (a *asker) OnDrain(*Client)                          {}
func (a *asker) OnClose(*Client, error)                   {}

func TestClientAllocatesNothingWhenWarm(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: hello}))
	const rounds = 500
	a := &asker{request: bytesOf(get("/x")), left: 10, ended: make(chan struct{})}
	c := r.client(r.addr, ClientOptions{HeadTimeout: patience, IdleTimeout: patience}, a)
	<-a.ended
	again := func() {
		a.left = rounds
		a.ask(c)
	}
	if n := mallocs(func() { r.loop.Post(again); <-a.ended }); n > rounds/10 {
		t.Errorf("%d allocations in %d rounds", n, rounds)
	}
	r.do(func() {
		if n := cap(c.asked); n > 8 {
			t.Errorf("%d places for requests where one is outstanding at a time", n)
		}
		c.Close()
	})
}
