//go:build linux

package gun

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redoubt/ammo/phout"
)

// checkSummary checks what is true of every run, however it went.
func checkSummary(t *testing.T, s *Summary, o Options, told []Second, err error) {
	t.Helper()
	same := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	n := s.Shots
	same("planned against sent + dropped", n.Planned, n.Sent+n.Dropped)
	same("sent against answered + timed out + failed", n.Sent, n.Answered+n.TimedOut+n.Failed)
	same("statuses against answered", sum(maps.Values(s.Statuses)), n.Answered)
	same("errors against timed out + failed", sum(maps.Values(s.Errors)), n.TimedOut+n.Failed)
	same("timed out", s.Errors["timeout"]+s.Errors["connect-timeout"], n.TimedOut)
	if n.Late > n.Sent || n.Dropped < 0 {
		t.Errorf("%+v: impossible", n)
	}
	_, flood := o.Plan.Flood()
	cut := s.Interrupted || err != nil
	if s.ClosedLoop != flood || flood && (n.Dropped != 0 || n.Late != 0) {
		t.Errorf("closed loop %v, flood %v, dropped %d, late %d", s.ClosedLoop, flood, n.Dropped, n.Late)
	}
	if s.Most > s.Opened || s.Most > 2*int64(s.Connections) || n.Sent > 0 && s.Most == 0 {
		t.Errorf("%d connections, %d opened, %d at once", s.Connections, s.Opened, s.Most)
	}

	var tags Tag
	for _, tag := range s.Tags {
		tags.Sent += tag.Sent
		tags.Errors += tag.Errors
		tags.Dropped += tag.Dropped
		tags.FromPlanned.Count += tag.FromPlanned.Count
		tags.FromSent.Count += tag.FromSent.Count
	}
	same("sent by tag", tags.Sent, n.Sent)
	same("failed by tag", tags.Errors, n.TimedOut+n.Failed)

	var all Second
	for i, second := range s.Timeline {
		same("the timeline's second", int64(second.Second), int64(i))
		all.Planned += second.Planned
		all.Sent += second.Sent
		all.Answered += second.Answered
		all.Errors += second.Errors
		all.Dropped += second.Dropped
		all.In += second.In
		all.Out += second.Out
		all.Latency.Count += second.Latency.Count
	}
	same("sent by second", all.Sent, n.Sent)
	same("answered by second", all.Answered, n.Answered)
	same("failed by second", all.Errors, n.TimedOut+n.Failed)
	same("bytes in by second", all.In, s.In)
	same("bytes out by second", all.Out, s.Out)
	same("dropped by tag and second", tags.Dropped, all.Dropped)
	// Shots that had not come as far as a barrel when a run was cut short have
	// no tag and no second.
	unfed := n.Dropped - all.Dropped
	if unfed < 0 || unfed > 0 && !cut {
		t.Errorf("by second %d dropped of %d", all.Dropped, n.Dropped)
	}
	if !cut {
		same("planned by second", all.Planned, n.Planned)
	} else if all.Planned > n.Planned {
		t.Errorf("by second %d planned of %d", all.Planned, n.Planned)
	}
	if o.OnSecond != nil {
		same("seconds told of", int64(len(told)), int64(len(s.Timeline)))
	}

	same("latencies from planned", s.FromPlanned.Count, n.Answered+n.TimedOut+n.Dropped)
	same("latencies from planned by tag", tags.FromPlanned.Count, s.FromPlanned.Count-unfed)
	same("latencies from planned by second", all.Latency.Count, s.FromPlanned.Count-unfed)
	same("latencies from sent", s.FromSent.Count, n.Answered+n.TimedOut)
	same("latencies from sent by tag", tags.FromSent.Count, s.FromSent.Count)
	same("delays", s.Delay.Count, n.Sent)
	for _, l := range []Latency{s.FromPlanned, s.FromSent, s.Delay} {
		if !slices.IsSorted([]float64{0, l.P50, l.P75, l.P90, l.P95, l.P98, l.P99, l.P999, l.Max}) || l.Mean > l.Max {
			t.Errorf("a distribution that is none: %+v", l)
		}
	}
	if s.FromPlanned.Max < s.FromSent.Max*0.99 {
		t.Errorf("from planned %v at most, from sent %v", s.FromPlanned.Max, s.FromSent.Max)
	}
	if t.Failed() {
		t.Logf("%+v %v %v, %d bytes in, %d out, %v s", n, s.Errors, s.Statuses, s.In, s.Out, s.Seconds)
	}
}

