package gun

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"redoubt/ammo"
)

// Summary is what a run has brought. As JSON it is summary.json.
type Summary struct {
	// Fire leaves these to its caller:
	Ammo   string   `json:"ammo,omitempty"`           // the file
	Server *Process `json:"server_process,omitempty"` // fired at
	Gun    *Process `json:"gun_process,omitempty"`

	Target      string  `json:"target"`
	Load        string  `json:"load"`
	Begin       string  `json:"begin"`   // RFC 3339, when the first shot was planned
	Seconds     float64 `json:"seconds"` // until the last shot was answered or given up
	Interrupted bool    `json:"interrupted"`
	ClosedLoop  bool    `json:"closed_loop"` // a flood: shots are sent when answers come, so "from planned" and "from sent" are one

	Workers     int     `json:"workers"`
	Connections int     `json:"connections"` // at a time at most
	Opened      int64   `json:"connections_opened"`
	Most        int64   `json:"connections_at_once"`
	Strays      int64   `json:"connections_with_unasked_bytes"`
	Timeout     float64 `json:"timeout_seconds"`

	Shots Shots   `json:"shots"`
	Rate  float64 `json:"answered_per_second"` // while shots were planned, or until the last answer if that came later
	In    int64   `json:"bytes_in"`
	Out   int64   `json:"bytes_out"`

	FromPlanned Latency `json:"latency_from_planned"`
	FromSent    Latency `json:"latency_from_sent"`
	Delay       Latency `json:"sent_after_planned"`

	Statuses map[string]int64 `json:"statuses"` // of answers
	Errors   map[string]int64 `json:"errors"`   // by Outcome
	Tags     []Tag            `json:"tags"`
	Timeline []Second         `json:"timeline"`

	Differences []ammo.Difference `json:"differences,omitempty"` // the first wrong answers; Record is the shot, from 1

	planned *times
}

// Shots are counts. Planned = Sent + Dropped, and Sent = Answered + TimedOut +
// Failed.
type Shots struct {
	Planned  int64 `json:"planned"`  // whose instant had come
	Sent     int64 `json:"sent"`     // or tried to: a connection that cannot be made is a failure
	Late     int64 `json:"late"`     // of those sent: more than 1 ms after their instant
	Dropped  int64 `json:"dropped"`  // not sent: no connection came free in time, or the run was ended
	Answered int64 `json:"answered"` // whole
	TimedOut int64 `json:"timed_out"`
	Failed   int64 `json:"failed"`   // otherwise
	Compared int64 `json:"compared"` // of those answered: with what was expected
	Wrong    int64 `json:"wrong"`    // of those compared
}

// Latency is a distribution in microseconds.
type Latency struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean_us"`
	P50   float64 `json:"p50_us"`
	P75   float64 `json:"p75_us"`
	P90   float64 `json:"p90_us"`
	P95   float64 `json:"p95_us"`
	P98   float64 `json:"p98_us"`
	P99   float64 `json:"p99_us"`
	P999  float64 `json:"p99.9_us"`
	Max   float64 `json:"max_us"`
}

// Tag is what has become of the shots with one tag.
type Tag struct {
	Tag         string  `json:"tag"`
	Sent        int64   `json:"sent"`
	Dropped     int64   `json:"dropped"`
	Errors      int64   `json:"errors"` // timed out or failed
	FromPlanned Latency `json:"latency_from_planned"`
	FromSent    Latency `json:"latency_from_sent"`
}

// Second is what one second of the run has brought. Latency is from the
// planned instant, of shots that ended in it.
type Second struct {
	Second   int     `json:"second"`
	Planned  int64   `json:"planned"`
	Sent     int64   `json:"sent"`
	Answered int64   `json:"answered"`
	Errors   int64   `json:"errors"` // timed out or failed
	Dropped  int64   `json:"dropped"`
	In       int64   `json:"bytes_in"`
	Out      int64   `json:"bytes_out"`
	Latency  Latency `json:"latency_from_planned"`
}

// Process is what a process on this machine has used during the run.
type Process struct {
	PID        int     `json:"pid"`
	CPU        float64 `json:"cpu_seconds"`
	PerRequest float64 `json:"cpu_us_per_answer"`
	RSS        int64   `json:"rss_bytes"` // at the end
}

func newLatency(h *times) Latency {
	us := func(ns float64) float64 { return math.Round(ns) / 1000 }
	at := func(p float64) float64 { return us(float64(h.at(p))) }
	if h.TotalCount() == 0 {
		return Latency{}
	}
	return Latency{
		Count: h.TotalCount(), Mean: us(min(h.Mean(), float64(h.max))), P50: at(50), P75: at(75), P90: at(90), P95: at(95), P98: at(98), P99: at(99),
		P999: at(99.9), Max: us(float64(h.max)),
	}
}

// At is the latency from the planned instant, in microseconds, that so many
// percent of the shots did not exceed.
func (s *Summary) At(percent float64) float64 {
	if s.planned == nil || s.planned.TotalCount() == 0 {
		return 0
	}
	return float64(s.planned.at(percent)) / 1000
}

// count fills in what the tally knows.
func (s *Summary) count(t *tally, tagOf func(int) string) {
	s.Opened, s.Most, s.Strays = t.opened, t.most, t.strays
	s.In, s.Out = t.in, t.out
	s.Shots.Sent, s.Shots.Late, s.Shots.Dropped = t.sent, t.late, t.dropped
	s.Statuses, s.Errors = make(map[string]int64), make(map[string]int64)
	for o := range outcomes {
		n := t.outcomes[o]
		switch o {
		case Answered:
			s.Shots.Answered = n
			continue
		case Timeout, ConnectTimeout:
			s.Shots.TimedOut += n
		default:
			s.Shots.Failed += n
		}
		if n > 0 {
			s.Errors[o.String()] = n
		}
	}
	for status, n := range t.statuses {
		if n > 0 {
			s.Statuses[fmt.Sprint(status)] = n
		}
	}
	s.planned = t.planned
	s.FromPlanned, s.FromSent, s.Delay = newLatency(t.planned), newLatency(t.actual), newLatency(t.delay)
	s.Tags = []Tag{}
	for i, g := range t.groups {
		if g != nil {
			s.Tags = append(s.Tags, Tag{
				Tag: tagOf(i), Sent: g.sent, Dropped: g.dropped, Errors: g.failed,
				FromPlanned: newLatency(g.planned), FromSent: newLatency(g.actual),
			})
		}
	}
}

// perSecond is n a second, over d.
func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// Percentiles is the distribution of latencies from the planned instant in the
// text format of HdrHistogram's tools, in milliseconds.
func (s *Summary) Percentiles() []byte {
	var out bytes.Buffer
	if s.planned != nil {
		_, _ = s.planned.PercentilesPrint(&out, 5, 1e6) // a buffer takes everything
	}
	return out.Bytes()
}
