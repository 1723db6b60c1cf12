package subst

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"redoubt/proxy/subst/prefilter"
)

// eachKernel runs a test with every kernel that the processor has.
func eachKernel(t *testing.T, test func(t *testing.T, kernel prefilter.Kernel)) {
	for _, kernel := range []prefilter.Kernel{prefilter.Plain, prefilter.AVX2, prefilter.VBMI} {
		t.Run(kernel.String(), func(t *testing.T) {
			if !prefilter.Supported(kernel) {
				t.Skipf("this processor has no %v", kernel)
			}
			test(t, kernel)
		})
	}
}

// eachSupported are the kernels that the processor has.
var eachSupported = slices.DeleteFunc([]prefilter.Kernel{prefilter.Plain, prefilter.AVX2, prefilter.VBMI}, func(k prefilter.Kernel) bool { return !prefilter.Supported(k) })

// skippingPair compiles rules twice: so that all is looked at, and so that a
// kernel skips, whether that is worth it or not. The second is nil if nothing
// can be skipped.
func skippingPair(t testing.TB, rules []Rule, o Options, kernel prefilter.Kernel) (walking, skipping *Set) {
	t.Helper()
	o.Kernel = kernel
	var sets [2]*Set
	for i := range sets {
		var err error
		if sets[i], err = Compile(rules, o); err != nil {
			t.Fatal(rules, err)
		}
	}
	sets[0].skipper, sets[0].patience.loop = nil, never
	sets[1].patience.loop = 20
	if sets[1].skipper = sets[1].program.newSkipper(sets[1].program.signs(sets[1].rules), sets[1].options); sets[1].skipper == nil {
		return sets[0], nil
	}
	sets[1].skipper.loss = never
	return sets[0], sets[1]
}

// usualRules are of the kinds that bodies are rewritten with, found by what they
// begin with, by what is within, and by how they end.
var usualRules = []Rule{
	{`(https?:)?//(www\.)?origin\.example`, `$1//shop.example`, "gi"},
	{`cdn[0-9]+\.origin\.example`, "cdn.shop.example", "g"},
	{`<script[^>]*tracker[^>]*></script>`, "", "gi"},
	{`UA-[0-9]{4,9}-[0-9]{1,4}`, "UA-0-0", "g"},
	{`\bcolour\b`, "color", "g"},
	{`session_id=[0-9a-f]{8,32}`, "session_id=0", "g"},
	{`</head>`, `<!-- x --></head>`, ""},
	{`[0-9]{1,3}(\.[0-9]{1,3}){3}`, "0.0.0.0", "g"},
	{`data-src="([^"]*)"`, `src="$1"`, "g"},
	{`[A-Za-z0-9._%+-]+@example\.com`, "(mail)", "g"},
	{`[a-z]+ing`, "ING", "g"},
	{`(?m)^\s*//.*$`, "", "g"},
	{`☃+`, "snow", "g"},
	{`x[^\n]{0,50}zq`, "XZQ", "g"},
	{`[^\n]*foo`, "line", "g"},
	{`(?i)quick|jumps|zigzag`, "<$&>", "g"},
	{`\x00\x01[^\x00]*\xff`, "bin", "g"},
	{`["']\w+["']:`, "key:", "g"},
	{`qq\b|\bzz`, "Q", "g"},
	{`[\x{80}-\x{10ffff}]{2}!`, "!", "g"},
}