// checkRows reads phout.txt back, with the Reader and with patterns of its own.
func checkRows(t *testing.T, s *Summary, o Options, text []byte) {
	t.Helper()
	r := phout.NewReader(bytes.NewReader(text), "phout.txt")
	r.Numbered = o.Numbered
	var rows, in, out, beyond int64
	nets, statuses := map[int]int64{}, map[int]int64{}
	tags := map[string]int64{}
	numbers := map[int64]bool{}
	begin, err := time.Parse(time.RFC3339Nano, s.Begin)
	if err != nil {
		t.Error(err)
	}
	for {
		row, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Error(err)
			return
		}
		rows++
		in += row.In
		out += row.Out
		tags[row.Tag]++
		if numbers[row.Number] && o.Numbered {
			t.Errorf("shot %d is there twice", row.Number)
		}
		numbers[row.Number] = true
		nets[row.Net]++
		if row.Net == 0 {
			statuses[row.Status]++
		}
		whole := row.Connect + row.Send + row.Latency + row.Receive
		end := time.Unix(0, row.Sent).Add(whole).Sub(begin)
		if row.Sent < begin.UnixMilli()*1e6 || end.Seconds() > s.Seconds+0.002 {
			t.Errorf("a shot from %v to %v of a run of %v s", time.Unix(0, row.Sent).Sub(begin), end, s.Seconds)
		}
		// A gun that had no processor may find an answer a little late.
		if whole > o.Timeout && o.Timeout > 0 {
			beyond++
		}
	}
	if rows != s.Shots.Sent || in != s.In || out != s.Out {
		t.Errorf("phout.txt has %d shots, %d bytes in, %d out; want %d, %d, %d", rows, in, out, s.Shots.Sent, s.In, s.Out)
	}
	wantNets := map[int]int64{}
	if s.Shots.Answered > 0 {
		wantNets[0] = s.Shots.Answered
	}
	for name, n := range s.Errors {
		for o := range outcomes {
			if o.String() == name {
				wantNets[o.Net()] += n
			}
		}
	}
	if !maps.Equal(nets, wantNets) {
		t.Errorf("net codes %v, want %v", nets, wantNets)
	}
	wantStatuses := map[int]int64{}
	for text, n := range s.Statuses {
		status, _ := strconv.Atoi(text)
		wantStatuses[status] = n
	}
	if !maps.Equal(statuses, wantStatuses) {
		t.Errorf("statuses %v, want %v", statuses, wantStatuses)
	}
	wantTags := map[string]int64{}
	for _, tag := range s.Tags {
		if tag.Sent > 0 {
			wantTags[strings.ReplaceAll(tag.Tag, "\t", "_")] += tag.Sent
		}
	}
	if len(s.Tags) <= maxGroups && !maps.Equal(tags, wantTags) {
		t.Errorf("tags %v, want %v", tags, wantTags)
	}
	tankReads(t, text)
}

// tankReads reads phout.txt as Tank does: columns parted by tabs, the first a
// number of seconds, the others whole numbers; and a shot ends, in its
// reports, when interval_real is over.
func tankReads(t *testing.T, text []byte) {
	t.Helper()
	line := regexp.MustCompile(`^[0-9]{10}\.[0-9]{3}\t[^\t]*(\t[0-9]+){10}$`)
	for i, l := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if len(text) == 0 {
			return
		}
		if !line.MatchString(l) {
			t.Errorf("line %d: %q", i+1, l)
			return
		}
		columns := strings.Split(l, "\t")
		sent, err := strconv.ParseFloat(columns[0], 64)
		var n [12]int
		for c := 2; c < 12; c++ {
			n[c], _ = strconv.Atoi(columns[c])
		}
		if err != nil || n[2] != n[3]+n[4]+n[5]+n[6] || math.Abs(sent-float64(time.Now().Unix())) > 600 {
			t.Errorf("line %d: %q", i+1, l)
			return
		}
		if (n[10] == 0) != (n[11] != 0 && n[9] > 0) && n[10] == 0 {
			t.Errorf("line %d is an answer without one: %q", i+1, l)
		}
	}
}

func sum(numbers func(yield func(int64) bool)) (n int64) {
	for x := range numbers {
		n += x
	}
	return n
}

// wantErrors compares Summary.Errors, written as "closed 2, reset 1".
func wantErrors(t *testing.T, s *Summary, want string) {
	t.Helper()
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Errors)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, s.Errors[name]))
	}
	if got := strings.Join(parts, ", "); got != want {
		t.Errorf("errors: %q, want %q", got, want)
	}
}
