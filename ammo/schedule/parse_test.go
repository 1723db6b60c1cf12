package schedule

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	f := func(text, canonical string, shots int64, duration time.Duration) {
		t.Helper()
		p, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		if p.String() != canonical || p.Shots() != shots || p.Duration() != duration {
			t.Errorf("%q: %q, %d shots, %v; want %q, %d, %v", text, p, p.Shots(), p.Duration(), canonical, shots, duration)
		}
		again, err := Parse(p.String())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%q reads back as %q, error %v", p, again, err)
		}
	}
	const s = time.Second
	f("const(750,120s)", "const(750,2m)", 90_000, 2*time.Minute)
	f("const(750,120)", "const(750,2m)", 90_000, 2*time.Minute) // as in Tank
	f(" \r\n CONST\t( 750 ,\n 120s )\n", "const(750,2m)", 90_000, 2*time.Minute)
	f("const(1,1)Line(1,3,1)\nstep(1,2,1,1)", "const(1,1s) line(1,3,1s) step(1,2,1,1s)", 6, 4*s)
	f("pause(1m30s)", "pause(1m30s)", 0, 90*s)
	f("const(0,5)", "pause(5s)", 0, 5*s)
	f("const(000,5) const(010,05)", "pause(5s) const(10,5s)", 50, 10*s)
	f("flood(64,.5h)", "flood(64,30m)", 0, 30*time.Minute)

	f("const(0.5,10)", "const(0.5,10s)", 5, 10*s)
	f("const(.5,10) const(2.,10)", "const(0.5,10s) const(2,10s)", 25, 20*s)
	f("const(0.29,100)", "const(0.29,1m40s)", 29, 100*s) // 28.999999999999996 in floating point
	f("const(0.000000001,1000d)", "const(0.000000001,1000d)", 0, MaxDuration)
	f("const(10000000.000000000000,1000d)", "const(10000000,1000d)", 864_000_000_000_000, MaxDuration)

	f("pause(1d2h3m4s5ms)", "pause(1d2h3m4.005s)", 0, 26*time.Hour+3*time.Minute+4005*time.Millisecond)
	f("pause(1h 30 m)", "pause(1h30m)", 0, 90*time.Minute)
	f("pause(5ms1h)", "pause(1h0.005s)", 0, time.Hour+5*time.Millisecond)
	f("pause(1.5m)", "pause(1m30s)", 0, 90*s)
	f("pause(0.000001ms)", "pause(0.000001ms)", 0, 1)
	f("pause(1.000000001)", "pause(1.000000001s)", 0, s+1)
	f("pause(0h1500ms)", "pause(1.5s)", 0, 1500*time.Millisecond)

	f("step(1000,10000000,1000,1)", "step(1000,10000000,1000,1s)", 50_005_000_000, 10_000*s)
}

// The number of steps is limited, their rates are exact.
func TestSteps(t *testing.T) {
	f := func(text string, want ...rate) {
		t.Helper()
		var got []rate
		for _, part := range parse(t, text).parts {
			got = append(got, part.from)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: rates %v, want %v", text, got, want)
		}
	}
	const r = perSecond
	f("step(1,3,1,1)", 1*r, 2*r, 3*r)
	f("step(1,4,2,1)", 1*r, 3*r, 4*r)
	f("step(4,1,2,1)", 4*r, 2*r, 1*r)
	f("step(3,0,1,1)", 3*r, 2*r, 1*r, 0)
	f("step(1,2,9,1)", 1*r, 2*r)
	f("step(2,2,9,1)", 2*r)
	f("step(2,2,0,1)", 2*r)
	f("step(0,0.3,0.1,1)", 0, r/10, r/5, 3*r/10)
	if n := len(parse(t, "step(1,100000,1,1)").parts); n != MaxParts {
		t.Errorf("%d parts, want %d", n, MaxParts)
	}
}

