package phout

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const begin = 1328786207_081_999_999 // cut to .081

func TestAppend(t *testing.T) {
	f := func(row Row, numbered bool, want string) {
		t.Helper()
		got := string(row.Append([]byte("before|"), numbered))
		if want = "before|" + strings.ReplaceAll(want, " ", "\t") + "\n"; got != want {
			t.Errorf("%+v:\ngot  %q\nwant %q", row, got, want)
		}
	}
	const us = time.Microsecond
	answered := Row{Sent: begin, Tag: "users", Number: 12, Connect: 250 * us, Send: 14 * us, Latency: 1510 * us, Receive: 52 * us, Out: 369, In: 594, Status: 404}
	f(answered, false, "1328786207.081 users 1826 250 14 1510 52 1826 369 594 0 404")
	f(answered, true, "1328786207.081 users#12 1826 250 14 1510 52 1826 369 594 0 404")

	f(Row{Sent: begin, Tag: "x", Send: 33 * us, Latency: 2 * time.Second, Out: 18, Net: 110}, false, "1328786207.081 x 2000033 0 33 2000000 0 2000033 18 0 110 0")
	f(Row{Sent: begin, Tag: "x", Connect: 70 * us, Net: 111}, false, "1328786207.081 x 70 70 0 0 0 70 0 0 111 0")

	// Nothing at all, and the time's leading zeros.
	f(Row{}, false, "0.000  0 0 0 0 0 0 0 0 0 0")
	f(Row{Sent: 1_000_000}, true, "0.001 #0 0 0 0 0 0 0 0 0 0 0")
	f(Row{Sent: 59_990_000_000}, false, "59.990  0 0 0 0 0 0 0 0 0 0")

	// What Event was read as is not written.
	f(Row{Latency: 5 * us, Event: 4 * us}, false, "0.000  5 0 0 5 0 5 0 0 0 0")

	// Lines stay whole, whatever the tag; quotes and blanks mean nothing.
	f(Row{Tag: "\ta\r\nb\n#7\""}, false, "0.000 _a__b_#7\" 0 0 0 0 0 0 0 0 0 0")
	f(Row{Tag: "a#b", Number: math.MaxInt64}, true, "0.000 a#b#9223372036854775807 0 0 0 0 0 0 0 0 0 0")

	// Instants are rounded, half up, not spans: 0.5, 1, 1.5, 2 µs are 1, 1, 2, 2.
	f(Row{Connect: 500, Send: 500, Latency: 500, Receive: 500}, false, "0.000  2 1 0 1 0 2 0 0 0 0")
	f(Row{Connect: 499, Send: 499, Latency: 499, Receive: 2}, false, "0.000  1 0 1 0 0 1 0 0 0 0")
	f(Row{Send: 400, Latency: 99, Receive: 1}, false, "0.000  1 0 0 0 1 1 0 0 0 0")

	// Negative is 0, and does not shorten the others.
	f(Row{Sent: -1, Number: -1, Connect: -5 * us, Send: 3 * us, Latency: -1, Receive: math.MinInt64, Out: -1, In: -1, Net: -1, Status: -1}, true,
		"0.000 #0 3 0 3 0 0 3 0 0 0 0")

	// The longest there is.
	const most = math.MaxInt64
	f(Row{Sent: most, Connect: most, Send: most, Latency: most, Receive: most, Out: most, In: most, Net: math.MaxInt32, Status: math.MaxInt32}, false,
		"9223372036.854  9223372036854775 9223372036854775 0 0 0 9223372036854775 9223372036854775807 9223372036854775807 2147483647 2147483647")
}

// randomRow has spans and tags of all kinds, none negative.
func randomRow(rng *rand.Rand) Row {
	span := func() time.Duration { return time.Duration(rng.Int64() >> (rng.IntN(64))) }
	if rng.IntN(4) > 0 {
		span = func() time.Duration { return time.Duration(rng.IntN(3000)) } // around the rounding
	}
	tags := []string{"", "users", "a b", "я", "#", "a#1", "a#", `"`, `"a`, "a,b", "\t", "\n\r", "a\tb\nc\r", "NA", "a\\tb", "0", "1.5", "<good>:/x$"}
	return Row{
		Sent: rng.Int64() >> rng.IntN(64), Tag: tags[rng.IntN(len(tags))], Number: rng.Int64() >> rng.IntN(64),
		Connect: span(), Send: span(), Latency: span(), Receive: span(),
		Out: rng.Int64() >> rng.IntN(64), In: rng.Int64() >> rng.IntN(64),
		Net: int(rng.Int32() >> rng.IntN(32)), Status: rng.IntN(1000),
	}
}

// random gives a source of random rows and says how to have it again.
func random(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestAppendAllocatesNothing(t *testing.T) {
	row := Row{Sent: begin, Tag: "tag\twith a tab", Number: 1 << 40, Connect: 1, Send: 2, Latency: time.Hour, Receive: 3, Out: 1 << 40, In: 1 << 50, Net: 110, Status: 200}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { buf = row.Append(buf[:0], true) }); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}
