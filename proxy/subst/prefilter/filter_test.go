package prefilter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRandomTexts(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		for range 600 {
			typical := rnd.IntN(2) == 0
			windows := randomWindows(rnd, 1+rnd.IntN(40), 1+rnd.IntN(Width), typical)
			join(windows, []int{slim, fat}[rnd.IntN(2)], kernel).compare(t, randomText(rnd, rnd.IntN(400), typical))
		}
	})
}

// Pieces of the text itself are what is looked for: hits are few, and so are
// texts without any.
func TestRandomLiterals(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		for range 1500 {
			text := randomText(rnd, 10+rnd.IntN(600), rnd.IntN(2) == 0)
			var windows []Window
			for range 1 + rnd.IntN(12) {
				at := rnd.IntN(len(text) - Width)
				w := literal(string(text[at : at+Width]))
				if rnd.IntN(2) == 0 {
					w[rnd.IntN(Width)] = randomSet(rnd, true)
				}
				windows = append(windows, w[:2+rnd.IntN(3)])
			}
			j := join(windows, []int{slim, fat}[rnd.IntN(2)], kernel)
			if len(windows) <= slim { // nothing is joined
				j.windows = windows
			}
			j.compare(t, text)
		}
	})
}

// A needle at all the places where blocks begin and end.
func TestBlockEdges(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		for _, s := range shapes() {
			f := s.finder(kernel)
			text := []byte(strings.Repeat(filler, 8300/2))
			for _, at := range []int{0, 1, 15, 16, 30, 31, 32, 33, 47, 48, 61, 62, 63, 64, 65, 66, 95, 96, 97, 126, 127, 128, 129, 191, 192, 193, 255, 256, 257, 4095, 4096, 8191, 8192, len(text) - len(s.needle)} {
				hay := bytes.Clone(text)
				copy(hay[at:], s.needle)
				for from := max(0, at-300); from <= at; from++ {
					if got := f.Next(hay, from).At; got != at {
						t.Fatalf("%s: from %d: %d, not %d", s.name, from, got, at)
					}
				}
				for end := at + len(s.needle); end < min(len(hay), at+140); end++ { // short of it, and just behind it
					if got := f.Next(hay[:end], 0).At; got != at {
						t.Fatalf("%s: in %d bytes: %d, not %d", s.name, end, got, at)
					}
					if got, want := f.Next(hay[:end], at+1).At, max(at+1, end-f.Width()+1); got != want {
						t.Fatalf("%s: from %d in %d bytes: %d, not %d", s.name, at+1, end, got, want)
					}
				}
			}
		}
	})
}

// A byte that differs from the needle's in its top bit only, at each place.
func TestTopBit(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		for _, s := range shapes() {
			f := s.finder(kernel)
			for k := range s.needle {
				for at := range 130 {
					text := []byte(strings.Repeat(filler, 80))
					copy(text[at:], s.needle)
					text[at+k] ^= 0x80
					if got, want := f.Next(text, 0).At, len(text)-f.Width()+1; got != want {
						t.Fatalf("%s: %d, not %d: %q", s.name, got, want, text[got:][:f.Width()])
					}
				}
			}
		}
	})
}

// Of many windows none is passed over, whatever the kernel.
func TestNothingPassedOver(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		for range 100 {
			windows := randomWindows(rnd, rnd.IntN(100), Width, true)
			for i := range windows { // most of them rare, so that there is something to pass over
				if len(windows[i]) < 3 {
					windows[i] = literal("needle")[:Width]
				}
			}
			text := randomText(rnd, 3000, true)
			f := NewFinder(stretches(windows), kernel)
			want := oracle(windows, f.Width(), text)
			for at := 0; at < len(text); at += 1 + rnd.IntN(5) {
				if got := f.Next(text, at).At; got != want[at] {
					t.Fatalf("from %d: %d, not %d, windows %x", at, got, want[at], windows)
				}
			}
		}
	})
}