func TestSyntaxErrors(t *testing.T) {
	f := func(text string, column int, want, got, hint string) {
		t.Helper()
		p, err := Parse(text)
		var e *SyntaxError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, error %v", text, p, err)
			return
		}
		if e.Column != column || e.Want != want || e.Got != got || !strings.Contains(e.Hint, hint) || e.Text != text {
			t.Errorf("%q: %d, want %s, got %s: %s", text, e.Column, e.Want, e.Got, e.Hint)
		}
	}
	const (
		shapes    = "const, line, step, pause or flood"
		all       = "const(RATE,DURATION) line(FROM,TO,DURATION) step(FROM,TO,INCREMENT,DURATION) pause(DURATION) flood(CONNECTIONS,DURATION)"
		takes     = "const takes RATE, DURATION, such as const(100,30s)"
		rates     = "rates are shots a second in digits, such as 1000 or 0.5"
		durations = "durations are such as 90, 1.5s, 250ms or 1h30m"
	)
	f("", 1, shapes, "the end", all)
	f(" \n", 3, shapes, "the end", all)
	f("wait(5s)", 1, shapes, `"wait"`, all)
	f("const(1,1s) ramp (1,2,3)", 13, shapes, `"ramp"`, all)
	f("const(1,1s), const(1,1s)", 12, "a blank or the end", `','`, "separated by blanks alone")
	f("const(1,1s);", 12, "a blank or the end", `';'`, "separated by blanks alone")
	f("const(1,1s)) const(1,1s)", 12, shapes, `')'`, all)
	f("'const(1,1s)'", 1, shapes, `"'const"`, all)
	f("стой(1,1s)", 1, shapes, `"стой"`, all)
	f("\xff", 1, shapes, `"\xff"`, all)
	f("const(1,1s) \x00", 13, shapes, `"\x00"`, all)

	// Too few, too many, not closed.
	f("const", 6, `'(' before RATE`, "the end", takes)
	f("conſt 750,120s", 7, `'(' before RATE`, `"750"`, takes) // a long s is an s, of two bytes in one column
	f("const 750,120s", 7, `'(' before RATE`, `"750"`, takes)
	f("const()", 7, "RATE", `')'`, takes)
	f("const(750)", 10, `',' before DURATION`, `')'`, takes)
	f("const(750,)", 11, "DURATION", `')'`, takes)
	f("const(750 120s)", 11, `',' before DURATION`, `"120s"`, takes)
	f("const(750;120s)", 10, `',' before DURATION`, `';'`, takes)
	f("const(1,2s,3)", 11, "')' after DURATION", `','`, takes)
	f("const(1,2s", 11, "')' after DURATION", "the end", takes)
	f("const(1,2s line(1,2,3)", 12, "')' after DURATION", `"line"`, takes)
	f("line(1,2s)", 8, "TO in digits", `"2s"`, rates) // FROM, 2s?
	f("step(1,2,3)", 11, `',' before DURATION`, `')'`, "step takes FROM, TO, INCREMENT, DURATION")
	f("pause()", 7, "DURATION", `')'`, "pause takes DURATION, such as pause(5s)")

	// Rates.
	f("const(1e3,1s)", 7, "RATE in digits", `"1e3"`, rates)
	f("const(100rps,1s)", 7, "RATE in digits", `"100rps"`, rates)
	f("const(1_000,1s)", 7, "RATE in digits", `"1_000"`, rates)
	f("const(0x10,1s)", 7, "RATE in digits", `"0x10"`, rates)
	f("const(1.2.3,1s)", 7, "RATE in digits", `"1.2.3"`, rates)
	f("const(.,1s)", 7, "RATE in digits", `"."`, rates)
	f("const(-5,1s)", 7, "RATE in digits", `"-5"`, rates)
	f("const(fast,1s)", 7, "RATE", `"fast"`, takes)
	f("const(10000000.1,1s)", 7, "RATE of at most 10000000", `"10000000.1"`, rates)
	f("const(99999999999999999999999999,1s)", 7, "RATE of at most 10000000", `"99999999999999999999"...`, rates)
	f("const("+strings.Repeat("9", 101)+",1s)", 7, "RATE in digits", `"99999999999999999999"...`, rates)
	f("const(0.0000000001,1s)", 7, "RATE of at most 9 decimals", `"0.0000000001"`, rates)

	// Durations.
	f("pause(0)", 7, "DURATION above 0", `"0"`, durations)
	f("pause(0h0s)", 7, "DURATION above 0", `"0h0s"`, durations)
	f("pause(-1s)", 7, "DURATION in digits", `"-1s"`, durations)
	f("pause(s)", 7, "DURATION", `"s"`, "pause takes")
	f("pause(5min)", 8, "a unit: d, h, m, s or ms", `"min"`, durations)
	f("pause(10us)", 9, "a unit: d, h, m, s or ms", `"us"`, durations)
	f("pause(10S)", 9, "a unit: d, h, m, s or ms", `"S"`, durations)
	f("pause(30с)", 9, "a unit: d, h, m, s or ms", `"с"`, durations) // a Cyrillic one
	f("pause(1h30)", 11, "a unit", `')'`, "say 1h30m or 1h30s")
	f("pause(30 20)", 10, "')' after DURATION", `"20"`, "pause takes")
	f("pause(1.5.s)", 7, "DURATION in digits", `"1.5.s"`, durations)
	f("pause(1m.s)", 9, "DURATION in digits", `".s"`, durations)
	f("pause(1000.1d)", 7, "DURATION of at most 1000 days", `"1000.1d"`, durations)
	f("pause(999d24h1ms)", 7, "DURATION of at most 1000 days", `"999d24h1ms"`, durations)
	f("pause(99999999999999999999d)", 7, "DURATION of at most 1000 days", `"99999999999999999999"...`, durations)
	f("pause(0.0000001ms)", 7, "DURATION in whole nanoseconds", `"0.0000001ms"`, durations)

	// Plans too large.
	f("pause(600d) pause(600d)", 19, "a plan of at most 1000 days", "1200 days with this", "pause takes")
	f("step(1,1000,1,2d)", 15, "a plan of at most 1000 days", "2000 days with this", "step takes")
	f("step(0,10000000,100.1,1000d)", 23, "a plan of at most 1000 days", "99902000 days with this", "step takes")
	f("step(1,1000000,1,1s)", 16, "a plan of at most 100000 parts and steps", "1000000", "step takes")
	f("step(0,10000000,0.000000001,1s)", 17, "a plan of at most 100000 parts and steps", "10000000000000001", "step takes")
	f("pause(1) step(1,100000,1,1s)", 24, "a plan of at most 100000 parts and steps", "100001", "step takes")
	f("step(1,2,0,1s)", 10, "an INCREMENT above 0", "0", "step takes")
	f("step(2,1,-1,1s)", 10, "INCREMENT in digits", `"-1"`, rates)

	// Floods.
	f("flood(0,1s)", 7, "CONNECTIONS from 1 to 1000000", `"0"`, "flood takes")
	f("flood(1.5,1s)", 7, "CONNECTIONS from 1 to 1000000", `"1.5"`, "flood takes")
	f("flood(1000001,1s)", 7, "CONNECTIONS from 1 to 1000000", `"1000001"`, "flood takes")
	f("flood(-1,1s)", 7, "CONNECTIONS from 1 to 1000000", `"-1"`, "flood takes")
	f("flood(,1s)", 7, "CONNECTIONS", `','`, "flood takes")
	f("flood(1,1001d)", 9, "DURATION of at most 1000 days", `"1001d"`, durations)
	f("flood(1,1s) const(1,1s)", 13, "nothing beside flood", `"const"`, "flood stands alone")
	f("const(1,1s) flood(1,1s)", 13, "nothing beside flood", `"flood"`, "flood stands alone")
	f("flood(1,1s) flood(1,1s)", 13, "nothing beside flood", `"flood"`, "flood stands alone")
}

