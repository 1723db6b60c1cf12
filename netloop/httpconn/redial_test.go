//go:build linux

package httpconn

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// A client that is dialled anew knows nothing of the connection before,
// however that has ended.
func TestClientIsDialledAnew(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	c := new(Client)
	f := func(asks []Ask, answer, want string) {
		t.Helper()
		first, second := newDiary(), newDiary()
		again := &redialler{diary: first, loop: r.loop, addr: o.addr(), next: second}
		r.do(func() {
			c.Dial(r.loop, o.addr(), ClientOptions{}, again)
			for _, ask := range asks {
				c.Send(ask, bytesOf("x"))
			}
		})
		p := o.accept()
		p.expect(strings.Repeat("x", len(asks)))
		p.send(answer)
		_ = p.CloseWrite()
		<-first.closed
		p.Close()
		if got := strings.Join(first.words, " "); got != "up "+want {
			t.Errorf("%q:\n got %s\nwant %s", answer, got, "up "+want)
		}
		q := o.accept()
		r.do(func() {
			if c.Outstanding() != 0 || c.Begun() || c.Received() != 0 || c.Surplus() || !c.Usable() {
				t.Errorf("after %q: %d outstanding, begun %t, received %d, surplus %t, usable %t",
					answer, c.Outstanding(), c.Begun(), c.Received(), c.Surplus(), c.Usable())
			}
			c.Send(Plain, bytesOf("y"))
		})
		q.expect("y")
		q.send(whole)
		r.until("the answer", func() bool { return c.Outstanding() == 0 })
		r.do(c.Close)
		<-second.closed
		r.do(func() {
			if c.Conn() != nil {
				t.Error("an ended client has a connection")
			}
			c.Close() // too late, and harmless
		})
		q.Close()
		if got := strings.Join(second.words, " "); got != "up 200 =hi done reusable" {
			t.Errorf("after %q: %s", answer, got)
		}
	}
	one, two := []Ask{Plain}, []Ask{Head, Connect}
	f(one, whole, "200 =hi done reusable")
	f(one, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi", "200 =hi done")
	f(one, whole+"junk", "200 =hi done "+ErrUnasked.Error())
	f(two, "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi", "200 done reusable 200 done") // not handed over
	f(two, "HTTP/1.1 200 OK\r\n", ErrTruncated.Error())
	f(one, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", "200 =hi "+ErrTruncated.Error())
	f(one, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n", "200 =hi "+ErrTruncated.Error())
	f(one, "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", http1.BadContentLength.Error())
	f(two, "HTTP/1.1 101 Up\r\n\r\n", ErrUnasked.Error())
	f(two, "", ErrNoAnswer.Error())
}

// redialler dials again as soon as a connection has ended.
type redialler struct {
	*diary
	loop *netloop.Loop
	addr netip.AddrPort
	next ClientHandler
}

func (a *redialler) OnClose(c *Client, reason error) {
	c.Dial(a.loop, a.addr, ClientOptions{}, a.next)
	a.diary.OnClose(c, reason)
}

// Dialling may fail, and succeed the next time.
func TestClientIsDialledAfterARefusal(t *testing.T) {
	r := clientRig(t)
	last := newDiary()
	first := &redialler{diary: newDiary(), loop: r.loop, addr: r.addr, next: last}
	var c *Client
	r.do(func() {
		c = Dial(r.loop, netip.MustParseAddrPort("127.0.0.1:1"), ClientOptions{}, first)
		c.Send(Plain, bytesOf("x"))
	})
	<-first.closed
	r.do(func() { c.Send(Plain, bytesOf(get("/a"))) })
	r.until("the answer", func() bool { return c.Outstanding() == 0 })
	r.do(c.Close)
	<-last.closed
	if got := strings.Join(last.words, " "); got != "up 200 =/a done reusable" {
		t.Error(got)
	}
}

func TestOpenClientIsNotDialled(t *testing.T) {
	r := clientRig(t)
	d := newDiary()
	var c *Client
	panics := 0
	try := func() {
		defer func() {
			if strings.Contains(fmt.Sprint(recover()), "still open") {
				panics++
			}
		}()
		c.Dial(r.loop, r.addr, ClientOptions{}, d)
	}
	d.done = func(*Client, bool) {
		try()
		c.Close()
		try()
	}
	r.do(func() {
		c = Dial(r.loop, r.addr, ClientOptions{}, d)
		try() // while it is being dialled
		c.Send(Plain, bytesOf(get("/a")))
	})
	<-d.closed
	if panics != 3 {
		t.Errorf("%d of 3 panics", panics)
	}
	if got := strings.Join(d.words, " "); got != "up 200 =/a done reusable" {
		t.Error(got)
	}
}

// nomad asks once a connection, as often as it is told to.
type nomad struct {
	loop    *netloop.Loop
	addr    netip.AddrPort
	request [][]byte
	client  Client
	left    int
	ended   chan struct{}
}

func (a *nomad) dial() {
	if a.left--; a.left >= 0 {
		a.client.Dial(a.loop, a.addr, ClientOptions{DialTimeout: patience, HeadTimeout: patience}, a)
		a.client.Send(Plain, a.request)
	} else {
		a.ended <- struct{}{}
	}
}
func (a *nomad) OnConnect(*Client)                       {}
func (a *nomad) OnBegin(*Client)                         {}
func (a *nomad) OnInterim(*Client, *http1.Response)      {}
func (a *nomad) OnResponse(*Client, *http1.Response)     {}
func (a *nomad) OnBody(*Client, []byte)                  {}
func (a *nomad) OnDone(c *Client, _ *http1.Body, _ bool) {}
func (a *nomad) OnTurn(*Client)                          {}
func (a *nomad) OnDrain(*Client)                         {}
func (a *nomad) OnClose(*Client, error)                  { a.dial() }

// Neither does a connection cost an allocation, where the client has been one
// before.
func TestClientAllocatesNothingForAConnection(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: hello}))
	const rounds = 200
	a := &nomad{loop: r.loop, addr: r.addr, left: rounds, ended: make(chan struct{}),
		request: bytesOf("GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")}
	r.loop.Post(a.dial)
	<-a.ended
	again := func() {
		a.left = rounds
		a.dial()
	}
	if n := mallocs(func() { r.loop.Post(again); <-a.ended }); n > rounds/10 {
		t.Errorf("%d allocations for %d connections", n, rounds)
	}
}