// usualText is about what such rules look for in: at most so many bytes apart
// pieces of what they match, whole and broken.
func usualText(rnd *rand.Rand, size, apart int, binary bool) []byte {
	parts := []string{
		"https://www.origin.example", "//origin.exampl", "HTTP://Origin.Example/", "cdn12.origin.example", "cdn.origin.example",
		`<script src="tracker.js"></script>`, "<script>", "UA-12345-1", "UA-12", "colour", "colours", "session_id=0123456789abcdef", "session_id=012",
		"</head>", "10.0.0.1", "1.2.3", `data-src="a"`, `data-src="`, "some.one@example.com", "@example.com", "@exam", "sing", "ing", " thing ", "\n  // comment",
		"☃☃", "\xe2\x98", "x zq", "x" + strings.Repeat("y", 50) + "zq", "x" + strings.Repeat("y", 49) + "zq", "foo", "\n", "quick", "JUMPS", "zigzag",
		"\x00\x01abc\xff", "\x00\x01", `"key":`, `'k`, "qq", "zz", "qqq zzz", "é€!", "é!",
	}
	const letters = "etaoin shrdlu.,<>=\"/\n0123456789-ETA"
	var b bytes.Buffer
	for b.Len() < size {
		for range rnd.IntN(apart) {
			if binary {
				b.WriteByte(byte(rnd.IntN(256)))
			} else {
				b.WriteByte(letters[rnd.IntN(len(letters))])
			}
		}
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	return b.Bytes()[:size]
}

// What is skipped makes no difference: long texts, some rules of many, any cuts.
func TestSkippingMakesNoDifference(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel prefilter.Kernel) {
		walked, steps := int64(0), int64(0)
		for round := range rounds(t, 150) {
			rnd := rand.New(rand.NewPCG(uint64(round), 31))
			var rules []Rule
			for _, i := range rnd.Perm(len(usualRules))[:1+rnd.IntN(len(usualRules))] {
				rules = append(rules, usualRules[i])
			}
			o := Options{Match: Match(rnd.IntN(2)), Hold: []int{0, 0, 20, 60, 300}[rnd.IntN(5)], Memory: []int{0, 0, 0, 20_000}[rnd.IntN(4)]}
			walking, skipping := skippingPair(t, rules, o, kernel)
			if skipping == nil {
				t.Fatalf("nothing to skip by: %q", rules)
			}
			text := usualText(rnd, 20_000, 1<<rnd.IntN(12), rnd.IntN(3) == 0)
			var got, want []byte
			w, s := walking.NewStream(), skipping.NewStream()
			most := []int{40, 300, 3000, 16 << 10}[rnd.IntN(4)]
			for at := 0; at < len(text); {
				piece := text[at:min(len(text), at+1+rnd.IntN(most))]
				at += len(piece)
				want = w.Feed(want, piece)
				got = s.Feed(got, bytes.Clone(piece))
				if w.Held() != s.Held() || !bytes.Equal(got, want) {
					t.Fatalf("round %d, %+v, %q: after %d bytes, %d in the last piece: %d held, want %d\ngot  %.200q\nwant %.200q",
						round, o, rules, at, len(piece), s.Held(), w.Held(), got[max(0, len(got)-100):], want[max(0, len(want)-100):])
				}
			}
			want, got = w.Finish(want), s.Finish(got)
			if !bytes.Equal(got, want) || fmt.Sprint(w.Stats().Matches) != fmt.Sprint(s.Stats().Matches) {
				t.Fatalf("round %d, %+v, %q: matches %v, want %v", round, o, rules, s.Stats().Matches, w.Stats().Matches)
			}
			walked, steps = walked+w.Stats().Steps, steps+s.Stats().Steps
		}
		t.Logf("%d steps, %d without skipping", steps, walked)
		if steps > walked*9/10 {
			t.Error("next to nothing was skipped")
		}
	})
}

// A match is found wherever it is: at the edges of what kernels look at at once,
// of pieces, and of texts.
func TestMatchAtEveryPlace(t *testing.T) {
	rules := []struct{ find, match string }{
		{"needle", "needle"},
		{"eeeeeeeeeeeeq", "eeeeeeeeeeeeq"}, // the rarest byte is the last
		{"[a-z]+@example", "name@example"},
		{"[a-z]+ing", "missing"},
		{`<[^>]*id="x[^>]*>`, `<p class="c" id="xyz">`},
		{"(?i)q|w{3}zz", "WWWZZ"},
		{"☃", "☃"},
	}
	eachKernel(t, func(t *testing.T, kernel prefilter.Kernel) {
		for _, r := range rules {
			_, set := skippingPair(t, []Rule{{r.find, "X", "g"}}, Options{}, kernel)
			places := []int{8191}
			for at := range 100 {
				places = append(places, at, 8192-20+at%40)
			}
			for _, size := range []int{8192, 1000} {
				s := set.NewStream()
				for _, at := range places {
					for _, behind := range []int{0, 1, 3, 70} {
						text := strings.Repeat(".", at) + r.match + strings.Repeat(".", behind)
						s.Reset()
						var out []byte
						for from := 0; from < len(text); from += size {
							out = s.Feed(out, []byte(text[from:min(from+size, len(text))]))
						}
						out = s.Finish(out)
						if want := strings.Repeat(".", at) + "X" + strings.Repeat(".", behind); string(out) != want {
							t.Fatalf("%s at %d with %d behind it, in pieces of %d: %d bytes out, want %d", r.find, at, behind, size, len(out), len(want))
						}
					}
				}
			}
		}
	})
}

