package prefilter

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// around tells whether a stretch is around a place, as far as the text goes.
func around(s Stretch, text []byte, at int) bool {
	for k := range s.Sets {
		if p := at - s.At + k; p >= 0 && p < len(text) && !s.Sets[k].has(text[p]) {
			return false
		}
	}
	return true
}

func TestFinderIsExact(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		hits := 0
		for range 600 {
			text := randomText(rnd, 30+rnd.IntN(500), rnd.IntN(2) == 0)
			var stretches []Stretch
			for range 1 + rnd.IntN(40) { // of pieces of the text, some with a byte that is not there
				n := 1 + rnd.IntN(20)
				at := rnd.IntN(len(text) - n)
				s := Stretch{Sets: literal(string(text[at : at+n])), At: rnd.IntN(n), Back: rnd.IntN(30)}
				if rnd.IntN(2) == 0 {
					s.Sets[rnd.IntN(n)] = randomSet(rnd, true)
				}
				stretches = append(stretches, s)
			}
			f := NewFinder(stretches, kernel)
			want, back := len(text)-f.Width()+1, 0
			for from := len(text); from >= 0; from-- {
				if from+f.Width() <= len(text) {
					for _, s := range stretches {
						if !around(s, text, from) {
							continue
						}
						if want != from {
							want, back = from, s.Back
							hits++
						}
						back = max(back, s.Back)
					}
				}
				if got, b := f.Next(text, from); got != max(want, from) || b != back {
					t.Fatalf("from %d: %d, %d back, not %d, %d\ntext %q\nstretches %x", from, got, b, max(want, from), back, text, stretches)
				}
			}
		}
		if hits == 0 {
			t.Error("nothing was ever found")
		}
	})
}

// Beyond the text, anything may stand.
func TestFinderAtTheEdges(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		f := NewFinder([]Stretch{{literal("some needle here"), 5, 0}}, kernel)
		for _, text := range []string{"needle", "e needle h", "needle here", "some needle"} {
			if got, _ := f.Next([]byte(text), 0); got != strings.Index(text, "needle") {
				t.Errorf("%q: %d", text, got)
			}
		}
		for _, text := range []string{"x needle here", "some needle x"} {
			if got, _ := f.Next([]byte(text), 0); got != len(text)-f.Width()+1 {
				t.Errorf("%q: %d", text, got)
			}
		}
	})
}

func TestFinderMisuse(t *testing.T) {
	for _, s := range []Stretch{{nil, 0, 0}, {literal("ab"), 2, 0}, {literal("ab"), -1, 0}, {literal("ab"), 0, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", s)
				}
			}()
			NewFinder([]Stretch{s}, Plain)
		}()
	}
}

func TestFinderAllocatesNothing(t *testing.T) {
	text := bytes.Repeat([]byte("nothing here needles "), 100)
	f := NewFinder([]Stretch{{literal("a needle here"), 2, 0}}, Auto)
	if n := testing.AllocsPerRun(10, func() { f.Next(text, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte("a needle in here"), uint64(1))
	f.Add([]byte("\x80\xff\x00abc"), uint64(2))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var stretches []Stretch
		for range 1 + rnd.IntN(20) {
			w := randomWindows(rnd, 1, 8, true)[0]
			stretches = append(stretches, Stretch{w, rnd.IntN(len(w)), 0})
		}
		finder := NewFinder(stretches, Auto)
		for from := range text {
			at, _ := finder.Next(text, from)
			for i := from; i <= at && i+finder.Width() <= len(text); i++ {
				found := false
				for _, s := range stretches {
					found = found || around(s, text, i)
				}
				if found != (i == at) {
					t.Fatalf("from %d: %d, but at %d it is %v", from, at, i, found)
				}
			}
		}
	})
}
