//go:build linux

package gun

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A flood fires as fast as it is answered, over the connections of its plan.
func TestFlood(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"one loop":           func(*Options) {},
		"two loops":          func(o *Options) { o.Loops = 2 },
		"pipelined":          func(o *Options) { o.Pipeline = 10 },
		"two loops in pipes": func(o *Options) { o.Loops, o.Pipeline = 2, 4 },
		"more loops":         func(o *Options) { o.Loops = 20 }, // than connections
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, answering(func(*request) string { time.Sleep(time.Millisecond); return ok }))
			summary := shoot(t, s, "flood(7,300ms)", numbered(1000), change)
			if n := summary.Shots; n.Answered != n.Sent || n.Sent < 7 || n.Sent != s.requests.Load() {
				t.Errorf("%+v, the server has read %d", n, s.requests.Load())
			}
			if summary.Opened != 7 || s.conns.Load() != 7 || summary.Connections != 7 || summary.Workers > 7 {
				t.Errorf("%d connections, %d opened, %d loops", summary.Connections, summary.Opened, summary.Workers)
			}
			if summary.In != s.out.Load() || summary.Out != s.in.Load() {
				t.Errorf("%d bytes in, %d were sent; %d bytes out, %d have come", summary.In, s.out.Load(), summary.Out, s.in.Load())
			}
		})
	}
}

// The limit is met exactly, and every record is fired as often as the others.
func TestFloodLimit(t *testing.T) {
	t.Parallel()
	for _, loops := range []int{1, 2} {
		var counts [10]atomic.Int64
		s := serve(t, answering(func(r *request) string { counts[r.path()[1]-'0'].Add(1); return ok }))
		summary := shoot(t, s, "flood(4,10s)", numbered(10), func(o *Options) { o.Limit, o.Loops, o.Pipeline = 1000, loops, 3 })
		if summary.Shots.Planned != 1000 || summary.Shots.Answered != 1000 {
			t.Errorf("%+v", summary.Shots)
		}
		for i := range counts {
			if counts[i].Load() != 100 {
				t.Errorf("record %d was fired %d times", i, counts[i].Load())
			}
		}
		summary = shoot(t, s, "flood(4,10s)", numbered(10), func(o *Options) { o.Passes, o.Loops = 7, loops })
		if summary.Shots.Answered != 70 {
			t.Errorf("7 passes over 10: %+v", summary.Shots)
		}
	}
}

// A pipeline is as deep as it is meant to be: the server answers nothing before
// so many requests have come.
func TestPipelineIsFull(t *testing.T) {
	t.Parallel()
	const depth = 8
	s := serve(t, func(c *conn) {
		for {
			for range depth {
				if c.request() == nil {
					return
				}
			}
			c.send(strings.Repeat(ok, depth))
		}
	})
	summary := shoot(t, s, "flood(2,10s)", numbered(100), func(o *Options) { o.Pipeline, o.Limit = depth, 1600 })
	if summary.Shots.Answered != 1600 || summary.Opened != 2 {
		t.Errorf("%+v %v over %d connections", summary.Shots, summary.Errors, summary.Opened)
	}
}

// A record that asks for the end of its connection is the last on it. The
// server checks that.
func TestPipelineWithCloses(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*request) string{"polite": polite, "deaf": fine} {
		t.Run(name, func(t *testing.T) {
			var behind atomic.Int64
			s := serve(t, func(c *conn) {
				for {
					r := c.request()
					if r == nil {
						return
					}
					c.send(answer(r))
					if r.field("Connection") == "close" {
						if c.request() != nil {
							behind.Add(1)
						}
						return
					}
				}
			})
			summary := shoot(t, s, "flood(3,10s)", magazineOf(keep, keep, keep, closes), func(o *Options) { o.Pipeline, o.Limit = 5, 800 })
			wantErrors(t, summary, "")
			if summary.Shots.Answered != 800 || behind.Load() != 0 {
				t.Errorf("%+v, %d requests behind a last one", summary.Shots, behind.Load())
			}
			if summary.Opened < 200 || summary.Opened > 203 {
				t.Errorf("%d connections", summary.Opened)
			}
		})
	}
}

