//go:build linux

package gun

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/ammo"
)

// silentOnce is a server whose first connection says nothing.
func silentOnce(t *testing.T) *server {
	var first atomic.Bool
	return serve(t, func(c *conn) {
		if first.CompareAndSwap(false, true) {
			c.hold()
			return
		}
		answering(fine)(c)
	})
}

// The shots that a hung connection holds until they time out are not what the
// rate is made of.
func TestRateOfAHungConnection(t *testing.T) {
	t.Parallel()
	s := silentOnce(t)
	summary := shoot(t, s, "flood(2,200ms)", numbered(10), func(o *Options) { o.Timeout = time.Second })
	if summary.Shots.TimedOut == 0 || summary.Seconds < 0.9 {
		t.Fatalf("no connection hung: %+v, %v s", summary.Shots, summary.Seconds)
	}
	if took := float64(summary.Shots.Answered) / summary.Rate; took > 0.6*summary.Seconds {
		t.Errorf("%d answers, %v/s: a rate over %v s", summary.Shots.Answered, summary.Rate, took)
	}
}

// A run that is cut short while its server hangs tells of all who waited.
func TestCutCountsWhoWaited(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *conn) { c.hold() })
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	summary, err := shootContext(t, ctx, s.addr, "const(200,60s)", numbered(10), func(o *Options) { o.Instances, o.Timeout = 2, time.Second })
	if err != nil {
		t.Fatal(err)
	}
	n := summary.Shots
	if n.Sent != 2 || n.Dropped < 50 || summary.FromPlanned.Count != n.Dropped+n.TimedOut {
		t.Errorf("%+v, %d latencies", n, summary.FromPlanned.Count)
	}
	if summary.FromPlanned.P50 < 50_000 {
		t.Errorf("half of them waited %v µs", summary.FromPlanned.P50)
	}
	for _, tag := range summary.Tags {
		if tag.Sent+tag.Dropped > 0 && tag.FromPlanned.Count == 0 {
			t.Errorf("%+v", tag)
		}
	}
}

// A second has the shots of its second, whenever a timer goes off.
func TestSeconds(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	summary := shoot(t, s, "const(500,2s)", numbered(10), nil)
	last := len(summary.Timeline) - 1
	if last > 2 || last == 2 && summary.Timeline[2].Answered == 0 {
		t.Errorf("the run has taken %v s, its timeline is %+v", summary.Seconds, summary.Timeline)
	}
	for _, second := range summary.Timeline {
		if second.Sent > second.Planned && summary.Shots.Late == 0 {
			t.Errorf("%+v", second)
		}
	}
}

// paired is a source with answers.
type paired struct {
	*magazine
	answers []ammo.Answer
	at      int
}

func (p *paired) Next() (ammo.Record, error) {
	r, err := p.magazine.Next()
	p.at = r.Number - 1
	return r, err
}

func (p *paired) Answer() ammo.Answer { return p.answers[p.at] }

// Answers are compared: bytes that are equal, bytes that mean the same, another
// status, another body; and those to HEAD by their status.
func TestAnswersAreCompared(t *testing.T) {
	t.Parallel()
	bodies := []string{`{"a":1}`, `{"b" : [1.0]}`, `{"c":1}`, `{}`, ``, `null`}
	status := []int{200, 200, 200, 201, 404, 200}
	s := serve(t, answering(func(r *request) string {
		i := int(r.path()[1] - '0')
		head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n", status[i], len(bodies[i]))
		if r.method() == "HEAD" {
			return head
		}
		return head + bodies[i]
	}))
	source := &paired{magazine: numbered(6)}
	for i, want := range []struct {
		status int
		body   string
	}{{200, `{"a":1}`}, {200, `{"b":[1]}`}, {200, `{"c":2}`}, {200, `{}`}, {404, ``}, {200, `1`}} {
		source.answers = append(source.answers, ammo.Answer{Status: want.status, Body: []byte(want.body)})
		if i == 5 {
			source.records[i].Bytes = []byte(strings.Replace(string(source.records[i].Bytes), "GET", "HEAD", 1))
		}
	}
	const passes = 50
	summary := shoot(t, s, "const(10000,10s)", source, func(o *Options) { o.Passes = passes })
	if summary.Shots.Wrong != 2*passes || summary.Shots.Answered != 6*passes {
		t.Errorf("%+v", summary.Shots)
	}
	if len(summary.Differences) != showWrong {
		t.Fatalf("%d differences", len(summary.Differences))
	}
	for _, d := range summary.Differences {
		switch d.Record % 6 {
		case 3:
			if d.Reason != "$.c: got 1, want 2" || d.Got != `{"c":1}` {
				t.Errorf("%+v", d)
			}
		case 4:
			if d.Reason != "got status 201, want 200" || d.GotStatus != 201 {
				t.Errorf("%+v", d)
			}
		default:
			t.Errorf("shot %d was right: %+v", d.Record, d)
		}
	}
}
