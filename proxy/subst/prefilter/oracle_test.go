package prefilter

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachKernel runs a test with every kernel that this processor has.
func eachKernel(t *testing.T, test func(t *testing.T, kernel Kernel)) {
	for _, kernel := range []Kernel{Plain, AVX2, VBMI} {
		t.Run(kernel.String(), func(t *testing.T) {
			if !Supported(kernel) {
				t.Skipf("this processor has no %v", kernel)
			}
			test(t, kernel)
		})
	}
}

// random is a source for a test that names its seed if it fails.
func random(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 1))
}

// setOf is the set of some bytes.
func setOf(bytes string) (s Set) {
	for i := range len(bytes) {
		s[bytes[i]>>6] |= 1 << (bytes[i] & 63)
	}
	return s
}

// literal is the window, or the stretch, of a text.
func literal(text string) (w Window) {
	for i := range len(text) {
		w = append(w, setOf(text[i:i+1]))
	}
	return w
}

// stretches has windows alone.
func stretches(windows []Window) (all []Stretch) {
	for _, w := range windows {
		all = append(all, Stretch{Sets: w})
	}
	return all
}

// joined is a finder for windows joined until there are at most so many, and they
// are what it finds.
type joined struct {
	*Finder
	buckets []bucket
	windows []Window
}

func join(windows []Window, most int, kernel Kernel) (j joined) {
	var m merger
	width := 1
	for _, w := range windows {
		m.add(bucketOf(w))
		width = max(width, len(w))
	}
	m.reduce(most)
	j.buckets = m.open
	for i := range m.open {
		j.windows = append(j.windows, m.open[i].sets[:width])
	}
	j.Finder = newFinder(stretches(j.windows), m.open, kernel)
	return j
}

// oracle tells for each place what Next has to answer from there.
func oracle(windows []Window, width int, text []byte) []int {
	next := make([]int, len(text)+3)
	for i := len(next) - 1; i >= 0; i-- {
		next[i] = i
		if i+width <= len(text) && !begins(windows, text[i:]) {
			next[i] = next[i+1]
		}
	}
	return next
}

func begins(windows []Window, text []byte) bool {
	for _, w := range windows {
		all := true
		for k := range w {
			all = all && w[k].has(text[k])
		}
		if all {
			return true
		}
	}
	return false
}

// compare asks from every place of a text.
func (j joined) compare(t *testing.T, text []byte) {
	t.Helper()
	looks := make([]int, len(text)+1) // from each place to the end
	for i := len(text) - j.Width(); i >= 0; i-- {
		looks[i] = looks[i+1]
		if j.letsThrough(text, i) {
			looks[i]++
		}
	}
	for from, at := range oracle(j.windows, j.Width(), text) {
		want := Hit{At: at}
		if at+j.Width() <= len(text) {
			want.Looks = looks[from] - looks[at+1]
		} else if from < len(text) {
			want.Looks = looks[from]
		}
		if got := j.Next(text, from); got != want {
			t.Fatalf("%v, width %d, fat %v: from %d of %d: %v, not %v\ntext %q\nwindows %x",
				j.Kernel(), j.Width(), j.filter.fat, from, len(text), got, want, text, j.windows)
		}
	}
}

// letsThrough tells whether a kernel has to point at a place: where a bucket begins,
// VBMI whatever top bits are, AVX2 also where halves of bytes are mixed, and a pair
// where two bytes are.
func (j joined) letsThrough(text []byte, at int) bool {
	vector := j.Kernel() == VBMI || j.Kernel() == AVX2 && len(text)-j.Width()+1 >= 32
	if p := j.filter.pair; p != nil && vector {
		return text[at+p.at[0]]|p.either[0] == p.want[0] && text[at+p.at[1]]|p.either[1] == p.want[1]
	}
	halves, sevens := vector && j.Kernel() == AVX2, j.Kernel() == VBMI
	for i := range j.buckets {
		all := true
		for k := range j.Width() {
			set, c := &j.buckets[i].sets[k], text[at+k]
			low, high := false, false
			for half := range byte(16) {
				low = low || set.has(c&0xf|half<<4)
				high = high || set.has(c&0xf0|half)
			}
			all = all && (set.has(c) || halves && low && high || sevens && set.has(c^0x80))
		}
		if all {
			return true
		}
	}
	return false
}

// shape is windows that make one kind of finder. Nothing begins in text of
// fillers but the needle.
type shape struct {
	name    string
	windows []Window
	needle  string
}

const filler = ".\xfa"

// shapes has all kinds: of each width, slim and fat, with and without high bytes.
func shapes() (all []shape) {
	for width := 1; width <= Width; width++ {
		for _, count := range []int{1, 3, fat} {
			for _, base := range []byte{'A', 0x80} {
				s := shape{name: fmt.Sprintf("width=%d/buckets=%d/from=%x", width, count, base)}
				for i := range count {
					needle := []byte{base + byte(i), 'h', 'i', 'j'}[:width]
					s.windows, s.needle = append(s.windows, literal(string(needle))), string(needle)
				}
				all = append(all, s)
			}
		}
	}
	return all
}

func (s *shape) finder(kernel Kernel) joined { return join(s.windows, fat, kernel) }

// randomText takes bytes from typical text, or any.
func randomText(rnd *rand.Rand, length int, typical bool) []byte {
	text := make([]byte, length)
	for i := range text {
		text[i] = randomByte(rnd, typical)
	}
	return text
}

func randomByte(rnd *rand.Rand, typical bool) byte {
	if !typical {
		return byte(rnd.Uint32())
	}
	at := rnd.Uint32N(1e6)
	for c, n := range frequencies {
		if at < n {
			return byte(c)
		}
		at -= n
	}
	panic("the frequencies do not make a million")
}

// randomSet is mostly small, at times large, a range, full or empty.
func randomSet(rnd *rand.Rand, typical bool) (s Set) {
	add := func(c byte) { s[c>>6] |= 1 << (c & 63) }
	switch rnd.IntN(16) {
	case 0:
		return full
	case 1: // all but one
		add(byte(rnd.Uint32()))
		return Set{^s[0], ^s[1], ^s[2], ^s[3]}
	case 2:
		for c := rnd.IntN(256); c < 256 && rnd.IntN(30) > 0; c++ {
			add(byte(c))
		}
		return s
	case 3: // half of all below 0x80
		return Set{rnd.Uint64(), rnd.Uint64()}
	}
	for range 1 + rnd.IntN(3) {
		add(randomByte(rnd, typical))
	}
	return s
}

func randomWindows(rnd *rand.Rand, count, widest int, typical bool) (windows []Window) {
	for range count {
		var w Window
		for range 1 + rnd.IntN(widest) {
			w = append(w, randomSet(rnd, typical))
		}
		windows = append(windows, w)
	}
	return windows
}
