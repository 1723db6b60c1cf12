//go:build linux

package proxy

import (
	"io"
	"strconv"
	"testing"

	"redoubt/netloop"
	"redoubt/netloop/httpconn"
)

// light is a connection of the loop that always has something to do, a byte that
// it never takes: so each turn it gets is one that it would have had for a
// request.
type light struct {
	moved func() int64 // what the heavy one has, so far
	last  int64
	most  int64 // between two turns
	turns int   // in which the heavy one was under way
	over  bool
}

func (l *light) OnOpen(*netloop.Conn) {}

func (l *light) OnData(c *netloop.Conn, in []byte) int {
	now := l.moved()
	if l.last > 0 && now > l.last {
		l.most = max(l.most, now-l.last)
		l.turns++
	}
	l.last = now
	if l.over {
		c.Close()
	} else {
		c.Again()
	}
	return 0
}

func (l *light) OnEnd(c *netloop.Conn)        { c.Close() }
func (l *light) OnDrain(*netloop.Conn)        {}
func (l *light) OnTimeout(*netloop.Conn)      {}
func (l *light) OnShutdown(*netloop.Conn)     {}
func (l *light) OnClose(*netloop.Conn, error) {}

// A heavy exchange does not stall nine light ones of its loop: between two
// turns of each it moves no more than so many bytes.
func TestFairness(t *testing.T) {
	const most = 4 << 20
	size := int64(256 << 20)
	if testing.Short() {
		size = 32 << 20
	}
	for _, up := range []bool{false, true} {
		s := play(t, "", func(c *scriptedConn) {
			switch r := c.head(); {
			case r == nil:
			case r.Method == "POST":
				io.Copy(io.Discard, r.Body)
				c.say(answerOf(""))
			default:
				c.say("HTTP/1.1 200 OK\r\n\r\n")
				io.Copy(c, io.LimitReader(zeros{}, size))
			}
		})
		idle := play(t, "", func(c *scriptedConn) { c.say("x"); c.untilClosed() })
		c := settings(s.addr)
		c.Limits.Body = 1 << 40
		var heavy *exchange // the loop's
		p, addr := runWith(t, c, Options{}, func(p *Proxy) {
			w := p.workers[0]
			w.server = httpconn.NewServer(w.loop, serverOptions(w.plan, w.refused), func(s *httpconn.Session) httpconn.Handler {
				heavy = w.open(s).(*exchange)
				return heavy
			})
		})
		w := p.workers[0]
		var lights [9]light
		to := newOrigin(idle.addr, 1).addresses()[0]
		client := connect(t, addr)
		onLoop(w, func() {
			for i := range lights {
				lights[i].moved = func() int64 {
					if heavy == nil || heavy.plan == nil {
						return 0
					}
					return heavy.in + heavy.out
				}
				w.loop.Dial(to, &lights[i], 0)
			}
		})
		if up {
			go func() {
				client.send("POST /x", "Content-Length: "+strconv.FormatInt(size, 10)+"\r\n\r\n")
				io.Copy(client, io.LimitReader(zeros{}, size))
			}()
			if _, err := client.in.Peek(1); err != nil {
				t.Fatal(err)
			}
		} else {
			client.send("GET /x", "")
			if n, err := io.Copy(io.Discard, io.LimitReader(client.in, size)); err != nil {
				t.Fatal(n, err)
			}
		}
		onLoop(w, func() {
			for i := range lights {
				l := &lights[i]
				if l.over = true; l.most > most || l.turns < 10 {
					t.Errorf("up %t: the %dth light one had %d turns, and %d bytes of the heavy one passed between two of them", up, i, l.turns, l.most)
				}
			}
			t.Logf("up %t: %d bytes at most, %d turns", up, lights[0].most, lights[0].turns)
		})
		client.Close()
	}
}
