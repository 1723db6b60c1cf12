package cli

import (
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"

	"redoubt/ammo"
	"redoubt/ammo/gun"
	"redoubt/ammo/schedule"
)

// demoLoad climbs for so long that one can see it, and no longer.
const demoLoad = "line(1,2000,1s)"

// fire shells the server on a schedule, straight and through its proxy, one after
// the other.
func (d *demo) fire(api, front string) error {
	d.begin("Firing at it, up to 2,000 shots a second, straight and then through the proxy")
	var runs []demoRun
	for _, way := range []struct{ name, addr string }{{"straight", api}, {"proxied", front}} {
		summary, err := d.fireAt(way.addr)
		if err != nil {
			return err
		}
		n := summary.Shots
		fmt.Fprintf(d.out, "   %-8s   %s planned, %s answered, %s late, %s errors\n", way.name, thousands(n.Planned),
			thousands(n.Answered), thousands(n.Late), thousands(n.TimedOut+n.Failed+n.Dropped))
		if n.Answered < n.Planned {
			return fmt.Errorf("%s of %s shots were not answered", thousands(n.Planned-n.Answered), thousands(n.Planned))
		}
		runs = append(runs, demoRun{way.name, summary.FromPlanned})
	}
	fmt.Fprintln(d.out, "   latency from the planned instant:")
	plotLatencies(d.out, runs)
	return nil
}

func (d *demo) fireAt(addr string) (*gun.Summary, error) {
	target, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	plan, err := schedule.Parse(demoLoad)
	if err != nil {
		return nil, err
	}
	file, err := ammo.Open(ammo.TravelsPhases(d.dir)[0].Ammo)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	summary, err := gun.Fire(d.ctx, gun.Options{Target: target, Source: file, Plan: plan})
	if err == nil && summary.Interrupted {
		err = errInterrupted
	}
	return summary, err
}

// demoRun is how long answers took.
type demoRun struct {
	name    string
	latency gun.Latency
}

// plotLatencies draws a bar for each run at each of some percentiles. Each ten
// times as long is as many columns more, so that one late shot leaves something to
// see of the others.
func plotLatencies(w io.Writer, runs []demoRun) {
	const shortest, columns = 10, 12 // µs at the left; columns from there to ten times that
	for _, p := range []struct {
		name string
		of   func(gun.Latency) float64
	}{
		{"50 %", func(l gun.Latency) float64 { return l.P50 }},
		{"90 %", func(l gun.Latency) float64 { return l.P90 }},
		{"99 %", func(l gun.Latency) float64 { return l.P99 }},
	} {
		name := p.name
		for _, run := range runs {
			us := p.of(run.latency)
			n := int(math.Round(columns * math.Log10(max(us, shortest)/shortest)))
			fmt.Fprintf(w, "   %5s  %-8s |%s %s\n", name, run.name, strings.Repeat("#", n), span(us))
			name = ""
		}
	}
	fmt.Fprintf(w, "%18s  %-*s%-*s%-*s%s\n", "", columns, "10 µs", columns, "100 µs", columns, "1 ms", "10 ms")
}
