//go:build linux

package httpconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// funcs is a Handler of those functions that a test needs.
type funcs struct {
	request func(*Session, *http1.Request)
	body    func(*Session, []byte)
	bodyEnd func(*Session)
	drain   func(*Session)
	done    func(*Session, error)
}

func (f *funcs) OnRequest(s *Session, r *http1.Request) { f.request(s, r) }
func (f *funcs) OnBody(s *Session, piece []byte)        { f.body(s, piece) }
func (f *funcs) OnBodyEnd(s *Session, _ *http1.Body)    { f.bodyEnd(s) }
func (f *funcs) OnDrain(s *Session) {
	if f.drain != nil {
		f.drain(s)
	}
}
func (f *funcs) OnClose(*Session) {}

func (f *funcs) OnDone(s *Session, err error) {
	if f.done != nil {
		f.done(s, err)
	}
}

func hello(s *Session, r *http1.Request) { s.Reply(200, "", r.Path()) }

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n" }

func ok(close bool, body string) string { return plainHead(200, len(body), close, "") + body }

func TestServerTimeouts(t *testing.T) {
	const short, long = 100 * time.Millisecond, time.Minute
	const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
	const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	late := plainHead(408, 0, true, "")
	one := ok(false, "/1")
	type talk struct{ send, want string }
	f := func(name string, o ServerOptions, talks ...talk) {
		t.Run(name, func(t *testing.T) {
			o.NoDate, o.MaxBody = true, 100
			r := newRig(t, netloop.Options{}, o, handle(&funcs{request: func(s *Session, r *http1.Request) {
				if k, _ := r.Framing(); k == http1.None || o.WholeBodies {
					hello(s, r)
				}
			}, body: func(*Session, []byte) {}}))
			var peers []*peer
			for _, talk := range talks {
				peers = append(peers, r.dial())
				peers[len(peers)-1].send(talk.send)
			}
			for i, p := range peers {
				p.expect(talks[i].want)
				p.expectEnd()
			}
		})
	}
	f("idle", ServerOptions{IdleTimeout: short, HeadTimeout: long, BodyTimeout: long},
		talk{"", ""}, talk{get("/1"), one}, talk{"\r\n\r\n\r", ""})
	f("head", ServerOptions{IdleTimeout: long, HeadTimeout: short, BodyTimeout: long},
		talk{"GET", late}, talk{get("/1") + "GET / HTTP/1.1\r\nHo", one + late})
	f("whole body", ServerOptions{IdleTimeout: long, HeadTimeout: long, BodyTimeout: short, WholeBodies: true},
		talk{post + "hel", late}, talk{chunked + "3\r\nhe", late})
	f("body", ServerOptions{IdleTimeout: long, HeadTimeout: long, BodyTimeout: short},
		talk{post + "hel", late}, talk{get("/1") + post, one + late})
}

// Who is not to blame is not timed: not the client whose body is paused, nor
// the one that waits for an answer.
func TestServerTimesNobodyElse(t *testing.T) {
	const short = 20 * time.Millisecond
	var session *Session
	paused := make(chan bool, 1)
	whole := make(chan bool, 1)
	h := &funcs{
		request: func(s *Session, r *http1.Request) { session = s; s.PauseBody(); paused <- true },
		body:    func(*Session, []byte) {},
		bodyEnd: func(s *Session) { whole <- true },
	}
	r := newRig(t, netloop.Options{}, ServerOptions{HeadTimeout: time.Minute, BodyTimeout: short, MaxBody: 100, NoDate: true}, handle(h))
	p := r.dial()
	p.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
	<-paused
	time.Sleep(3 * short)
	r.do(func() { session.ResumeBody() })
	<-whole
	time.Sleep(3 * short) // the handler thinks
	r.do(func() { session.Reply(200, "", []byte("at last")) })
	p.expect(ok(false, "at last"))
	p.Close()
}

