//go:build linux

package gun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"redoubt/ammo"
)

var seed = flag.Uint64("seed", 0, "of TestModel; 0: a new one each time")

// Random ammo on random plans at a server that does whatever it likes: the
// counts agree with each other, with phout.txt, with what the server has seen,
// and every record came whole.
func TestModel(t *testing.T) {
	t.Parallel()
	rounds := 16
	if testing.Short() {
		rounds = 6
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64()
	}
	for i := range uint64(rounds) {
		t.Run(fmt.Sprintf("seed %d", first+i), func(t *testing.T) {
			t.Parallel()
			playModel(t, rand.New(rand.NewPCG(first+i, 0)))
		})
	}
}

func playModel(t *testing.T, rng *rand.Rand) {
	records := randomAmmo(rng)
	texts := make(map[string]bool)
	for _, r := range records.records {
		texts[string(r.Bytes)] = true
	}
	s := serve(t, randomScript(t, rng, texts))

	load := [...]string{
		"const(300,250ms)", "const(2000,100ms)", "line(0,800,300ms)", "line(500,0,200ms)", "step(100,900,400,80ms)",
		"const(200,100ms) pause(50ms) const(400,100ms)", "const(5,200ms)", "flood(1,150ms)", "flood(5,150ms)", "flood(40,150ms)",
	}[rng.IntN(10)]
	var options Options
	summary, err := func() (*Summary, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if rng.IntN(4) == 0 {
			time.AfterFunc(time.Duration(rng.IntN(250))*time.Millisecond, cancel)
		}
		return shootContext(t, ctx, s.addr, load, records, func(o *Options) {
			o.Instances = 1 + rng.IntN(30)
			o.Loops = 1 + rng.IntN(3)
			o.Pipeline = 1 + rng.IntN(2)*rng.IntN(6)
			o.Timeout = time.Duration(40+rng.IntN(300)) * time.Millisecond
			o.Limit = int64(rng.IntN(2) * rng.IntN(200))
			o.Passes = int64(rng.IntN(2) * rng.IntN(4))
			o.Numbered = rng.IntN(2) == 0
			options = *o
		})
	}()
	t.Logf("%s, %d records, %d connections in pipes of %d, %d loops, time-out %v, limit %d, passes %d: error %v",
		load, len(records.records), options.Instances, options.Pipeline, options.Loops, options.Timeout, options.Limit, options.Passes, err)
	if err != nil {
		if !errors.Is(err, context.Canceled) || summary != nil {
			t.Errorf("%+v, %v", summary, err)
		}
		return
	}
	n := summary.Shots
	t.Logf("%+v %v %v", n, summary.Errors, summary.Statuses)
	want := options.Plan.Shots()
	_, flood := options.Plan.Flood()
	if flood {
		want = n.Planned
	}
	if options.Limit > 0 {
		want = min(want, options.Limit)
	}
	if options.Passes > 0 {
		want = min(want, options.Passes*int64(len(records.records)))
	}
	if n.Planned > want || n.Planned < want && !summary.Interrupted {
		t.Errorf("%d shots planned, want %d", n.Planned, want)
	}
	s.stop()
	if got := s.requests.Load(); got > n.Sent || got < n.Answered {
		t.Errorf("the server has read %d requests: %+v", got, n)
	}
	if s.in.Load() > summary.Out || summary.In > s.out.Load() {
		t.Errorf("bytes: %d out, %d have come; %d in, %d were sent", summary.Out, s.in.Load(), summary.In, s.out.Load())
	}
	if summary.Strays > 0 && summary.Errors["surplus"] == 0 {
		t.Errorf("%d strays", summary.Strays)
	}
}

// randomAmmo is up to 200 records: with and without bodies, which may be longer
// than they say, some of them to be the last on their connection.
func randomAmmo(rng *rand.Rand) *magazine {
	m := new(magazine)
	closing := rng.IntN(3) // of 8
	for i := range 1 + rng.IntN(200) {
		method := [...]string{"GET", "GET", "HEAD", "POST"}[rng.IntN(4)]
		version, fields, body := "1.1", "Host: x\r\n", ""
		if rng.IntN(8) < closing {
			if rng.IntN(2) == 0 {
				version = "1.0"
			} else {
				fields += "connection: Close\r\n"
			}
		}
		if method == "POST" {
			body = strings.Repeat("b", rng.IntN(1000))
			if rng.IntN(40) == 0 {
				body = strings.Repeat("B", rng.IntN(1<<18))
			}
			fields += fmt.Sprintf("Content-Length: %d\r\nX-Bytes: %d\r\n", max(0, len(body)-rng.IntN(20)), len(body))
		}
		m.records = append(m.records, ammo.Record{
			Tag:   []byte([...]string{"", "a", "b", "a\tb"}[rng.IntN(4)]),
			Bytes: fmt.Appendf(nil, "%s /%d HTTP/%s\r\n%s\r\n%s", method, i, version, fields, body),
		})
	}
	return m
}

// randomScript answers well most of the time, and now and then in one of the
// ways to fail.
func randomScript(t *testing.T, rng *rand.Rand, texts map[string]bool) func(*conn) {
	seed := rng.Uint64()
	evil := rng.IntN(4) * 5 // percent of the answers
	slow := rng.IntN(3) * 5
	return func(c *conn) {
		rng := rand.New(rand.NewPCG(seed, uint64(c.number)))
		for {
			r := c.request()
			if r == nil {
				return
			}
			if !texts[r.bytes()] {
				t.Errorf("this came, and is no record: %.300q", r.bytes())
			}
			if rng.IntN(100) < slow {
				time.Sleep(time.Duration(rng.IntN(80)) * time.Millisecond)
			}
			body := strings.Repeat("a", rng.IntN(3)*rng.IntN(400))
			head := fmt.Sprintf("HTTP/1.1 %d X\r\n", [...]int{200, 200, 201, 404, 500, 999}[rng.IntN(6)])
			answer := head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
			switch rng.IntN(8) {
			case 0:
				answer = head + "Transfer-Encoding: chunked\r\n\r\n"
				if r.method() != "HEAD" {
					answer += fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body)+1, body+"x")
				}
			case 1:
				answer = "HTTP/1.1 102 Processing\r\n\r\n" + head + "Content-Length: 0\r\n\r\n"
			default:
				if r.method() != "HEAD" {
					answer += body
				}
			}
			last := strings.Contains(r.head, "HTTP/1.0\r\n") || strings.Contains(r.head, "connection: Close\r\n")
			if rng.IntN(100) < evil {
				switch rng.IntN(9) {
				case 0:
					return
				case 1:
					c.reset()
					return
				case 2:
					c.hold()
					return
				case 3:
					c.send(answer[:rng.IntN(len(answer))])
					return
				case 4:
					c.send(answer[:rng.IntN(len(answer))])
					c.hold()
					return
				case 5:
					c.send(answer + answer[:8])
				case 6:
					c.send("what?\r\n\r\n")
				case 7:
					c.send(answer)
					return
				case 8:
					c.send(strings.Replace(answer, "\r\n", "\r\nConnection: close\r\n", 1))
				}
				continue
			}
			c.send(answer)
			if last && rng.IntN(4) > 0 {
				return
			}
		}
	}
}
