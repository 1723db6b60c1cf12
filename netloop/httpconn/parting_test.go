//go:build linux

package httpconn

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

const (
	keptAlive  = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	willClose  = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
	isOld      = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	endsByEnd  = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi"
	inChunks   = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
	notHanded  = "HTTP/1.1 101 Up\r\nConnection: close, upgrade\r\nUpgrade: x\r\n\r\n"
	withoutAny = "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n"
)

// turns notes, in the iteration in which an answer has ended, but after all
// that comes of it there, whether the connection is still open.
func turns(r *rig, d *diary) *diary {
	d.done = func(c *Client, reusable bool) {
		if !reusable {
			r.loop.Post(func() {
				if len(d.reasons) == 0 {
					d.note("waits")
				}
			})
		}
	}
	return d
}

// Who closes first: a server that has said that it would may.
func TestClientWaitsForTheServerToClose(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	once := func(asks []Ask, answer string, then func(*Client, *peer)) (words string, slow bool) {
		d := turns(r, newDiary())
		c := r.client(o.addr(), ClientOptions{IdleTimeout: time.Minute}, d)
		p := o.accept()
		r.do(func() {
			for _, ask := range asks {
				c.Send(ask, bytesOf("x"))
			}
		})
		p.expect(strings.Repeat("x", len(asks)))
		begin := time.Now()
		p.send(answer)
		r.settled()
		then(c, p)
		slow = time.Since(begin) > partingTime/2
		<-d.closed
		p.Close()
		return strings.Join(d.said(r), " "), slow
	}
	f := func(asks []Ask, answer string, then func(*Client, *peer), want string) {
		t.Helper()
		want = "up " + want
		got, slow := once(asks, answer, then)
		for i := 0; i < 5 && got != want && slow; i++ { // the client may have been tired of waiting
			got, slow = once(asks, answer, then)
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", answer, got, want)
		}
	}
	one, two := []Ask{Plain}, []Ask{Plain, Plain}
	// The server's end is the first one, unless all stood still for too long:
	// then nothing is proved.
	serverEnds := func(_ *Client, p *peer) {
		begin := time.Now()
		_ = p.SetReadDeadline(begin.Add(3 * time.Millisecond))
		if n, err := p.Read(make([]byte, 1)); (n > 0 || !errors.Is(err, os.ErrDeadlineExceeded)) && time.Since(begin) < partingTime/2 {
			t.Errorf("the client did not wait: %d, %v", n, err)
		}
		_ = p.SetReadDeadline(begin.Add(patience))
		_ = p.CloseWrite()
		p.expectEnd()
	}
	clientEnds := func(_ *Client, p *peer) { p.expectEnd() }
	closes := func(c *Client, p *peer) {
		r.do(func() { c.Close(); c.Close() })
		p.expectEnd()
	}
	truncated, unasked := " "+ErrTruncated.Error(), " "+ErrUnasked.Error()

	for _, answer := range []string{willClose, isOld, inChunks} {
		f(one, answer, serverEnds, "200 =hi done waits")
		f(one, answer, closes, "200 =hi done waits")
		f(two, answer, serverEnds, "200 =hi done waits"+truncated)
		f(two, keptAlive+answer, serverEnds, "200 =hi done reusable 200 =hi done waits")
		// What comes meanwhile is no answer, but must be known.
		f(one, answer, func(_ *Client, p *peer) { _, _ = p.Write([]byte("junk")) }, "200 =hi done waits"+unasked)
		f(two, answer, func(_ *Client, p *peer) { _, _ = p.Write([]byte("junk")); serverEnds(nil, p) }, "200 =hi done waits"+truncated)
		f(two, answer+keptAlive, serverEnds, "200 =hi done waits"+truncated)
		// Nor is anything else told, or sent.
		f(one, answer, func(c *Client, p *peer) { r.do(func() { c.OnDrain(c.conn) }); serverEnds(c, p) }, "200 =hi done waits")
		f(one, answer, func(c *Client, p *peer) {
			r.do(func() { c.Send(Plain, bytesOf("y")); c.Close() })
			p.expectEnd()
		}, "200 =hi done waits "+ErrUnsent.Error())
	}
	f(two, willClose, func(c *Client, _ *peer) {
		r.do(func() {
			if c.open {
				c.OnShutdown(c.conn)
			}
		})
		r.do(func() {
			if c.open {
				t.Error("the client waits while the group shuts down")
			}
		})
	}, "200 =hi done waits"+truncated)
	f(one, withoutAny, serverEnds, "204 done waits")

	// When the time is over, which nothing makes longer.
	f(one, willClose, clientEnds, "200 =hi done waits")
	f(two, willClose, clientEnds, "200 =hi done waits"+truncated)
	f(one, willClose, func(c *Client, p *peer) { r.do(func() { c.Send(Plain, bytesOf("y")) }); clientEnds(c, p) },
		"200 =hi done waits "+ErrUnsent.Error())
	f(one, willClose, func(c *Client, p *peer) { r.do(func() { c.PauseBody() }); clientEnds(c, p) }, "200 =hi done waits")

	// At once: what is no use to wait for.
	for _, answer := range []string{keptAlive, willClose, isOld, inChunks} {
		f(one, answer+"junk", clientEnds, "200 =hi done"+unasked)
	}
	f(one, endsByEnd, func(_ *Client, p *peer) { _ = p.CloseWrite(); p.expectEnd() }, "200 =hi done")
	f([]Ask{Switch}, notHanded, clientEnds, "101 done")
}