// An idle connection is one that has taken its answers.
func TestSlowReaderIsNotIdle(t *testing.T) {
	answer := pattern(20 << 20)
	r := newRig(t, netloop.Options{}, ServerOptions{IdleTimeout: 400 * time.Millisecond, NoDate: true},
		handle(&funcs{request: func(s *Session, _ *http1.Request) { s.Reply(200, "", answer) }}))
	for _, second := range []bool{true, false} { // is there already, or comes later
		p := r.dial()
		send := get("/1")
		if second {
			send += get("/2")
		}
		p.send(send)
		time.Sleep(800 * time.Millisecond)
		p.expect(ok(false, string(answer)))
		if !second {
			p.send(get("/2"))
		}
		p.expect(ok(false, string(answer)))
		p.expectEnd()
	}
}

// While output is pending nothing more is looked at, and what is sent waits
// with the client.
func TestNothingIsParsedWhileOutputPends(t *testing.T) {
	answer := pattern(8 << 20)
	var asked atomic.Int32
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, _ *http1.Request) {
		asked.Add(1)
		s.Reply(200, "", answer)
	}}))
	p := r.dial()
	_ = p.SetReadBuffer(64 << 10) // or the system would take whole answers
	p.send(strings.Repeat(get("/"), 10))
	for n := int32(1); n <= 10; n++ {
		r.settled()
		if got := asked.Load(); got > n {
			t.Fatalf("%d requests were answered where %d answers were taken", got, n-1)
		}
		p.expect(ok(false, string(answer)))
	}
	if got := r.group.Memory().Stats(); got.Live.Bytes > 10<<20 {
		t.Errorf("%d bytes live", got.Live.Bytes)
	}
	p.Close()
}

// A long pipeline does not keep its neighbour waiting until its end.
func TestTurns(t *testing.T) {
	var order []string // written on the loop
	r := newRig(t, netloop.Options{MaxInput: 1 << 20}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		order = append(order, string(r.Path()))
		hello(s, r)
	}}))
	const many = 5 * turn / 2
	long, short := r.dial(), r.dial()
	r.settled()
	r.do(func() { // the loop stands still while both send
		long.send(strings.Repeat(get("/a"), many))
		short.send(get("/b"))
	})
	short.expect(ok(false, "/b"))
	long.expect(strings.Repeat(ok(false, "/a"), many))
	r.do(func() {
		at := 0
		for order[at] != "/b" {
			at++
		}
		if len(order) != many+1 || at > 2*turn {
			t.Errorf("the neighbour was number %d of %d", at+1, len(order))
		}
	})
	long.Close()
	short.Close()
}

// Two sessions of one loop answer each other's requests, in the middle of
// pipelines: answers are collected for the one that is being read alone.
func TestAnswersDoNotCross(t *testing.T) {
	waiting := map[string]*Session{}
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		path := string(r.Path())
		switch kind, who := path[:2], path[2:]; kind {
		case "/w": // waits for the other's call
			waiting[who] = s
		case "/c": // answers who waits, then itself
			waiting[who].Reply(200, "", []byte("called"))
			hello(s, r)
		default:
			hello(s, r)
		}
	}}))
	a, b := r.dial(), r.dial()
	a.send(get("/1") + get("/wa") + get("/2"))
	r.settled()
	b.send(get("/3") + get("/ca") + get("/4") + get("/wb") + get("/5"))
	r.settled()
	a.send(get("/6") + get("/cb") + get("/7"))
	a.expect(ok(false, "/1") + ok(false, "called") + ok(false, "/2") + ok(false, "/6") + ok(false, "/cb") + ok(false, "/7"))
	b.expect(ok(false, "/3") + ok(false, "/ca") + ok(false, "/4") + ok(false, "called") + ok(false, "/5"))
	a.Close()
	b.Close()
}

