//go:build linux

package proxy

import "testing"

// A connection that was made ready may be closed by its server just as the first
// request comes, as any idle one: a request that is safe is sent once more, and no
// failure is counted.
func TestReadyClosesMeanwhile(t *testing.T) {
	for _, c := range []struct {
		request, rest string
		status, seen  int
	}{
		{"GET /", "", 200, 2},
		{"POST /", "Content-Length: 2\r\n\r\nab", 502, 1},
	} {
		s := play(t, "", func(c *scriptedConn) {
			if c.n > 0 {
				c.serve("x")
				return
			}
			c.request()
		})
		set := settings(s.addr)
		set.Upstreams[0].Ready = 1
		p, addr := run(t, set, Options{})
		w := p.workers[0]
		eventually(t, "one is ready", func() (is bool) {
			onLoop(w, func() { is = len(p.plan.upstreams[0].origins[0].pools[0].idle) == 1 })
			return is
		})
		connect(t, addr).want(t, c.status, c.request, c.rest)
		if n := s.count(c.request); n != c.seen {
			t.Errorf("%s: the server has seen it %d times, want %d", c.request, n, c.seen)
		}
		if n := metric(t, p, "upstream_failures_total"); n != 0 {
			t.Errorf("%s: %v failures of a server that is well", c.request, n)
		}
	}
}

// What a server sends over an idle connection is nobody's answer, also if it comes
// in the same moment as the next request, before it or behind.
func TestUnaskedBytesMeetARequest(t *testing.T) {
	for _, first := range []string{"request", "bytes"} {
		for _, request := range []string{"GET /2", "POST /2"} {
			send, sent := make(chan struct{}), make(chan struct{})
			s := play(t, "", func(c *scriptedConn) {
				if c.n > 0 {
					c.serve("second")
					return
				}
				c.request()
				c.say(answerOf("first"))
				<-send
				c.say(answerOf("forged"))
				close(sent)
				c.untilClosed()
			})
			p, addr := run(t, settings(s.addr), Options{})
			client := connect(t, addr)
			client.want(t, 200, "GET /1", "")
			release := hold(t, p.workers[0])
			if first == "bytes" {
				close(send)
				<-sent
			}
			err := client.send(request, "Content-Length: 0\r\n")
			if first == "request" {
				close(send)
				<-sent
			}
			release()
			if err != nil {
				t.Fatal(err)
			}
			if r, body, err := client.answer(request); err != nil || r.StatusCode != 200 || body != "second" {
				t.Errorf("%s first, %s: %q, %v", first, request, body, err)
			}
			if n := s.count(request); n != 1 {
				t.Errorf("%s first, %s: the server has seen it %d times", first, request, n)
			}
		}
	}
}