// The end in the packet of the answer is found at once.
func TestServerClosesWithItsAnswer(t *testing.T) {
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: hello}))
	for range 20 {
		d := newDiary()
		c := r.client(r.addr, ClientOptions{}, d)
		r.do(func() { c.Send(Plain, bytesOf("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")) })
		<-d.closed
		if got := strings.Join(d.words, " "); got != "up 200 =/a done" {
			t.Error(got)
		}
	}
}

// While the group shuts down, nobody waits.
func TestClientDoesNotWaitWhileItDrains(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	early, late := turns(r, newDiary()), turns(r, newDiary())
	c := r.client(o.addr(), ClientOptions{}, early)
	p := o.accept()
	b := r.client(o.addr(), ClientOptions{}, late)
	q := o.accept()
	r.do(func() { c.Send(Plain, bytesOf("x")); b.Send(Plain, bytesOf("x")) })
	p.expect("x")
	q.expect("x")
	p.send(willClose)
	r.until("the answer", func() bool { return c.Outstanding() == 0 })
	ended := make(chan error)
	go func() { ended <- r.group.Shutdown(context.Background()) }()
	p.expectEnd()
	<-early.closed
	r.until("the shutdown", func() bool { return r.loop.Draining() })
	q.send(willClose)
	q.expectEnd()
	<-late.closed
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := strings.Join(early.words, " "); got != "up 200 =hi done waits" {
		t.Error(got)
	}
	if got := strings.Join(late.words, " "); got != "up 200 =hi done" {
		t.Error(got)
	}
}