func TestFiftyPipelined(t *testing.T) {
	var send, want strings.Builder
	for i := range 50 {
		path, body := fmt.Sprintf("/%d", i), strings.Repeat("x", i)
		switch i % 3 {
		case 0:
			send.WriteString(get(path))
			body = ""
		case 1:
			fmt.Fprintf(&send, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s\r\n", path, i, body)
		case 2:
			fmt.Fprintf(&send, "POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n\r\n\r\n", path, i, body)
		}
		want.WriteString(ok(false, path+body))
	}
	s := &script{steps: []scriptStep{{send.String(), want.String()}}, end: "open"}
	r := newRig(t, netloop.Options{}, ServerOptions{WholeBodies: true, MaxBody: 50, NoDate: true}, handle(&funcs{request: func(s *Session, r *http1.Request) {
		if string(r.Path()) == "/probe" {
			s.Reply(200, "", []byte("!"))
			return
		}
		s.Reply(200, "", append(bytes.Clone(r.Path()), s.WholeBody()...))
	}}))
	r.run(t, s)
}

// copier sends a request's body back, and takes no more of it than the client
// takes of the answer.
type copier struct {
	most int // pending bytes seen
}

func (h *copier) OnRequest(s *Session, r *http1.Request) {
	var head http1.Segments
	head.StatusLine(200, nil)
	kind, size := r.Framing()
	s.SendHead(&head, 200, kind, size)
}

func (h *copier) OnBody(s *Session, piece []byte) {
	s.SendBody(piece)
	h.most = max(h.most, s.Conn().Pending())
	if s.Conn().Pending() > 0 {
		s.PauseBody()
	}
}
func (h *copier) OnBodyEnd(s *Session, _ *http1.Body) { s.EndBody(nil) }
func (h *copier) OnDrain(s *Session)                  { s.ResumeBody() }
func (h *copier) OnDone(*Session, error)              {}
func (h *copier) OnClose(*Session)                    {}

func TestStreamsWithBackPressure(t *testing.T) {
	h := &copier{}
	r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: math.MaxInt64, NoDate: true}, handle(h))
	body := pattern(12 << 20)
	f := func(name string, chunked bool, slowReader, slowWriter bool) {
		t.Run(name, func(t *testing.T) {
			p := r.dialFor(t)
			go func() {
				head := fmt.Sprintf("Content-Length: %d", len(body))
				if chunked {
					head = "Transfer-Encoding: chunked"
				}
				p.send("POST / HTTP/1.1\r\nHost: a\r\n" + head + "\r\n\r\n")
				for at, size := 0, 1; at < len(body); at += size {
					size = min(1+at*7%100_000, len(body)-at)
					if slowWriter && at%5 == 0 {
						time.Sleep(200 * time.Microsecond)
					}
					piece := string(body[at : at+size])
					if chunked {
						piece = fmt.Sprintf("%x\r\n%s\r\n", size, piece)
					}
					if _, err := p.Write([]byte(piece)); err != nil {
						t.Error(err)
						return
					}
				}
				if chunked {
					p.send("0\r\n\r\n")
				}
			}()
			if slowReader {
				time.Sleep(30 * time.Millisecond) // so that all buffers are full
				if live := r.group.Memory().Stats().Live.Bytes; live > 1<<20 {
					t.Errorf("%d bytes of the slab live", live)
				}
			}
			got, err := io.ReadAll(p)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := bytes.Cut(got, []byte("\r\n\r\n"))
			if chunked {
				rest = dechunk(t, rest)
			}
			if !bytes.Equal(rest, body) {
				t.Errorf("%d bytes came back, differing at %d", len(rest), differsAt(rest, body))
			}
			p.Close()
			r.do(func() {
				if h.most > 256<<10 {
					t.Errorf("%d bytes of output were pending", h.most)
				}
			})
		})
	}
	f("slow reader", false, true, false)
	f("slow writer", false, false, true)
	f("chunked, slow reader", true, true, false)
	f("chunked, slow writer", true, false, true)
}

