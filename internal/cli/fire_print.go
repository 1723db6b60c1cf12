package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"redoubt/ammo"
	"redoubt/ammo/gun"
)

// span writes microseconds for people.
func span(us float64) string {
	switch {
	case us < 1000:
		return fmt.Sprintf("%.0f µs", us)
	case us < 1e6:
		return fmt.Sprintf("%.2f ms", us/1000)
	}
	return fmt.Sprintf("%.2f s", us/1e6)
}

// perSecond writes a rate: with a decimal where it is low.
func perSecond(rate float64) string {
	if rate < 100 {
		return fmt.Sprintf("%.1f", rate)
	}
	return thousands(int64(rate + 0.5))
}

// short cuts what a summary shows of a text: all of it is in the JSON.
func short(text string) string {
	const most = 300
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%s... (%d characters more)", string(runes[:most]), len(runes)-most)
	}
	return text
}

// printSummary writes a run's outcome for people.
func printSummary(w io.Writer, s *gun.Summary) {
	took := time.Duration(s.Seconds * 1e9).Round(10 * time.Millisecond)
	fmt.Fprintf(w, "%s at %s, over in %s", s.Load, s.Target, took)
	if s.Interrupted {
		fmt.Fprint(w, ", interrupted")
	}
	fmt.Fprintf(w, "\n\n")

	n := s.Shots
	for _, d := range s.Differences {
		d.Request, d.RequestBody, d.Want, d.Got = short(d.Request), short(d.RequestBody), short(d.Want), short(d.Got)
		printDifference(w, fmt.Sprintf("shot #%d, record", *d.Shot), d)
	}
	if more := n.Wrong - int64(len(s.Differences)); more > 0 {
		fmt.Fprintf(w, "... and %s wrong answers more\n\n", thousands(more))
	}
	fmt.Fprintf(w, "planned   %12s\n", thousands(n.Planned))
	fmt.Fprintf(w, "sent      %12s", thousands(n.Sent))
	if !s.ClosedLoop {
		fmt.Fprintf(w, "   late %s   dropped %s", thousands(n.Late), thousands(n.Dropped))
	}
	fmt.Fprintf(w, "\nanswered  %12s   %s/s   timed out %s   failed %s\n", thousands(n.Answered), perSecond(s.Rate), thousands(n.TimedOut), thousands(n.Failed))
	if n.Compared > 0 {
		fmt.Fprintf(w, "compared  %12s   wrong %s\n", thousands(n.Compared), thousands(n.Wrong))
	}
	fmt.Fprintf(w, "traffic   %9.2f MB in   %.2f MB out   %s connections opened, %s at once at most\n",
		float64(s.In)/1e6, float64(s.Out)/1e6, thousands(s.Opened), thousands(s.Most))
	if p := s.Server; p != nil {
		fmt.Fprintf(w, "server    %9.2f s CPU   %.2f µs an answer   %.1f MB at the end\n", p.CPU, p.PerRequest, float64(p.RSS)/1e6)
	}
	if p := s.Gun; p != nil {
		fmt.Fprintf(w, "gun       %9.2f s CPU", p.CPU)
		if n.Answered > 0 {
			fmt.Fprintf(w, "   %.2f µs an answer", p.PerRequest)
		}
		fmt.Fprintln(w)
	}

	fmt.Fprintf(w, "\nlatency          %10s%10s%10s%10s%10s%10s%10s\n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max")
	if !s.ClosedLoop {
		printLatency(w, "from planned", s.FromPlanned)
	}
	printLatency(w, "from sent", s.FromSent)
	if !s.ClosedLoop {
		printLatency(w, "sent late by", s.Delay)
	}

	fmt.Fprintf(w, "\nanswers  ")
	if len(s.Statuses) == 0 {
		fmt.Fprint(w, " none")
	}
	for i, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		if i > 0 {
			fmt.Fprint(w, "  ")
		}
		fmt.Fprintf(w, " %s: %s", status, thousands(s.Statuses[status]))
	}
	fmt.Fprintln(w)
	names := slices.SortedFunc(maps.Keys(s.Errors), func(a, b string) int {
		return cmp.Or(-cmp.Compare(s.Errors[a], s.Errors[b]), strings.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(w, "error     %12s   %s: %s\n", thousands(s.Errors[name]), name, gun.OutcomeText(name))
	}
	if s.Strays > 0 {
		fmt.Fprintf(w, "warning   %12s   connections on which bytes came that nobody had asked for\n", thousands(s.Strays))
	}
	printTags(w, s)
}

func printLatency(w io.Writer, name string, l gun.Latency) {
	fmt.Fprintf(w, "%-14s   ", name)
	if l.Count == 0 {
		fmt.Fprintf(w, "%10s\n", "-")
		return
	}
	for _, us := range []float64{l.Mean, l.P50, l.P90, l.P95, l.P99, l.P999, l.Max} {
		fmt.Fprintf(w, "%10s", span(us))
	}
	fmt.Fprintln(w)
}

// printTags writes a line for each of the tags with most shots.
func printTags(w io.Writer, s *gun.Summary) {
	const most = 20
	if len(s.Tags) < 2 {
		return
	}
	fmt.Fprintf(w, "\n%10s%8s%10s%10s%10s  tag\n", "shots", "errors", "p50", "p99", "max")
	tags := slices.Clone(s.Tags)
	slices.SortStableFunc(tags, func(a, b gun.Tag) int { return -cmp.Compare(a.Sent+a.Dropped, b.Sent+b.Dropped) })
	for _, t := range tags[:min(len(tags), most)] {
		l := t.FromPlanned
		times := [3]string{"-", "-", "-"}
		if l.Count > 0 {
			times = [3]string{span(l.P50), span(l.P99), span(l.Max)}
		}
		fmt.Fprintf(w, "%10s%8s%10s%10s%10s  %s\n", thousands(t.Sent+t.Dropped), thousands(t.Errors+t.Dropped),
			times[0], times[1], times[2], ammo.Decoded([]byte(t.Tag), 100))
	}
	if more := len(tags) - most; more > 0 {
		fmt.Fprintf(w, "           ... and %d tags more\n", more)
	}
}
