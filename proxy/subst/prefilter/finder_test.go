package prefilter

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// isAround tells whether a stretch is around a place, as far as the text goes.
func isAround(s Stretch, text []byte, at int) bool {
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
		for round := range 600 {
			most := 40
			if round%20 == 0 { // so many that there are lists in most buckets
				most = 600
			}
			text := randomText(rnd, 30+rnd.IntN(500), rnd.IntN(2) == 0)
			compareFinder(t, piecesOf(rnd, text, 1+rnd.IntN(most)), kernel, text)
		}
	})
}

// piecesOf is stretches of pieces of a text, half of them with another set.
func piecesOf(rnd *rand.Rand, text []byte, count int) (all []Stretch) {
	for range count {
		n := 1 + rnd.IntN(20)
		at := rnd.IntN(len(text) - n)
		s := Stretch{Sets: literal(string(text[at : at+n])), At: rnd.IntN(n), Back: rnd.IntN(30)}
		if rnd.IntN(2) == 0 {
			s.Sets[rnd.IntN(n)] = randomSet(rnd, true)
		}
		all = append(all, s)
	}
	return all
}

// compareFinder asks from every place of a text.
func compareFinder(t *testing.T, stretches []Stretch, kernel Kernel, text []byte) {
	t.Helper()
	f := NewFinder(stretches, kernel)
	at, back := len(text)-f.Width()+1, 0 // the next place
	for from := len(text); from >= 0; from-- {
		if from+f.Width() <= len(text) {
			for _, s := range stretches {
				if !isAround(s, text, from) {
					continue
				}
				if at != from {
					at, back = from, 0
				}
				back = max(back, s.Back)
			}
		}
		if got := f.Next(text, from); got.At != max(at, from) || got.Back != back {
			t.Fatalf("from %d: %v, not %d, %d back\ntext %q\nstretches %x", from, got, max(at, from), back, text, stretches)
		}
	}
}

// Ever more words in few buckets, each of which is found where it stands.
func TestManyWords(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		rnd := random(t)
		for _, count := range []int{few, fat * few, fat*few + 1, 2000} {
			var all []Stretch
			var places []int
			var text []byte
			for i := range count {
				word := randomText(rnd, 6+rnd.IntN(6), true)
				all = append(all, Stretch{literal(string(word)), rnd.IntN(3), i})
				places = append(places, len(text)+all[i].At)
				text = append(append(text, word...), " . "...)
			}
			mixed := slices.Clone(all)
			rnd.Shuffle(count, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			f := NewFinder(mixed, kernel)
			for i, place := range places {
				hit := f.Next(text, place)
				if hit.At != place || hit.Back < i || !isAround(all[hit.Back], text, place) {
					t.Fatalf("%d words: %q at %d: %v", count, text[place:][:Width], place, hit)
				}
			}
		}
	})
}

// Beyond the text, anything may stand.
func TestFinderAtTheEdges(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		f := NewFinder([]Stretch{{literal("some needle here"), 5, 0}}, kernel)
		for _, text := range []string{"needle", "e needle h", "needle here", "some needle"} {
			if got := f.Next([]byte(text), 0).At; got != strings.Index(text, "needle") {
				t.Errorf("%q: %d", text, got)
			}
		}
		for _, text := range []string{"x needle here", "some needle x"} {
			if got := f.Next([]byte(text), 0).At; got != len(text)-f.Width()+1 {
				t.Errorf("%q: %d", text, got)
			}
		}
	})
}

// What is more than 64 places away does not count.
func TestFarPlaces(t *testing.T) {
	const window = 100
	text := bytes.Repeat([]byte("-"), 300)
	copy(text[window:], "need")
	sets := literal(string(text[:200]))
	line := slices.Clone(sets)
	line[window+8] = setOf("-+") // not a literal
	for _, stretch := range [][]Set{sets, line} {
		f := NewFinder([]Stretch{{stretch, window, 0}}, Plain)
		for i := range text {
			if i >= window && i < window+Width {
				continue
			}
			other := bytes.Clone(text)
			other[i] = '!'
			matters := i >= window-64 && i < window+Width+64
			if found := f.Next(other, 0).At == window; found == matters {
				t.Errorf("a byte at %d: found %v", i-window, found)
			}
		}
	}
}

// The caller may go on to use what it gave.
func TestFinderCopies(t *testing.T) {
	for _, text := range []string{"a needle", "another.one"} {
		sets := literal(text)
		sets[1].join(&Set{1})
		f := NewFinder([]Stretch{{sets, 2, 3}}, Auto)
		clear(sets)
		if hit := f.Next([]byte(text), 0); hit.At != 2 || hit.Back != 3 {
			t.Errorf("%q: %v", text, hit)
		}
	}
}

// Stretches that differ most at one place of the window are listed by it.
func TestLists(t *testing.T) {
	var all []known
	add := func(sets []Set, back int) { all = append(all, knownOf(&Stretch{sets, 1, back})) }
	for i := range 20 {
		add(literal("<a"+string(rune('a'+i/10))+string(rune('A'+i))+"z>"), i)
	}
	add([]Set{setOf("<"), setOf("a"), setOf("b"), setOf("CD"), setOf("z")}, 7)
	add(literal("<a"), 100) // any byte may follow
	g := groupOf(all, Width)
	if g.place != 2 {
		t.Errorf("place %d", g.place)
	}
	for c, want := range map[byte][]int{'A': {100, 0}, 'C': {100, 7, 2}, 'D': {100, 7, 3}, 'T': {100, 19}, '?': {100}, 0: {100}, 255: {100}} {
		var backs []int
		for _, e := range g.list(uint32(c) << (8 * g.place)) {
			backs = append(backs, g.all[e.stretch].back)
		}
		if !slices.Equal(backs, want) {
			t.Errorf("%q: %v, not %v", c, backs, want)
		}
	}
	if g := groupOf(all[:few], Width); len(g.list('?')) != few {
		t.Errorf("%d of %d in one list", len(g.list('?')), few)
	}
}

// PerLook and Rate are near what is counted.
func TestEstimates(t *testing.T) {
	text := page(1 << 20)
	for _, count := range []int{1, 10, 100, 1000} {
		f := NewFinder(words(count), Plain)
		looks, over := 0, 0
		for at := range len(text) - Width + 1 {
			in, window := ^uint16(0), binary.LittleEndian.Uint32(text[at:])
			for k := range Width {
				in &= f.in[k][text[at+k]]
			}
			if in != 0 {
				looks++
			}
			for ; in != 0; in &= in - 1 {
				g := f.groups[bits.TrailingZeros16(in)]
				over += len(g.list(window))
			}
		}
		if _, counted := scan(f, text); counted != looks {
			t.Errorf("%d words: %d looks, not %d", count, counted, looks)
		}
		perLook, rate := float64(over)/float64(looks), float64(looks)/float64(len(text))
		t.Logf("%d words: a look goes over %.2f, estimated %.2f; there are %.5f a byte, estimated %.5f", count, perLook, f.PerLook(), rate, f.Rate())
		if ratio := f.PerLook() / perLook; ratio < 1.0/3 || ratio > 3 {
			t.Errorf("%d words: a look goes over %g, estimated %g", count, perLook, f.PerLook())
		}
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
			at := finder.Next(text, from).At
			for i := from; i <= at && i+finder.Width() <= len(text); i++ {
				found := false
				for _, s := range stretches {
					found = found || isAround(s, text, i)
				}
				if found != (i == at) {
					t.Fatalf("from %d: %d, but at %d it is %v", from, at, i, found)
				}
			}
		}
	})
}