// Where it does not pay, it is left alone: for a while, or from the beginning.
func TestSkippingGivesUp(t *testing.T) {
	set, err := Compile([]Rule{{"qq[a-z]?", "", "g"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	feed := func(text string) float64 {
		s := set.NewStream()
		s.FeedTo([]byte(text), func([]byte) {})
		return float64(s.Stats().Steps) / float64(len(text))
	}
	if steps := feed(strings.Repeat("qqq ", 10_000)); steps < 0.9 {
		t.Errorf("signs everywhere: %.2f steps a byte", steps)
	}
	if steps := feed(strings.Repeat("qqq ", 10_000) + strings.Repeat("some text ", 100_000)); steps > 0.2 {
		t.Errorf("... and then none: %.2f steps a byte", steps)
	}
}

// What leads back to the beginning of a match is not gone over for each sign
// anew, also if they come in droves; and at the limit it is as without skipping.
func TestLookingBackIsLinear(t *testing.T) {
	set, err := Compile([]Rule{{"[a-z]+@ex", "", "g"}, {"@@", "", "g"}}, Options{})
	if err != nil || set.skipper == nil {
		t.Fatal(err, set.skipper)
	}
	for _, text := range []string{strings.Repeat("a", 1<<16), strings.Repeat("aaaa@e", 1<<14), strings.Repeat(strings.Repeat("a", 1000)+"@e", 100)} {
		s := set.NewStream()
		for from := 0; from < len(text); from += 100 {
			s.FeedTo([]byte(text[from:min(from+100, len(text))]), func([]byte) {})
		}
		if steps := float64(s.Stats().Steps) / float64(len(text)); steps > 12 {
			t.Errorf("%.20q: %.2f steps a byte", text, steps)
		}
	}
}

// In a long match that only few bytes can end, the others are skipped.
func TestLoopsAreSkipped(t *testing.T) {
	tests := []struct {
		find, text, want string
	}{
		{"<!--[^>]*>", "<!--" + strings.Repeat("a", 100_000) + "> ", "X "},
		{"(?s)<!--.*?-->", "<!--" + strings.Repeat("a", 100_000) + "--> ", "X "},
		{"q[a-y]*", "q" + strings.Repeat("b", 100_000) + " ", "X "},
		{"q[a-y]*z", "q" + strings.Repeat("b", 100_000) + "z ", "X "},
	}
	eachKernel(t, func(t *testing.T, kernel prefilter.Kernel) {
		for _, test := range tests {
			set, err := Compile([]Rule{{test.find, "X", "g"}}, Options{Match: First, Hold: 1 << 20, Kernel: kernel})
			if err != nil {
				t.Fatal(err)
			}
			s := set.NewStream()
			var out []byte
			for range 3 {
				s.Reset()
				out = out[:0]
				for at := 0; at < len(test.text); at += 16 << 10 {
					out = s.Feed(out, []byte(test.text[at:min(at+16<<10, len(test.text))]))
				}
				out = s.Finish(out)
			}
			if string(out) != test.want {
				t.Errorf("%s: %.100q, want %q", test.find, out, test.want)
			}
			if steps := float64(s.Stats().Steps) / float64(len(test.text)); steps > 0.1 {
				t.Errorf("%s: %.2f steps a byte", test.find, steps)
			}
		}
	})
}

// What finds the end of a loop counts as memory of the cache, and where there is
// none left every byte is looked at.
func TestLoopsKeepTheCacheInItsLimit(t *testing.T) {
	text := []byte("<!--" + strings.Repeat("a", 100_000) + "> ")
	for _, memory := range []int{1, 1 << 20} {
		set, err := Compile([]Rule{{"<!--[^>]*>", "X", "g"}}, Options{Hold: 1 << 20, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		s := set.NewStream()
		for range 3 {
			s.Reset()
			if out := s.Finish(s.Feed(nil, text)); string(out) != "X " {
				t.Fatalf("memory %d: %.100q", memory, out)
			}
		}
		skipped := s.Stats().Steps < int64(len(text)/10)
		if room := memory > 1; skipped != room {
			t.Errorf("memory %d: %d steps", memory, s.Stats().Steps)
		}
	}
}

func TestKernelThatIsNotThere(t *testing.T) {
	for _, rules := range [][]Rule{{{"needle", "", "g"}}, {{"x*", "", "g"}}} {
		if _, err := Compile(rules, Options{Kernel: 9}); err == nil || !strings.Contains(err.Error(), "Kernel(9)") {
			t.Errorf("%v: %v", rules, err)
		}
	}
}