func TestNoWindows(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		f := NewFinder(nil, kernel)
		if f.Rate() != 0 || f.PerLook() != 1 || f.Width() != 1 || f.Kernel() != kernel {
			t.Fatal(f.Rate(), f.PerLook(), f.Width(), f.Kernel())
		}
		j := joined{Finder: f}
		j.compare(t, bytes.Repeat([]byte{0, 'a', 0xff}, 70))
		j.compare(t, nil)
	})
}

func TestFullWindow(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		windows := []Window{{full}, literal("abcd")}
		f := NewFinder(stretches(windows), kernel)
		if f.Rate() != 1 || f.PerLook() != 2 || f.Width() != 4 {
			t.Fatal(f.Rate(), f.PerLook(), f.Width())
		}
		joined{f, buckets(windows), windows}.compare(t, []byte("abcdefgh"))
	})
}

func TestMisuse(t *testing.T) {
	panics := func(name string, call func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
		}()
		call()
	}
	for _, s := range []Stretch{{nil, 0, 0}, {literal("ab"), 2, 0}, {literal("ab"), -1, 0}, {literal("ab"), 0, -1}} {
		panics(fmt.Sprint(s), func() { NewFinder([]Stretch{s}, Plain) })
	}
	panics("no such kernel", func() { NewFinder(nil, VBMI+1) })
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		text := bytes.Repeat([]byte("a"), 100)
		panics("before the text", func() { NewFinder(stretches([]Window{literal("b")}), kernel).Next(text, -1) })
		panics("before the text", func() { NewStop(setOf("bc"), kernel).Next(text, -1) })
	})
}

func TestAuto(t *testing.T) {
	best := Plain
	for _, kernel := range []Kernel{AVX2, VBMI} {
		if Supported(kernel) {
			best = kernel
		}
	}
	if got := NewFinder(nil, Auto).Kernel(); got != best {
		t.Errorf("%v, not %v", got, best)
	}
	for kernel, name := range map[Kernel]string{Auto: "auto", Plain: "plain", AVX2: "AVX2", VBMI: "VBMI", 9: "Kernel(9)"} {
		if kernel.String() != name {
			t.Errorf("%v, not %s", kernel, name)
		}
	}
	if Supported(VBMI + 1) {
		t.Error("there is no such kernel")
	}
}

func TestStop(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		for range 1000 {
			set := randomSet(rnd, rnd.IntN(2) == 0)
			compareStop(t, set, kernel, randomText(rnd, rnd.IntN(300), rnd.IntN(2) == 0))
		}
		for c := range 256 { // each byte among all others
			text := make([]byte, 256)
			for i := range text {
				text[i] = byte(i)
			}
			rnd.Shuffle(len(text), func(i, j int) { text[i], text[j] = text[j], text[i] })
			compareStop(t, setOf(string([]byte{byte(c), byte(c) + 1})), kernel, text)
		}
	})
}

func compareStop(t *testing.T, set Set, kernel Kernel, text []byte) {
	t.Helper()
	s := NewStop(set, kernel)
	for from, want := range oracle([]Window{{set}}, 1, text) {
		if got := s.Next(text, from); got != want {
			t.Fatalf("%v: from %d of %d: %d, not %d\ntext %q\nset %x", kernel, from, len(text), got, want, text, set)
		}
	}
}

func TestAllocations(t *testing.T) {
	text := []byte(strings.Repeat("so it goes, on and on; ", 100))
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := rand.New(rand.NewPCG(1, 2))
		many := NewFinder(stretches(randomWindows(rnd, 200, Width, true)), kernel)
		one := NewFinder([]Stretch{{literal("and one"), 2, 0}}, kernel)
		stop := NewStop(setOf(".,;"), kernel)
		if n := testing.AllocsPerRun(10, func() {
			for from := 0; from < len(text); from += 7 {
				many.Next(text, from)
				one.Next(text[:from], 0)
				stop.Next(text, from)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
