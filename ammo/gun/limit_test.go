package gun

import (
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	times := newTimes(3)
	for i := range 1000 {
		record(times, time.Duration(i+1)*time.Microsecond) // 1 to 1000 µs
	}
	s := &Summary{
		Shots:    Shots{Planned: 2000, Sent: 1900, Late: 30, Dropped: 100, Answered: 1800, TimedOut: 40, Failed: 60},
		Rate:     123.45,
		Statuses: map[string]int64{"200": 1700, "201": 10, "404": 80, "500": 9, "503": 1},
		planned:  times,
	}
	s.FromPlanned = newLatency(times)
	f := func(text string, want bool, wantGot string) {
		t.Helper()
		l, err := ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		kept, got := l.Check(s)
		if kept != want || got != wantGot {
			t.Errorf("%s: kept %v, it was %s; want %v, %s", text, kept, got, want, wantGot)
		}
		if l.String() != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%q is written %q", text, l)
		}
	}
	// A limit says what must not be.
	f("p50>501us", true, "500µs")
	f("p50>499us", false, "500µs")
	f("p99.9>1ms", true, "999µs")
	f("p99 > 900us", false, "990µs")
	f("p1<5us", true, "10µs")
	f("p1<50us", false, "10µs")
	f("max>1s", true, "1ms")
	f("max>0.5ms", false, "1ms")
	f("mean>1ms", true, "501µs")
	f("errors>0", false, "200")
	f("errors>200", true, "200")
	f("errors>10%", true, "10%")
	f("errors>9.9%", false, "10%")
	f("timeouts>39", false, "40")
	f("timeouts>2%", true, "2%")
	f("late>30", true, "30")
	f("late>1%", false, "1.5%")
	f("dropped>99", false, "100")
	f("dropped>5%", true, "5%")
	f("rate<123", true, "123.5")
	f("rate<124", false, "123.5")
	f("5xx>9", false, "10")
	f("5xx>10", true, "10")
	f("2xx<95%", true, "95%")
	f("2xx<95.1%", false, "95%")
	f("404>4%", false, "4.44%")
	f("404>80", true, "80")
	f("302>0", true, "0")
	f("200<1700", true, "1700")

	nothing := &Summary{Statuses: map[string]int64{}}
	for text, want := range map[string]bool{"p99>1s": false, "max<1s": false, "errors>0": true, "errors>1%": true, "rate<1": false, "5xx>0%": true} {
		l, err := ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		if kept, got := l.Check(nothing); kept != want {
			t.Errorf("of a run without a shot %s is kept: %v, it was %s", text, kept, got)
		}
	}
}

func TestBadLimits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "p99", "p99>", ">5ms", "p99=5ms", "p99>=5ms", "p99>5", "p99>5%", "p99>-1ms", "p100>1s", "p99.>1s", "p>1s", "p99.99999>1s", "P99>5ms",
		"errors>x", "errors>-1", "errors>NaN", "errors>-1%", "errors>%", "rate<5%", "rate>1ms", "6>1", "20x>1", "0xx>1", "2xx>1ms", "speed>1", "errors>1 2",
	} {
		l, err := ParseLimit(text)
		if err == nil {
			t.Errorf("%q is a limit: %+v", text, l)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error does not say what was wrong: %v", text, err)
		}
	}
}
