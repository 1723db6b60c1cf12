package body

import (
	"runtime/debug"
	"strings"
	"testing"

	"redoubt/proxy/subst"
)

func TestCounters(t *testing.T) {
	r := fill(t, Options{Hold: 8, Rules: []subst.Rule{
		{Find: "cat", Put: "dog", Flags: "gl"},
		{Find: "a[^z]*z", Put: "Z", Flags: "g"},
		{Find: "once", Put: "1"},
		{Find: "never", Put: ""},
	}})
	feed := func(s *Stream, pieces ...string) {
		for _, p := range pieces {
			s.FeedTo([]byte(p), func([]byte) {})
		}
	}
	s := r.All().Compile()
	feed(s, "cat c", "at ", "once once a")
	if r.Held() != 1 { // the a
		t.Errorf("%d bytes are held back", r.Held())
	}
	two := r.All().Compile() // another body meanwhile
	feed(two, "onc")
	if r.Held() != 4 {
		t.Errorf("%d bytes are held back in two bodies", r.Held())
	}
	if c := r.Counts(0); c != (Counts{}) || r.Bodies() != 0 {
		t.Errorf("before bodies end %+v is counted, of %d", c, r.Bodies())
	}
	feed(s, "xxxxxxxxxxxxxxxx", "az") // the first a comes to no end within 8 bytes
	s.FinishTo(func([]byte) {})
	if n := s.Close(); n != 4 {
		t.Errorf("%d matches were replaced", n)
	}
	if r.Held() != 3 {
		t.Errorf("%d bytes are held back when one has ended", r.Held())
	}
	two.Close() // in the middle
	if r.Held() != 0 || r.Bodies() != 2 {
		t.Errorf("%d bytes are held back when all have ended, %d bodies", r.Held(), r.Bodies())
	}
	// What was held was once a byte of a rule that may be any of those that were open.
	if c := r.Counts(0); c.Matches != 2 || c.GaveUp != 0 || c.Held != 1 {
		t.Errorf("cat: %+v", c)
	}
	if c := r.Counts(1); c.Matches != 1 || c.GaveUp < 1 {
		t.Errorf("a to z: %+v", c)
	}
	if c := r.Counts(2); c.Matches != 1 || c.Held != 3 {
		t.Errorf("once: %+v", c)
	}
	if c := r.Counts(3); c != (Counts{}) {
		t.Errorf("never: %+v", c)
	}
	// A subset counts for the rules that it is of.
	s = r.Subset([]uint64{1 << 2}).Compile()
	replace(s, "cat once")
	s.Close()
	if r.Counts(0).Matches != 2 || r.Counts(2).Matches != 2 || r.Bodies() != 3 {
		t.Errorf("with a subset: %+v, %+v, %d bodies", r.Counts(0), r.Counts(2), r.Bodies())
	}
	// Who has the stream next begins with nothing.
	s = r.All().Compile()
	if got := replace(s, "e once"); got != "e 1" || bits(s.Won(nil))[0] != 2 {
		t.Errorf("%q, and %v have won", got, bits(s.Won(nil)))
	}
	s.Close()
}

// A body takes no new memory, nor does the look at what is known of a file.
func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("what watches allocates")
	}
	r := fill(t, Options{Rules: words(70), Types: []string{"text/html"}, Share: 50})
	page := []byte(strings.Repeat("<p>w1 w22 w333 w69, and so on and so forth</p>\n", 200))
	size := 0
	emit := func(b []byte) { size += len(b) }
	var room [4]uint64
	m := NewMemory(100)
	kind, host, target, validator := []byte("text/html; charset=utf-8"), []byte("shop.example"), []byte("/a?b=c"), []byte(`"abc"`)
	client := someClients(2)[0]
	round := func() {
		if !r.Takes(kind) {
			t.Fatal("the type is not taken")
		}
		r.Covers(client)
		key := m.Key(r, host, target, 1, validator)
		sub := m.Get(key)
		if sub == nil {
			sub = r.All()
		}
		s := sub.Stream()
		if s == nil {
			s = sub.Compile()
		}
		for from := 0; from < len(page); from += 1000 {
			s.FeedTo(page[from:min(from+1000, len(page))], emit)
			s.Release()
		}
		s.FinishTo(emit)
		s.Release()
		m.Put(key, r.Subset(s.Won(room[:0])))
		s.Close()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it empties pools
	for range 20 {
		round()
	}
	if n := testing.AllocsPerRun(200, round); n > 0 {
		t.Errorf("%v allocations a body", n)
	}
	if size == 0 {
		t.Error("nothing came out")
	}
}

func TestWild(t *testing.T) {
	for _, c := range []struct {
		rules []subst.Rule
		want  bool
	}{
		{words(3), false},
		{[]subst.Rule{{Find: "a+", Put: "$&$&$&", Flags: "g"}}, false},
		{[]subst.Rule{{Find: "a long text", Put: strings.Repeat("x", 150), Flags: "gl"}}, false},
		{[]subst.Rule{{Find: "a", Put: strings.Repeat("x", 150), Flags: "gl"}}, true},
		{[]subst.Rule{{Find: "a*", Put: strings.Repeat("x", 150), Flags: "g"}}, true},
		{[]subst.Rule{{Find: "a+", Put: strings.Repeat("$&", 20), Flags: "g"}}, true},
		{words(300), true},
	} {
		r := new(Shelf).Fill(0, []Options{{Rules: c.rules}})[0]
		if s := r.All().Compile(); s.Wild() != c.want {
			t.Errorf("%.100v: %t", c.rules, s.Wild())
		}
	}
}