func dechunk(t *testing.T, in []byte) (out []byte) {
	t.Helper()
	var b http1.Body
	b.Reset(http1.Chunked, 0)
	for {
		data, n, done, fault := b.Next(in)
		out = append(out, data...)
		in = in[n:]
		if fault != 0 || !done && n == 0 {
			t.Fatalf("bad chunks: %v", fault)
		}
		if done {
			return out
		}
	}
}

func differsAt(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// A pause ends with its exchange: the next request is read.
func TestPauseEndsWithTheExchange(t *testing.T) {
	h := &funcs{request: func(s *Session, r *http1.Request) {
		if k, _ := r.Framing(); k == http1.None {
			s.PauseBody() // which there is not
			s.server.loop.Post(func() { s.Reply(200, "", []byte("none")) })
		}
	}, bodyEnd: func(s *Session) { s.Reply(200, "", []byte("all")) }}
	h.body = func(s *Session, piece []byte) { s.PauseBody() }
	r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: 100, NoDate: true}, handle(h))
	p := r.dial()
	post := "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
	p.send(post + get("/") + post + get("/"))
	p.expect(strings.Repeat(ok(false, "all")+ok(false, "none"), 2))
	p.send(get("/"))
	p.expect(ok(false, "none"))
	p.Close()
}

// The client is known to be done when its second request begins: a pause does
// not make its body end early.
func TestPausedBodyOutlivesItsClient(t *testing.T) {
	var session *Session
	var got []byte
	h := &funcs{
		request: func(s *Session, r *http1.Request) { session = s },
		body:    func(s *Session, piece []byte) { got = append(got, piece...); s.PauseBody() },
		bodyEnd: func(s *Session) { s.Reply(200, "", got) },
	}
	r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: 100, NoDate: true}, handle(h))
	p := r.dial()
	p.send(get("/1") + "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n")
	_ = p.CloseWrite()
	r.until("the end", func() bool { return session != nil && session.peerDone })
	r.do(func() { session.Reply(200, "", []byte("first")) })
	for n := 1; n <= 3; n++ {
		r.until("a piece", func() bool { return len(got) == n })
		r.do(func() { session.ResumeBody() })
	}
	p.expect(ok(false, "first") + ok(false, "abc"))
	p.expectEnd()
}

// Each exchange ends once, and says how.
func TestOnDone(t *testing.T) {
	var outcome []error
	last := make(chan struct{}, 10)
	var mode string
	h := &funcs{
		body:    func(s *Session, _ []byte) {},
		bodyEnd: func(s *Session) {},
		done:    func(s *Session, err error) { outcome = append(outcome, err); last <- struct{}{} },
	}
	h.request = func(s *Session, r *http1.Request) {
		switch mode = string(r.Path()); mode {
		case "/reply":
			hello(s, r)
		case "/abort":
			s.Abort()
		}
	}
	r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: 5, NoDate: true, BodyTimeout: 200 * time.Millisecond}, handle(h))
	f := func(send string, then func(*peer), want error) {
		t.Helper()
		p := r.dial()
		p.send(send)
		r.settled()
		if then != nil {
			then(p)
		}
		<-last
		p.Close()
		r.settled()
		r.do(func() {
			if len(outcome) != 1 || !errors.Is(outcome[0], want) {
				t.Errorf("%q: done with %v, want %v", send, outcome, want)
			}
			outcome = outcome[:0]
		})
	}
	post := func(rest string) string {
		return "POST /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + rest
	}
	fin := func(p *peer) { _ = p.CloseWrite() }
	rst := func(p *peer) { _ = p.SetLinger(0); p.Close() }
	f(get("/reply"), nil, nil)
	f(get("/abort"), nil, netloop.ErrAborted)
	f(post("1\r\na"), fin, ErrGone)
	f(post("zzz"), nil, Refused(400))
	f(post("6\r\nabcdef\r\n"), nil, Refused(413))
	f(post("1\r\na"), nil, Refused(408))
	f(post("1\r\na"), rst, syscall.ECONNRESET)
}