// Only what comes behind the last answer that was asked for is surplus.
func TestSurplus(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	f := func(asks []Ask, answers string, want ...bool) {
		t.Helper()
		var got []bool
		d := newDiary()
		d.done = func(c *Client, reusable bool) {
			if got = append(got, c.Surplus()); c.Surplus() && reusable {
				t.Errorf("%q: surplus, and reusable", answers)
			}
		}
		c := r.client(o.addr(), ClientOptions{}, d)
		p := o.accept()
		r.do(func() {
			for _, ask := range asks {
				c.Send(ask, bytesOf("x"))
			}
		})
		p.expect(strings.Repeat("x", len(asks)))
		p.send(answers)
		_ = p.CloseWrite()
		<-d.closed
		p.Close()
		same := len(got) == len(want)
		for i := range want {
			same = same && got[i] == want[i]
		}
		if unasked := d.reasons[0] == ErrUnasked; !same || unasked != want[len(want)-1] {
			t.Errorf("%q: surplus %v, closed with %v, want %v", answers, got, d.reasons[0], want)
		}
	}
	f([]Ask{Plain}, keptAlive, false)
	f([]Ask{Plain}, keptAlive+"\r\n", true)
	f([]Ask{Head}, keptAlive, true) // nothing follows a head of this kind
	f([]Ask{Plain}, willClose+".", true)
	f([]Ask{Plain, Plain}, keptAlive+keptAlive, false, false)
	f([]Ask{Plain, Plain}, keptAlive+keptAlive+".", false, true)
	f([]Ask{Plain}, endsByEnd+keptAlive, false)
	f([]Ask{Switch}, notHanded+"another protocol", false)
}

// The first byte of an answer is told of at once, and of each.
func TestClientHearsTheFirstByte(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	d := newDiary()
	d.begin = func(*Client) { d.note("begins") }
	d.done = func(c *Client, _ bool) { c.PauseBody() } // which keeps nothing from being heard of
	c := r.client(o.addr(), ClientOptions{}, d)
	p := o.accept()
	r.do(func() { c.Send(Plain, bytesOf("x")); c.Send(Plain, bytesOf("x")) })
	said := func(received int, want string) {
		t.Helper()
		r.settled()
		if got := strings.Join(d.said(r), " "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		r.do(func() {
			if got := c.Received(); got != received {
				t.Errorf("%s: %d bytes received, want %d", want, got, received)
			}
		})
	}
	const interim = "HTTP/1.1 103 Hints\r\n\r\n"
	said(0, "up")
	p.send("H")
	said(1, "up begins")
	p.send(interim[1:])
	said(len(interim), "up begins 103..")
	p.send("HTT")
	said(len(interim)+3, "up begins 103..")
	p.send("P/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" + "HTTP")
	said(0, "up begins 103.. 200 =hi done reusable begins")
	r.do(c.ResumeBody)
	said(4, "up begins 103.. 200 =hi done reusable begins")
	p.send(keptAlive[4:])
	said(0, "up begins 103.. 200 =hi done reusable begins 200 =hi done reusable")
	r.do(c.Close)
	<-d.closed
	p.Close()
	if want := len(interim) + 2*len(keptAlive); d.received != want {
		t.Errorf("%d bytes received, want %d", d.received, want)
	}

	// A client may be closed there.
	d = newDiary()
	d.begin = func(c *Client) { c.Close() }
	c = r.client(r.addr, ClientOptions{}, d)
	r.do(func() { c.Send(Plain, bytesOf(get("/a"))) })
	<-d.closed
	if got := strings.Join(d.words, " "); got != "up "+netloop.ErrAborted.Error() {
		t.Error(got)
	}
}

// What a call of Received counts while an answer comes.
func TestReceived(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	d := newDiary()
	var heads, bodies []int
	d.response = func(c *Client, _ *http1.Response) { heads = append(heads, c.Received()) }
	d.body = func(c *Client, _ []byte) { bodies = append(bodies, c.Received()) }
	c := r.client(o.addr(), ClientOptions{}, d)
	p := o.accept()
	r.do(func() { c.Send(Plain, bytesOf("x")) })
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	const first, second, end = "2;a=b\r\nhi", "\r\n3\r\nyou", "\r\n0\r\nA: b\r\n\r\n"
	p.send(head + first + second + end)
	r.until("the answer", func() bool { return c.Outstanding() == 0 })
	r.do(c.Close)
	<-d.closed
	p.Close()
	n := len(head)
	if len(heads) != 1 || heads[0] != n || len(bodies) != 2 || bodies[0] != n+len(first) || bodies[1] != n+len(first+second) {
		t.Error(heads, bodies)
	}
	if d.received != n+len(first+second+end) {
		t.Error(d.received)
	}
}
