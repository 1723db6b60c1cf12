//go:build linux

package httpconn

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// gathered answers every request with a head, pieces and trailers, gathered if
// it is told so.
type gathered struct {
	gather  bool
	pieces  []string
	framing http1.Framing
	size    int64
	early   bool // Flush comes before the end
	out     http1.Segments
}

func (g *gathered) OnRequest(s *Session, r *http1.Request) {
	g.out.Reset()
	g.out.StatusLine(200, nil)
	if g.gather {
		s.Gather(&g.out)
	}
	s.SendHead(&g.out, 200, g.framing, g.size)
	for _, p := range g.pieces {
		s.SendBody([]byte(p))
	}
	if g.early {
		s.Flush()
	}
	s.EndBody([]byte("X-T: t\r\n"))
	s.Flush()
	s.Flush() // once more does nothing
}

func (*gathered) OnBody(*Session, []byte)         {}
func (*gathered) OnBodyEnd(*Session, *http1.Body) {}
func (*gathered) OnDrain(*Session)                {}
func (*gathered) OnDone(*Session, error)          {}
func (*gathered) OnClose(*Session)                {}

// What is gathered is what would have been sent piece by piece.
func TestGather(t *testing.T) {
	many := make([]string, 3*gatherMost)
	for i := range many {
		many[i] = fmt.Sprint(i % 10)
	}
	h := new(gathered)
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(h))
	for _, pieces := range [][]string{nil, {"abc"}, {"abc", "", "defghi"}, {strings.Repeat("x", 300_000)}, many} {
		size := int64(len(strings.Join(pieces, "")))
		for _, framing := range []http1.Framing{http1.Chunked, http1.Sized, http1.UntilClose} {
			for _, ask := range []string{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "HEAD / HTTP/1.0\r\n\r\n",
				get("/") + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"} {
				var answers []string
				for _, how := range []gathered{{}, {gather: true}, {gather: true, early: true}} {
					how.pieces, how.framing, how.size = pieces, framing, size
					r.do(func() { *h = how })
					p := r.dial()
					p.send(ask)
					answer, err := io.ReadAll(p)
					if err != nil {
						t.Fatal(err)
					}
					answers = append(answers, string(answer))
				}
				if answers[1] != answers[0] || answers[2] != answers[0] || answers[0] == "" {
					t.Errorf("%d pieces, framing %d, %q: %.200q piece by piece, %.200q gathered, %.200q in two", len(pieces), framing, ask, answers[0], answers[1], answers[2])
				}
			}
		}
	}
}

// turner sees whether what it was given is still there at the turn's end.
type turner struct {
	*diary
	views, copies []string
	held          [][]byte
	turns         int
}

func (c *turner) OnResponse(cl *Client, r *http1.Response) {
	c.keep(r.Head())
	c.diary.OnResponse(cl, r)
}

func (c *turner) OnBody(cl *Client, piece []byte) {
	c.keep(piece)
	c.diary.OnBody(cl, piece)
}

func (c *turner) OnDone(cl *Client, b *http1.Body, reusable bool) {
	c.keep(b.Trailers())
	c.diary.OnDone(cl, b, reusable)
}

func (c *turner) keep(view []byte) {
	c.held, c.copies = append(c.held, view), append(c.copies, string(view))
}

func (c *turner) OnTurn(*Client) {
	c.turns++
	for _, view := range c.held {
		c.views = append(c.views, string(view))
	}
	c.held = nil
}

// Views live until OnTurn, which comes behind all that one arrival has brought.
func TestViewsLiveUntilTheTurnEnds(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\nA: b\r\n\r\n"
	ln := newOrigin(t)
	r := newRig(t, netloop.Options{}, ServerOptions{}, handle(&funcs{request: hello}))
	for cut := 1; cut < len(answer); cut++ {
		h := &turner{diary: newDiary()}
		c := r.client(ln.addr(), ClientOptions{}, h)
		r.do(func() { c.Send(Plain, [][]byte{[]byte(get("/"))}) })
		p := ln.accept()
		p.send(answer[:cut])
		r.settled()
		p.send(answer[cut:])
		r.until("an answer", func() bool { return strings.HasSuffix(strings.Join(h.words, " "), "done (A: b) reusable") })
		r.do(func() {
			if len(h.held) != 0 {
				t.Errorf("cut at %d: %d views, and no turn has ended behind them", cut, len(h.held))
			}
			if got, want := strings.Join(h.views, "|"), strings.Join(h.copies, "|"); got != want {
				t.Errorf("cut at %d: views %q were %q at the turn's end", cut, want, got)
			}
			if h.turns > 2 {
				t.Errorf("cut at %d: %d turns", cut, h.turns)
			}
			c.Close()
		})
		p.Close()
		<-h.closed
	}
}

// Limits that change count from the next request on, also on a connection that
// stands.
func TestSetLimits(t *testing.T) {
	h := &funcs{request: func(s *Session, r *http1.Request) {
		if k, _ := r.Framing(); k == http1.None {
			s.Reply(200, "", nil)
		}
	}, body: func(*Session, []byte) {}, bodyEnd: func(s *Session) { s.Reply(200, "", nil) }}
	r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: 10, NoDate: true}, handle(h))
	p := r.dial()
	post := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd"
	p.send(post)
	p.expect(plainHead(200, 0, false, ""))
	r.do(func() { r.server.SetLimits(ServerOptions{MaxBody: 3}) })
	p.send(post)
	p.expect(plainHead(413, 0, true, ""))
}