func TestShutdown(t *testing.T) {
	post := "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
	f := func(name string, whole bool, before, after, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			var waits *Session
			h := &funcs{body: func(*Session, []byte) {}, bodyEnd: func(s *Session) { s.Reply(200, "", nil) }}
			h.request = func(s *Session, r *http1.Request) {
				switch k, _ := r.Framing(); {
				case string(r.Path()) == "/wait":
					waits = s
				case k == http1.None || whole:
					hello(s, r)
				}
			}
			r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: 5, NoDate: true, WholeBodies: whole}, handle(h))
			p := r.dial()
			p.send(before)
			r.settled()
			if strings.Contains(before, "/wait") {
				r.until("the request", func() bool { return waits != nil })
			}
			ended := make(chan error, 1)
			go func() { ended <- r.group.Shutdown(context.Background()) }()
			for !r.loop.Draining() {
				time.Sleep(time.Millisecond)
			}
			r.settled()
			p.send(after)
			if waits != nil {
				r.settled()
				r.loop.Post(func() { waits.Reply(200, "", nil) })
			}
			p.expect(want)
			p.expectEnd()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	none := ok(true, "")
	f("fresh", true, "", get("/x"), ok(true, "/x"))
	f("in a head", true, "GET /x HT", "TP/1.1\r\nHost: a\r\n\r\n", ok(true, "/x"))
	f("in a whole body", true, post+"h", "i", ok(true, "/x"))
	f("in a body", false, post+"h", "i", none)
	f("answering", true, get("/wait"), "", none)
	f("answering, and more", true, get("/wait")+get("/x"), "", none)
	f("behind an answer, in the next head", true, get("/x")+"G", "ET /y HTTP/1.1\r\nHost: a\r\n\r\n", ok(false, "/x")+ok(true, "/y"))

	t.Run("idle and fresh", func(t *testing.T) {
		r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: hello}))
		p, fresh, silent := r.dial(), r.dial(), r.dial()
		p.send(get("/x"))
		p.expect(ok(false, "/x"))
		r.settled()
		go r.group.Shutdown(context.Background())
		p.expectEnd()
		fresh.send(get("/y")) // it may still ask
		fresh.expect(ok(true, "/y"))
		fresh.expectEnd()
		if testing.Short() {
			silent.Close()
		} else {
			silent.expectEnd() // after a second
		}
	})

	t.Run("with a request behind an answer that is not taken", func(t *testing.T) {
		answer := pattern(10 << 20)
		r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, _ *http1.Request) { s.Reply(200, "", answer) }}))
		p := r.dial()
		_ = p.SetReadBuffer(64 << 10)
		p.send(get("/1") + get("/2"))
		r.until("the first answer", func() bool { return r.group.Memory().Stats().Live.Bytes > 1<<20 })
		go r.group.Shutdown(context.Background())
		for !r.loop.Draining() {
			time.Sleep(time.Millisecond)
		}
		r.settled()
		p.expect(ok(false, string(answer)))
		p.expect(ok(true, string(answer)))
		p.expectEnd()
	})
}

// When memory is used up, requests that need more are refused, and the server
// lives on.
func TestOutOfMemory(t *testing.T) {
	r := newRig(t, netloop.Options{Memory: 256 << 10, MaxInput: 2 << 20}, ServerOptions{MaxBody: 1 << 20, WholeBodies: true, NoDate: true}, handle(&funcs{request: hello}))
	p := r.dial()
	p.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n80000\r\n")
	go p.Write(pattern(512 << 10)) // a reset may end it
	p.expect(plainHead(503, 0, true, ""))
	p.Close()
	p = r.dial()
	p.send(get("/x"))
	p.expect(ok(false, "/x"))
	p.Close()
}