func TestSyntaxErrorText(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	f("const(750)", "column 10: want ',' before DURATION, got ')': const takes RATE, DURATION, such as const(100,30s)")
	// Lines are counted where there are several.
	f("const(1,1s)\n  пауза(1s)\n", "line 2, column 3: want const, line, step, pause or flood, got \"пауза\": a plan is made of "+
		"const(RATE,DURATION) line(FROM,TO,DURATION) step(FROM,TO,INCREMENT,DURATION) pause(DURATION) flood(CONNECTIONS,DURATION)")
	f("pause(30секунд", "column 9: want a unit: d, h, m, s or ms, got \"секунд\": durations are such as 90, 1.5s, 250ms or 1h30m")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "const(750,120s)", "line(1,600,20s) const(600,1h30m)", "step(1,10,.5,1.5s)\npause(250ms)", "flood(64,30s)",
		"const(1,1s),", "const(1e3,1s)", "pause(1h30)", "line(10000000,0,1000d)", "step(1,99999,1,1ms)", "const(\xff", "паузa(1d)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Column < 1 || e.Column > len([]rune(text))+1 || e.Want == "" || e.Got == "" || e.Hint == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			if text := e.Error(); strings.Contains(text, "\n") {
				t.Fatalf("an error of several lines: %q", text)
			}
			return
		}
		again, err := Parse(p.String())
		if err != nil || !reflect.DeepEqual(again, p) || again.String() != p.String() {
			t.Fatalf("%q: %q reads back as %q, error %v", text, p, again, err)
		}
		for _, n := range []int64{0, p.Shots() / 3, p.Shots() - 1} {
			if n >= 0 && n < p.Shots() {
				around(t, p, n)
			}
		}
		if due := p.Due(p.Duration()); due != p.Shots() || p.Duration() <= 0 || p.Duration() > MaxDuration {
			t.Fatalf("%q: %d of %d shots due after %v", text, due, p.Shots(), p.Duration())
		}
	})
}
