package prefilter

import (
	"math"
	"slices"
	"testing"
)

func TestFrequencies(t *testing.T) {
	sum, least := uint32(0), uint32(math.MaxUint32)
	for _, n := range frequencies {
		sum += n
		least = min(least, n)
	}
	if sum != 1e6 || least != 20 {
		t.Errorf("they make %d, the least is %d", sum, least)
	}
	all := full
	if part := all.part(); part != 1 {
		t.Errorf("all bytes: %g", part)
	}
}

func TestRate(t *testing.T) {
	rate := func(w Window) float64 { return w.rate() }
	for _, test := range []struct {
		name       string
		less, more Window
	}{
		{"a place more", literal("the"), literal("th")},
		{"a byte more", Window{setOf("x"), setOf("y")}, Window{setOf("xz"), setOf("y")}},
		{"a rare byte", literal("xq"), literal("ee")},
		{"nothing fits", Window{Set{}, full}, literal("\x00\x01\x02\x03")},
	} {
		if rate(test.less) >= rate(test.more) {
			t.Errorf("%s: %g, %g", test.name, rate(test.less), rate(test.more))
		}
	}
	alone := rate(literal("ab"))
	for _, w := range []Window{append(Window{full}, literal("ab")...), append(literal("ab"), full)} {
		if r := rate(w); math.Abs(r/alone-1) > 0.01 {
			t.Errorf("a place for any byte tells something: %g, %g", alone, r)
		}
	}
	if r := rate(Window{}); r != 1 {
		t.Errorf("no place at all: %g", r)
	}
	if got, want := rate(literal(" ")), 0.123; math.Abs(got-want) > 0.001 {
		t.Errorf("a blank: %g, not %g", got, want)
	}
}

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		stretch string
		offset  int
		window  string
	}{
		{"", 0, ""},
		{"e", 0, "e"},
		{"the", 0, "the"},
		{"then", 0, "then"},
		{"eeeeeeee", 0, "eeee"}, // the first of equals
		{"eeeeeQze", 3, "eeQz"},
		{"the the Q", 5, "he Q"}, // the last one
		{"    <%#$", 4, "<%#$"},
	} {
		offset, window, rate := Choose(literal(test.stretch))
		least := Window.rate(literal(test.window))
		if !slices.Equal(window, literal(test.window)) || offset != test.offset || rate != least {
			t.Errorf("%q: %d, %x, %g", test.stretch, offset, window, rate)
		}
	}
}

func TestChooseAnyByte(t *testing.T) {
	stretch := slices.Concat(literal("ab"), Window{full, full, full, full}, literal("xq"))
	if offset, window, _ := Choose(stretch); offset != 4 || len(window) != Width {
		t.Errorf("%d, %x", offset, window)
	}
}
