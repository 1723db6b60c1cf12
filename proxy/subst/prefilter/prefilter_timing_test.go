package prefilter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// page is something like HTML: words of letters, the more frequent ones more
// often, and some markup.
func page(size int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "<div class=\"note-%d\">\n  <p>", rnd.IntN(100))
		for range 20 + rnd.IntN(60) {
			b.WriteString(word(rnd, 2+rnd.IntN(8)))
			b.WriteByte(' ')
		}
		b.WriteString("</p>\n</div>\n")
	}
	return b.Bytes()[:size]
}

// scan goes over a text and counts the hits, and the looks.
func scan(f *Finder, text []byte) (hits, looks int) {
	for from := 0; ; hits++ {
		hit := f.Next(text, from)
		looks += hit.Looks
		if hit.At+f.Width() > len(text) {
			return hits, looks
		}
		from = hit.At + 1
	}
}

// measure runs over a text again and again. Beside the mean it reports the
// best, which neighbours on the processor do not spoil, in GB/s and as a part of
// what bytes.IndexByte does in the same run when it finds nothing.
func measure(b *testing.B, text []byte, run func()) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	best, limit := time.Hour, time.Hour
	for b.Loop() {
		begin := time.Now()
		run()
		best = min(best, time.Since(begin))
	}
	for range 100 {
		begin := time.Now()
		if bytes.IndexByte(text, 0xff) >= 0 {
			b.Fatal("found")
		}
		limit = min(limit, time.Since(begin))
	}
	b.ReportMetric(float64(len(text))/float64(best), "best-GB/s")
	b.ReportMetric(float64(limit)/float64(best), "of-IndexByte")
}

func eachSupported(b *testing.B, bench func(b *testing.B, kernel Kernel)) {
	for _, kernel := range []Kernel{Plain, AVX2, VBMI} {
		b.Run(kernel.String(), func(b *testing.B) {
			if !Supported(kernel) {
				b.Skipf("this processor has no %v", kernel)
			}
			bench(b, kernel)
		})
	}
}

// absent are so many windows that a page does not have, of Width places.
func absent(count int) (windows []Window) {
	for i := range count {
		windows = append(windows, literal(fmt.Sprintf("#%c~|", 'A'+i)))
	}
	return windows
}

func BenchmarkNothing(b *testing.B) {
	text := page(4 << 20)
	for _, buckets := range []int{slim, fat} {
		b.Run(fmt.Sprintf("buckets=%d", buckets), func(b *testing.B) {
			eachSupported(b, func(b *testing.B, kernel Kernel) {
				f := join(absent(buckets), buckets, kernel).Finder
				measure(b, text, func() {
					if hits, _ := scan(f, text); hits != 0 {
						b.Fatal("found")
					}
				})
			})
		})
	}
}

// BenchmarkDense has a hit in every 100 bytes or so.
func BenchmarkDense(b *testing.B) {
	text := []byte(strings.Repeat("<p>and so on, it goes on and on, and nobody knows for how long; then there is a needle in it</p>\n", 40000))
	eachSupported(b, func(b *testing.B, kernel Kernel) {
		f := NewFinder([]Stretch{{Sets: literal("need")}}, kernel)
		measure(b, text, func() {
			if hits, _ := scan(f, text); hits != 40000 {
				b.Fatal("not all found")
			}
		})
	})
}

// BenchmarkShort is a call for a few bytes.
func BenchmarkShort(b *testing.B) {
	for _, size := range []int{8, 20, 40, 100} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			text := page(size)
			eachSupported(b, func(b *testing.B, kernel Kernel) {
				f := NewFinder(stretches(absent(3)), kernel)
				const calls = 1000
				best := time.Hour
				for b.Loop() {
					begin := time.Now()
					for range calls {
						if f.Next(text, 0).At != len(text)-f.Width()+1 {
							b.Fatal("found")
						}
					}
					best = min(best, time.Since(begin))
				}
				b.ReportMetric(float64(best)/calls, "best-ns/call")
			})
		})
	}
}

// BenchmarkStop goes on to the next markup, and over text without any.
func BenchmarkStop(b *testing.B) {
	text := page(4 << 20)
	for _, set := range []string{"<&", "\x01\xff"} {
		b.Run(fmt.Sprintf("%q", set), func(b *testing.B) {
			eachSupported(b, func(b *testing.B, kernel Kernel) {
				s := NewStop(setOf(set), kernel)
				measure(b, text, func() {
					for at := s.Next(text, 0); at < len(text); at = s.Next(text, at+1) {
					}
				})
			})
		})
	}
}

// word is letters of a page, the more frequent ones more often.
func word(rnd *rand.Rand, length int) string {
	b := make([]byte, length)
	for i := range b {
		b[i] = "etaoinsrhldcumfpgwybvkxjqz"[min(rnd.IntN(26), rnd.IntN(26))]
	}
	return string(b)
}

// words are stretches of so many words of 8 to 12 letters, a page's own kind.
func words(count int) (all []Stretch) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range count {
		s := Stretch{Sets: literal(word(rnd, 8+rnd.IntN(5)))}
		s.At, _, _ = Choose(s.Sets)
		s.Back = s.At
		all = append(all, s)
	}
	return all
}

// BenchmarkFinder looks for words that a page could have, and hardly has: what a
// set of rules costs where it has nothing to do.
func BenchmarkFinder(b *testing.B) {
	text := page(4 << 20)
	for _, count := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("words=%d", count), func(b *testing.B) {
			eachSupported(b, func(b *testing.B, kernel Kernel) {
				f := NewFinder(words(count), kernel)
				looks := 0
				measure(b, text, func() { _, looks = scan(f, text) })
				b.ReportMetric(float64(looks)/float64(len(text)), "looks/byte")
				b.ReportMetric(f.Rate(), "rate")
				b.ReportMetric(f.PerLook(), "stretches/look")
			})
		})
	}
}

// BenchmarkNewFinder is what a set of rules pays when it is compiled.
func BenchmarkNewFinder(b *testing.B) {
	for _, count := range []int{1, 10, 100, 1000, 10000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			all := words(count)
			b.ReportAllocs()
			for b.Loop() {
				NewFinder(all, Auto)
			}
		})
	}
}
