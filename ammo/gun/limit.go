package gun

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limit is what a run must not exceed, or fall below. ParseLimit makes it.
type Limit struct {
	text   string
	metric string
	below  bool    // the run fails below value, not above
	value  float64 // µs, a number, or percent
	share  bool    // value is percent of the planned shots, or of the answers for a status
}

// LimitHelp says what a limit may be.
const LimitHelp = `p50, p99, p99.9, max or mean against a time, as p99>5ms; errors, failed, timeouts, late, dropped or wrong against a
number or percent of the planned shots, as errors>0.1%; a status against a number or percent of the answers, as 5xx>0 or
404>10%; rate (answers a second) against a number, as rate<1000`

var (
	limitShape  = regexp.MustCompile(`^\s*([a-z0-9.]+)\s*([<>])\s*(\S+)\s*$`)
	percentile  = regexp.MustCompile(`^p[0-9]{1,2}(\.[0-9]{1,4})?$`)
	statusShape = regexp.MustCompile(`^[1-5]([0-9]{2}|xx)$`)
)

// ParseLimit reads a limit such as p99>5ms; see LimitHelp.
func ParseLimit(text string) (Limit, error) {
	m := limitShape.FindStringSubmatch(text)
	if m == nil {
		return Limit{}, fmt.Errorf("%q: want METRIC>VALUE or METRIC<VALUE, such as p99>5ms or errors>0.1%%", text)
	}
	l := Limit{text: m[1] + m[2] + m[3], metric: m[1], below: m[2] == "<"}
	var err error
	switch {
	case l.isTime():
		var d time.Duration
		if d, err = time.ParseDuration(m[3]); err != nil || d < 0 {
			err = fmt.Errorf("want a time such as 5ms or 1.5s")
		}
		l.value = float64(d) / 1000
	case slices.Contains([]string{"errors", "failed", "timeouts", "late", "dropped", "wrong", "rate"}, l.metric), statusShape.MatchString(l.metric):
		number, percent := strings.CutSuffix(m[3], "%")
		l.share = percent
		if l.value, err = strconv.ParseFloat(number, 64); err != nil || !(l.value >= 0) {
			err = fmt.Errorf("want a number, or, but for rate, a share such as 0.1%%")
		}
		if err == nil && l.share && l.metric == "rate" {
			err = fmt.Errorf("a rate is no share of anything")
		}
	default:
		return Limit{}, fmt.Errorf("%q: there is no metric %q, but mean, max, p50, p99.9 and the like, errors, failed, timeouts, late, dropped, wrong, rate, and statuses such as 404 and 5xx", text, l.metric)
	}
	if err != nil {
		return Limit{}, fmt.Errorf("%q: %s is compared with %q: %w", text, l.metric, m[3], err)
	}
	return l, nil
}

func (l Limit) isTime() bool {
	return l.metric == "mean" || l.metric == "max" || percentile.MatchString(l.metric)
}

// NeedsPlan tells that the limit is about what no flood has: planned instants.
func (l Limit) NeedsPlan() bool { return l.metric == "late" || l.metric == "dropped" }

// String is the limit as it was written, without blanks.
func (l Limit) String() string { return l.text }

// Check tells whether a run has kept the limit, and what it had instead.
func (l Limit) Check(s *Summary) (kept bool, got string) {
	var have float64
	whole := float64(s.Shots.Planned)
	switch {
	case l.metric == "mean":
		have = s.FromPlanned.Mean
	case l.metric == "max":
		have = s.FromPlanned.Max
	case l.isTime():
		percent, _ := strconv.ParseFloat(l.metric[1:], 64)
		have = s.At(percent)
	case l.metric == "errors":
		have = float64(s.Shots.TimedOut + s.Shots.Failed + s.Shots.Dropped)
	case l.metric == "failed":
		have = float64(s.Shots.Failed)
	case l.metric == "wrong":
		have = float64(s.Shots.Wrong)
	case l.metric == "timeouts":
		have = float64(s.Shots.TimedOut)
	case l.metric == "late":
		have = float64(s.Shots.Late)
	case l.metric == "dropped":
		have = float64(s.Shots.Dropped)
	case l.metric == "rate":
		have = s.Rate
	default:
		whole = float64(s.Shots.Answered)
		for status, n := range s.Statuses {
			if status == l.metric || l.metric[1:] == "xx" && status[0] == l.metric[0] {
				have += float64(n)
			}
		}
	}
	switch {
	case l.isTime():
		got = time.Duration(have * 1000).Round(time.Microsecond).String()
	case l.share:
		if whole > 0 {
			have = 100 * have / whole
		}
		got = fmt.Sprintf("%.3g%%", have)
	default:
		got = strconv.FormatFloat(have, 'f', -1, 64)
		if l.metric == "rate" {
			got = fmt.Sprintf("%.1f", have)
		}
	}
	if l.isTime() && s.FromPlanned.Count == 0 {
		return false, "not one answer"
	}
	return l.below && have >= l.value || !l.below && have <= l.value, got
}
