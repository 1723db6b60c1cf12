package schedule

import (
	"bufio"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

func parse(t testing.TB, text string) Plan {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// testdata/instants.txt is the work of testdata/tables.py.
func TestTables(t *testing.T) {
	file, err := os.Open("testdata/instants.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var p Plan
	var text string
	plans, instants := 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var a, b int64
		if word == "shots" || word == "at" {
			if _, err := fmt.Sscan(rest, &a, &b); err != nil {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
		}
		switch word {
		case "plan":
			text, p = rest, parse(t, rest)
			plans++
		case "shots":
			if p.Shots() != a || p.Duration() != time.Duration(b) {
				t.Errorf("%s: %d shots in %d ns, want %d in %d", text, p.Shots(), p.Duration(), a, b)
			}
		case "at":
			instants++
			if at := p.At(a); at != time.Duration(b) {
				t.Errorf("%s: shot %d at %d, want %d", text, a, at, b)
			}
			around(t, p, a)
		}
	}
	if plans < 30 || instants < 200 {
		t.Errorf("only %d plans and %d instants were found", plans, instants)
	}
}

// around checks Due beside the instant of shot n, and that neighbours are on
// their sides of it.
func around(t *testing.T, p Plan, n int64) {
	t.Helper()
	at := p.At(n)
	for _, c := range []struct {
		t    time.Duration
		want int64
	}{{at - 1, n}, {at, n + 1}, {at + 1, n + 1}} {
		if due := p.Due(c.t); due != c.want {
			t.Errorf("%v: Due(%d) = %d, want %d; shot %d is at %d", p, c.t, due, c.want, n, at)
		}
	}
	if at < 0 || at >= p.Duration() || n > 0 && p.At(n-1) >= at {
		t.Errorf("%v: shot %d at %d, duration %d", p, n, at, p.Duration())
	}
}

// Every shot of plans small enough for that: instants grow, Due is their
// inverse, and between two of them it stands still.
func TestDueEverywhere(t *testing.T) {
	for _, text := range []string{
		"const(750,2s)", "line(0,100,10s)", "line(100,0,10s)", "line(3,1,7s) pause(1s) line(1,3.3,7s)",
		"step(1,10,2,1.1s) pause(1ms) step(10,0,3,0.7s)", "const(0.1,9s) const(0.1,11s)", "pause(1s)",
		"const(10000000,1ms)", "line(10000000,1,1ms)", "line(0.1,9999999.9,1ms)", "const(333.333333333,3s)",
	} {
		p := parse(t, text)
		last := time.Duration(-1)
		for n := range p.Shots() {
			around(t, p, n)
			at := p.At(n)
			if due := p.Due(last + (at-last)/2); n > 0 && due != n {
				t.Errorf("%s: Due is %d between shots %d and %d", text, due, n-1, n)
			}
			last = at
		}
		if due := p.Due(-1); due != 0 {
			t.Errorf("%s: Due(-1) = %d", text, due)
		}
		for _, end := range []time.Duration{p.Duration() - 1, p.Duration(), p.Duration() + 1, 1<<63 - 1} {
			if due := p.Due(end); due != p.Shots() {
				t.Errorf("%s: Due(%d) = %d of %d", text, end, due, p.Shots())
			}
		}
	}
}

// randomPlan draws parts of every size there is, as text.
func randomPlan(r *rand.Rand) string {
	draw := func(most int64) int64 { return 1 + r.Int64N(most>>r.IntN(50)) } // often small
	rate := func() int64 {
		switch r.IntN(5) {
		case 0:
			return 0
		case 1:
			return r.Int64N(MaxRate+1) * int64(perSecond)
		}
		return draw(MaxRate * int64(perSecond))
	}
	var parts []string
	for range 1 + r.IntN(4) {
		length := time.Duration(draw(int64(MaxDuration) / 4))
		c := call{shape: lineShape, values: [4]int64{rate(), rate(), int64(length)}}
		switch r.IntN(6) {
		case 0:
			c = call{shape: constShape, values: [4]int64{rate(), int64(length)}}
		case 1: // almost level
			c.values[1] = min(max(0, c.values[0]+r.Int64N(21)-10), MaxRate*int64(perSecond))
		}
		parts = append(parts, string(c.append(nil)))
	}
	return strings.Join(parts, " ")
}

// shotsUntil is 8·d·unit times the area below a part's rate until u halves of
// a nanosecond, in integers without end.
func shotsUntil(p *part, u int64) *big.Int {
	from, slope := big.NewInt(int64(p.from)), big.NewInt(int64(p.to-p.from))
	sum := from.Mul(from, big.NewInt(4*int64(p.length)))
	sum.Add(sum, slope.Mul(slope, big.NewInt(u)))
	return sum.Mul(sum, big.NewInt(u))
}

// Random plans against integers without end: shot n is at t if the area
// reaches n within [t - 1/2 ns, t + 1/2 ns).
func TestRandomPlans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	shots := 0
	for range rounds {
		text := randomPlan(r)
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for i := range p.parts {
			part := &p.parts[i]
			shot := new(big.Int).Mul(big.NewInt(8*int64(part.length)), big.NewInt(unit))
			whole := new(big.Int).Div(shotsUntil(part, 2*int64(part.length)), shot)
			if part.shots != whole.Int64() {
				t.Fatalf("%s: part %d has %d shots, want %d", text, i, part.shots, whole)
			}
			if part.shots == 0 {
				continue
			}
			for _, n := range []int64{0, 1, part.shots - 2, part.shots - 1, r.Int64N(part.shots), r.Int64N(part.shots), r.Int64N(part.shots)} {
				if n < 0 || n >= part.shots {
					continue
				}
				shots++
				at := int64(p.At(part.first+n) - part.begin)
				want := new(big.Int).Mul(shot, big.NewInt(n))
				if shotsUntil(part, 2*at+1).Cmp(want) <= 0 || at > 0 && shotsUntil(part, 2*at-1).Cmp(want) > 0 {
					t.Fatalf("%s: part %d: shot %d at %d is not the nearest", text, i, n, at)
				}
				around(t, p, part.first+n)
			}
			for range 3 { // somewhere
				at := r.Int64N(int64(part.length))
				area := shotsUntil(part, 2*at+1)
				due, rest := area.DivMod(area, shot, new(big.Int))
				want := due.Int64()
				if rest.Sign() > 0 {
					want++
				}
				if got := p.Due(part.begin+time.Duration(at)) - part.first; got != min(want, part.shots) {
					t.Fatalf("%s: part %d: %d due at %d, want %d", text, i, got, at, want)
				}
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if shots < rounds {
		t.Errorf("only %d shots in %d plans", shots, rounds)
	}
}

func TestRate(t *testing.T) {
	f := func(text string, at time.Duration, want float64) {
		t.Helper()
		if got := parse(t, text).Rate(at); got != want {
			t.Errorf("%s: Rate(%v) = %v, want %v", text, at, got, want)
		}
	}
	const s = time.Second
	plan := "const(10,1s) line(20,40,2s) pause(1s) step(5,1,2,1s)"
	f(plan, -1, 0)
	f(plan, 0, 10)
	f(plan, s-1, 10)
	f(plan, s, 20) // a part has its beginning, not its end
	f(plan, 2*s, 30)
	f(plan, 3*s, 0)
	f(plan, 4*s, 5)
	f(plan, 5*s, 3)
	f(plan, 7*s-1, 1)
	f(plan, 7*s, 0)
	f("const(0.25,1s)", 0, 0.25)
	f("flood(3,1s)", 0, 0)
	if r := (Plan{}).Rate(0); r != 0 {
		t.Errorf("the zero Plan has rate %v", r)
	}
}

func TestFlood(t *testing.T) {
	p := parse(t, "Flood( 64 , 1m )")
	if conns, ok := p.Flood(); conns != 64 || !ok {
		t.Errorf("Flood() = %d, %v", conns, ok)
	}
	if p.Shots() != 0 || p.Duration() != time.Minute || p.Due(time.Second) != 0 || p.Due(time.Hour) != 0 {
		t.Errorf("a flood of %d shots, %v, %d due", p.Shots(), p.Duration(), p.Due(time.Second))
	}
	if conns, ok := parse(t, "const(1,1s)").Flood(); conns != 0 || ok {
		t.Errorf("const is a flood of %d", conns)
	}
}

func TestAtOfNoShot(t *testing.T) {
	for text, n := range map[string]int64{"const(3,1s)": 3, "line(1,2,5s)": -1, "pause(1s)": 0, "flood(1,1s)": 0} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, fmt.Sprintf("shot %d of a plan of", n)) {
					t.Errorf("%s: At(%d): %s", text, n, got)
				}
			}()
			parse(t, text).At(n)
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	p := parse(t, "step(1,1000,1,1s) line(1000,1,1m) const(5,10s)")
	var n int64
	var sum float64
	allocs := testing.AllocsPerRun(1000, func() {
		n = (n + 7919) % p.Shots()
		at := p.At(n)
		sum += float64(p.Due(at)) + p.Rate(at)
	})
	if allocs != 0 {
		t.Errorf("At, Due and Rate allocate %v times", allocs)
	}
}
