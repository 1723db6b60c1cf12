//go:build linux

package httpconn

import (
	"testing"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// Abort cuts its own answer, not those that were given before it.
func TestAbortSendsWhatWasAnswered(t *testing.T) {
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		if string(r.Path()) == "/abort" {
			s.Abort()
			return
		}
		hello(s, r)
	}}))
	p := r.dial()
	p.send(get("/1") + get("/2") + get("/abort") + get("/3"))
	p.expect(ok(false, "/1") + ok(false, "/2"))
	p.expectReset()
}

// A connection that is handed over while its reading is paused is read.
func TestHandOverEndsPause(t *testing.T) {
	u := &tunnel{got: make(chan string, 1)}
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		s.PauseBody()
		var head http1.Segments
		head.StatusLine(101, nil)
		s.SendHead(&head, 101, http1.None, 0)
		s.HandOver(u)
	}}))
	p := r.dial()
	p.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
	p.expect("HTTP/1.1 101 Switching Protocols\r\n\r\n")
	p.Close()
	select {
	case <-u.got:
	case <-time.After(patience):
		t.Error("the new handler never hears of the connection's end")
	}
}

// The request has to be whole, and answered, before its connection is given
// away.
func TestHandOverTooEarly(t *testing.T) {
	why := make(chan any, 1)
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true, MaxBody: 10}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		func() {
			defer func() { why <- recover() }()
			s.HandOver(&tunnel{})
		}()
		s.Reply(200, "", nil)
	}}))
	for _, request := range []string{get("/"), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"} {
		p := r.dial()
		p.send(request)
		if got := <-why; got == nil {
			t.Errorf("%q is handed over", request)
		}
		p.Close()
	}
}

// A client that waits for 100 is not late before it was told to go on.
func TestContinueStartsTheClock(t *testing.T) {
	var waiting *Session
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true, MaxBody: 10, BodyTimeout: 50 * time.Millisecond}, handle(&funcs{
		request: func(s *Session, _ *http1.Request) { waiting = s },
		body:    func(*Session, []byte) {},
	}))
	p := r.dial()
	p.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	r.until("the request has come", func() bool { return waiting != nil })
	time.Sleep(150 * time.Millisecond)
	r.do(func() { waiting.Continue() })
	p.expect("HTTP/1.1 100 Continue\r\n\r\n" + plainHead(408, 0, true, ""))
	p.expectEnd()
}

func TestCloseAfter(t *testing.T) {
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		s.CloseAfter()
		hello(s, r)
	}}))
	p := r.dial()
	p.send(get("/1") + get("/2"))
	p.expect(ok(true, "/1"))
	p.expectEnd()
}

// askedOnce returns a client that waits for its first answer, what it hears,
// and the server that has the request.
func askedOnce(t *testing.T) (*rig, *Client, *diary, *peer) {
	r, o, d := clientRig(t), newOrigin(t), newDiary()
	c := r.client(o.addr(), ClientOptions{}, d)
	p := o.accept()
	r.do(func() { c.Send(Plain, bytesOf(get("/1"))) })
	p.expect(get("/1"))
	return r, c, d, p
}

// A request that begins on a client that is about to close is not sent, and
// its user knows.
func TestClientTooLate(t *testing.T) {
	r, c, d, p := askedOnce(t)
	p.send(ok(false, "/1"))
	r.until("the answer has come", func() bool { return c.Outstanding() == 0 })
	r.do(func() {
		if !c.Usable() {
			t.Error("an idle client is not usable")
		}
		c.OnTimeout(c.conn) // as the timer would call it
		if c.Usable() {
			t.Error("a client that closes is usable")
		}
		c.Send(Plain, bytesOf(get("/2")))
	})
	p.expectEnd()
	p.Close()
	<-d.closed
	if words := d.said(r); len(words) == 0 || words[len(words)-1] != ErrUnsent.Error() {
		t.Errorf("the client says %q", words)
	}
}

// Whether anything of an answer has come is known.
func TestClientBegun(t *testing.T) {
	for _, begun := range []bool{false, true} {
		r, c, d, p := askedOnce(t)
		if begun {
			p.send("H")
			r.until("a byte has come", func() bool { return c.Begun() })
		}
		r.do(func() {
			if c.Begun() != begun {
				t.Errorf("begun: %v", !begun)
			}
		})
		p.Close()
		<-d.closed
		want := map[bool]error{false: ErrNoAnswer, true: ErrTruncated}[begun]
		if words := d.said(r); words[len(words)-1] != want.Error() {
			t.Errorf("the client says %q, want %v", words, want)
		}
	}
}