// What is in flight behind a shot that fails is lost; what is behind an answer
// that has said it is the last was closed upon. Bytes are counted once.
func TestPipelineBreaks(t *testing.T) {
	t.Parallel()
	const depth = 4
	const last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
	const half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"
	for name, test := range map[string]struct {
		answer string
		reset  bool
		hold   bool
		want   string
		in     int // bytes; negative: not looked at
	}{
		// An answer makes room for another shot on the connection, so that one
		// with n answers that are not its last takes depth + n of the 20.
		"closed at once":     {"", false, false, "closed 5, lost 15", 0},
		"closed after one":   {ok, false, false, "closed 4, lost 12", 4 * len(ok)},
		"cut":                {ok + half, false, false, "cut 4, lost 12", 4 * len(ok+half)},
		"the last":           {last, false, false, "closed 5, lost 10", 5 * len(last)},
		"the last, and more": {ok + last + ok, false, false, "closed 4, lost 8", 4 * len(ok+last)},
		"malformed":          {ok + "what?\r\n\r\n", false, false, "lost 12, malformed 4", -1},
		"reset":              {ok, true, false, "lost 12, reset 4", 4 * len(ok)},
		"silent":             {ok, false, true, "lost 12, timeout 4", 4 * len(ok)},
		"drip":               {half, false, true, "lost 15, timeout 5", 5 * len(half)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(c *conn) {
				for range depth {
					if c.request() == nil {
						return
					}
				}
				c.send(test.answer)
				switch {
				case test.hold:
					c.hold()
				case test.reset:
					time.Sleep(20 * time.Millisecond)
					c.reset()
				default:
					c.CloseWrite() // to close with something unread would be a reset
					c.hold()
				}
			})
			summary := shoot(t, s, "flood(1,10s)", numbered(100), func(o *Options) {
				o.Pipeline, o.Limit, o.Timeout = depth, 5*depth, 10*time.Second
				if test.hold {
					o.Timeout = 300 * time.Millisecond
				}
			})
			wantErrors(t, summary, test.want)
			if test.in >= 0 && summary.In != int64(test.in) {
				t.Errorf("%d bytes in, want %d", summary.In, test.in)
			}
		})
	}
}

// A flood at a port where nobody listens rests between its attempts.
func TestFloodRests(t *testing.T) {
	t.Parallel()
	summary, err := shootContext(t, t.Context(), deadPort(t), "flood(10,500ms)", magazineOf(keep), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := summary.Shots; n.Failed != n.Sent || n.Sent < 20 || n.Sent > 10*(500/10+2) || summary.Errors["refused"] != n.Sent {
		t.Errorf("%+v, %v", n, summary.Errors)
	}
}

// A server that is gone for a while loses what was sent to it, and no
// connection of the flood for good.
func TestFloodComesBack(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	s := serve(t, func(c *conn) {
		for {
			r := c.request()
			switch {
			case r == nil:
				return
			case r.first == 100:
				down.Store(true)
				time.AfterFunc(100*time.Millisecond, func() { down.Store(false) })
			}
			if down.Load() {
				c.reset()
				return
			}
			time.Sleep(time.Millisecond)
			c.send(ok)
		}
	})
	summary := shoot(t, s, "flood(8,20s)", magazineOf(keep), func(o *Options) { o.Limit = 4000 })
	if n := summary.Shots; n.Failed == 0 || n.Answered < 100 || n.Failed != summary.Errors["reset"] {
		t.Errorf("%+v, %v", n, summary.Errors)
	}
	if summary.Most != 8 {
		t.Errorf("%d connections at once", summary.Most)
	}
}
