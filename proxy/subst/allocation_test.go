package subst

import (
	"strings"
	"testing"
)

// Once what a text needs is there, a stream allocates nothing.
func TestNoAllocationOnceWarm(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget under the race detector")
	}
	html := strings.Repeat(`<p><a href="https://www.example.com/index">a link</a> and key3="value" or not </p>`, 200)
	open := strings.Repeat("a", 8000)
	tests := []struct {
		why   string
		rules []Rule
		o     Options
		text  string
	}{
		{"nothing to find", []Rule{{"will-be-replaced", "X", "g"}}, Options{}, html},
		{"a literal", []Rule{{"example", "X", "g"}}, Options{}, html},
		{"many rules", manyRules(30), Options{}, html},
		{"groups", []Rule{{`(\w+)="([^"]*)"`, "$2=$1", "g"}, {`<(/?)a\b`, "<${1}b", "g"}}, Options{}, html},
		{"groups, first", []Rule{{`(\w+)="(.*?)"`, "$2=$1", "g"}, {`<(/?)a\b`, "<${1}b", "g"}}, Options{Match: First}, html},
		{"empty matches", []Rule{{`\b`, "|", "g"}, {"x*", "-", "g"}}, Options{}, html},
		{"a long hold that ends well", []Rule{{"a[^<]*<", "", "g"}}, Options{}, open + "<" + open + "<"},
		{"a long hold given up", []Rule{{"a[^<]*<", "", "g"}}, Options{Hold: 1000}, open + open},
		{"a match after each that fails", []Rule{{"a", "b", "g"}, {"a[^<]*<", "", "g"}}, Options{}, open + open},
	}
	for _, test := range tests {
		set, err := Compile(test.rules, test.o)
		if err != nil {
			t.Fatal(err)
		}
		text := []byte(test.text)
		for _, size := range []int{len(text), 1000, 7} {
			s := set.NewStream()
			out := make([]byte, 0, 3*len(text)+100)
			emitted := 0
			emit := func(piece []byte) { emitted += len(piece) }
			appending := func() {
				s.Reset()
				out = out[:0]
				for at := 0; at < len(text); at += size {
					out = s.Feed(out, text[at:min(at+size, len(text))])
				}
				out = s.Finish(out)
			}
			emitting := func() {
				s.Reset()
				for at := 0; at < len(text); at += size {
					s.FeedTo(text[at:min(at+size, len(text))], emit)
				}
				s.FinishTo(emit)
			}
			for range 10 { // both buffers, marks, the cache
				appending()
				emitting()
			}
			if s.search.text.end != len(text) || emitted > 0 && len(out) == 0 {
				t.Fatalf("%s: nothing was fed", test.why)
			}
			if n := testing.AllocsPerRun(5, appending); n > 0 {
				t.Errorf("%s, pieces of %d: Feed allocates %v times", test.why, size, n)
			}
			if n := testing.AllocsPerRun(5, emitting); n > 0 {
				t.Errorf("%s, pieces of %d: FeedTo allocates %v times", test.why, size, n)
			}
		}
	}
}
