//go:build linux

package gun

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A plan's shots are fired, each record whole, and in order.
func TestScheduled(t *testing.T) {
	t.Parallel()
	for load, want := range map[string]int64{
		"const(200,200ms)": 40, "line(0,400,300ms)": 60, "step(100,300,100,100ms)": 60, "const(100,100ms) pause(100ms) const(200,100ms)": 30,
		"const(10,50ms)": 0, "pause(50ms)": 0, "const(1,1)": 1,
	} {
		t.Run(load, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var came []string
			s := serve(t, answering(func(r *request) string {
				mu.Lock()
				defer mu.Unlock()
				came = append(came, r.bytes())
				return ok
			}))
			m := numbered(7)
			summary := shoot(t, s, load, m, func(o *Options) { o.Instances = 1 })
			if n := summary.Shots; n.Planned != want || n.Answered != want {
				t.Errorf("%+v, want %d", n, want)
			}
			mu.Lock()
			defer mu.Unlock()
			for i, text := range came {
				if text != get(i%7) {
					t.Fatalf("request %d was %q, want %q", i, text, get(i%7))
				}
			}
			if want > 0 && (summary.Opened != 1 || s.conns.Load() != 1) {
				t.Errorf("%d connections", summary.Opened)
			}
		})
	}
}

// Records of every kind arrive as they stand in the file, to the last byte, and
// all that comes back is counted.
func TestRecordsAndAnswers(t *testing.T) {
	t.Parallel()
	texts := []string{
		"a|GET /plain HTTP/1.1\r\nHost: x\r\n\r\n",
		"a|HEAD /head HTTP/1.1\r\nHost: x\r\n\r\n",
		"b|POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"b|POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-Bytes: 9\r\n\r\nhello, or",
		"|GET /chunks HTTP/1.1\r\nHost: x\r\n\r\n",
		"|GET /interim HTTP/1.1\r\nHost: x\r\n\r\n",
		"|GET /none HTTP/1.1\r\nHost: x\r\n\r\n",
		"|GET /odd HTTP/1.1\nHost: x\n\n",
		"c|GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"c|GET /old HTTP/1.0\r\n\r\n",
		"c|GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	}
	answers := map[string]string{
		"/plain":   ok,
		"/head":    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
		"/body":    "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
		"/long":    "HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nbad",
		"/chunks":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nX: t\r\n\r\n",
		"/interim": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok,
		"/none":    "HTTP/1.1 204 No Content\r\n\r\n",
		"/odd":     "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
		"/last":    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
		"/old":     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
		"/end":     "HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\nuntil the end",
	}
	for _, loops := range []int{1, 2} {
		var mu sync.Mutex
		came := map[string]int{}
		s := serve(t, func(c *conn) {
			for {
				r := c.request()
				if r == nil {
					return
				}
				mu.Lock()
				came[r.bytes()]++
				mu.Unlock()
				answer := answers[r.path()]
				if c.number%2 == 1 { // in pieces
					for part := range slices.Chunk([]byte(answer), 20) {
						c.send(string(part))
						time.Sleep(time.Millisecond)
					}
				} else {
					c.send(answer)
				}
				if strings.Contains(answer, "close\r\n") {
					return
				}
			}
		})
		summary := shoot(t, s, "const(400,10s)", magazineOf(texts...), func(o *Options) { o.Loops = loops; o.Passes = 10; o.Numbered = true })
		wantErrors(t, summary, "")
		s.stop() // came is ours now
		var in, out int64
		for _, text := range texts {
			_, request, _ := strings.Cut(text, "|")
			if came[request] != 10 {
				t.Errorf("%q came %d times", request, came[request])
			}
			out += 10 * int64(len(request))
		}
		for _, answer := range answers {
			in += 10 * int64(len(answer))
		}
		if summary.Shots.Answered != 110 || len(came) != len(texts) || summary.In != in || summary.Out != out {
			t.Errorf("%+v, %d records, %d bytes in, want %d, %d out, want %d", summary.Shots, len(came), summary.In, in, summary.Out, out)
		}
		if got := fmt.Sprint(summary.Statuses); got != "map[200:60 201:10 204:10 400:10 404:10 503:10]" {
			t.Errorf("statuses %s", got)
		}
		for i, want := range []Tag{{Tag: "a", Sent: 20}, {Tag: "b", Sent: 20}, {Tag: "", Sent: 40}, {Tag: "c", Sent: 30}} {
			if i >= len(summary.Tags) || summary.Tags[i].Tag != want.Tag || summary.Tags[i].Sent != want.Sent {
				t.Errorf("tags %+v", summary.Tags)
				break
			}
		}
		if n := summary.Opened; n < 30 || n > 70 {
			t.Errorf("%d connections for 30 records that end theirs", n)
		}
	}
}

// Connections are kept where a record does not say otherwise, and made anew for
// each that does.
func TestConnections(t *testing.T) {
	t.Parallel()
	f := func(what string, records []string, loops int, most, least int64) {
		t.Helper()
		s := serve(t, answering(polite))
		summary := shoot(t, s, "const(200,500ms)", magazineOf(records...), func(o *Options) { o.Loops = loops })
		if n := summary.Opened; n < least || n > most || s.conns.Load() != n || summary.Shots.Answered != 100 {
			t.Errorf("%s: %d connections, the server has seen %d, %+v", what, n, s.conns.Load(), summary.Shots)
		}
		if gun := s.left.Load(); gun > most-least+int64(loops)*50 {
			t.Errorf("%s: the gun has ended %d connections first", what, gun)
		}
	}
	// More than one are in use only while the machine is busy with others.
	f("kept", []string{keep}, 1, 40, 1)
	f("kept, two loops", []string{keep}, 2, 60, 2)
	f("closed", []string{closes}, 1, 100, 100)
	f("HTTP/1.0", []string{"GET / HTTP/1.0\r\n\r\n"}, 2, 100, 100)
	f("every other", []string{keep, closes}, 1, 90, 50)
}

// Limit and Passes end a run before its plan does, also with several loops.
func TestLimitAndPasses(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	for _, c := range []struct {
		limit, passes int64
		records, want int
		loops         int
	}{{0, 3, 10, 30, 1}, {25, 3, 10, 25, 1}, {25, 0, 1, 25, 2}, {0, 1, 150, 150, 2}, {1000, 100, 3, 200, 1}, {1, 0, 300, 1, 20}} {
		summary := shoot(t, s, "const(1000,200ms)", numbered(c.records), func(o *Options) { o.Limit, o.Passes, o.Loops = c.limit, c.passes, c.loops })
		if n := summary.Shots; n.Planned != int64(c.want) || n.Answered != int64(c.want) {
			t.Errorf("%+v: %+v", c, n)
		}
	}
}

// A shot is fired at its instant, not before; and not much after, but for what
// the machine does besides.
func TestInstants(t *testing.T) {
	for _, busy := range []bool{false, true} {
		s := serve(t, answering(fine))
		summary := shoot(t, s, "const(200,500ms)", magazineOf(keep), func(o *Options) { o.Busy = busy })
		if summary.Shots.Answered != 100 || summary.Delay.Count != 100 || summary.Delay.P50 > 50e3 {
			t.Errorf("busy %v: %+v, sent after planned: %+v", busy, summary.Shots, summary.Delay)
		}
		if summary.Seconds < 0.495 || summary.Connections != 50 {
			t.Errorf("100 shots, 5 ms apart, in %v s over %d connections", summary.Seconds, summary.Connections)
		}
	}
}

// With no options but those that must be, there are a thousand instances.
func TestDefaults(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	summary := shoot(t, s, "const(50,100ms)", magazineOf(keep), func(o *Options) {
		*o = Options{Target: o.Target, Source: o.Source, Plan: o.Plan}
	})
	if summary.Connections != DefaultInstances || summary.Timeout != DefaultTimeout.Seconds() || summary.Workers != 1 || summary.Shots.Answered != 5 {
		t.Errorf("%+v", summary)
	}
	if summary.Target != s.addr.String() || summary.Load != "const(50,100ms)" || len(summary.Percentiles()) == 0 {
		t.Errorf("%s at %s", summary.Load, summary.Target)
	}
}

// Ammo that comes slowly makes shots late, and they are fired all the same.
func TestSlowAmmo(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	m := numbered(20)
	m.gate = make(chan struct{})
	go func() {
		for range 21 { // 20 and the end
			m.gate <- struct{}{}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	summary := shoot(t, s, "const(1000,100ms)", m, func(o *Options) { o.Passes = 1 })
	if summary.Shots.Answered != 20 {
		t.Errorf("%+v", summary.Shots)
	}
}
