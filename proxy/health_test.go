//go:build linux

package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// Which servers are up, who gets requests, and whether an upstream has a server
// that is well, agree in all states that three servers can be in.
func TestUpAgrees(t *testing.T) {
	const now, states = time.Minute, 4 // well; resting; sick; both
	p, err := New(settings("127.0.0.1:1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.group.Close()
	for n := range states * states * states {
		u := &upstream{Upstream: &config.Upstream{Name: "u", Balance: config.RoundRobin}}
		well := false
		for i := range 3 {
			o := newOrigin(fmt.Sprintf("127.0.0.1:%d", i+1), 1)
			state := n / []int{1, states, states * states}[i] % states
			if state&1 != 0 {
				o.failed(1, time.Hour, now)
			}
			o.sick.Store(state&2 != 0)
			well = well || !o.sick.Load()
			u.origins = append(u.origins, o)
		}
		p.plan = &plan{upstreams: []*upstream{u}}
		ups := 0
		for _, o := range u.origins {
			picked := slices.ContainsFunc([]int{0, 1, 2}, func(turn int) bool { return u.pick(turn, nil, now) == o })
			if up := u.up(o, now); up != picked {
				t.Errorf("state %d: %s is up: %t, gets requests: %t", n, o.name, up, picked)
			} else if up {
				ups++
			}
		}
		if well != (ups > 0) || well != (p.Healthy() == nil) {
			t.Errorf("state %d: %d are up, one is well: %t, health: %v", n, ups, well, p.Healthy())
		}
	}
}

// A server that requests take out is told of once, and once more when it
// answers again.
func TestFailuresAreTold(t *testing.T) {
	c := settings("127.0.0.1:1", "127.0.0.1:2")
	c.Upstreams[0].Fails = 2
	var told []string
	p, err := New(c, Options{Warn: func(text string) { told = append(told, text) }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.group.Close()
	a, b := p.plan.upstreams[0].origins[0], p.plan.upstreams[0].origins[1]
	now := time.Duration(0)
	fail := func(o *origin, times int) {
		for range times {
			o.failed(2, 5*time.Second, now)
		}
	}
	want := func(lines ...string) {
		t.Helper()
		for range 2 { // once is enough
			now += watchEvery
			p.tellFailures(p.plan, now)
		}
		if got, want := strings.Join(told, "\n"), strings.Join(lines, "\n"); got != want {
			t.Errorf("told:\n%s\nwant:\n%s", got, want)
		}
		told = nil
	}
	fail(a, 1)
	want()
	fail(a, 1)
	want("upstream origin: 127.0.0.1:1 is taken out, for 5s at a time: 2 failures in a row")
	now += time.Minute // it may be tried again, and fails
	want()
	fail(a, 1)
	fail(b, 3)
	want("upstream origin: 127.0.0.1:2 is tried all the same after 3 failures in a row: no other server is well")
	a.answered()
	want("upstream origin: 127.0.0.1:1 answers again")
	b.sick.Store(true) // says the health check, and tells
	b.answered()
	want()
	b.sick.Store(false)
	want("upstream origin: 127.0.0.1:2 answers again")
}
