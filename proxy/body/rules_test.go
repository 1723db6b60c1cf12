package body

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"redoubt/proxy/subst"
)

// fill puts one set of rules on a shelf of its own.
func fill(t testing.TB, o Options) *Rules {
	t.Helper()
	return new(Shelf).Fill(64<<20, []Options{o})[0]
}

// words are rules that put w3! for w3, and so on.
func words(n int) (rules []subst.Rule) {
	for i := range n {
		rules = append(rules, subst.Rule{Find: fmt.Sprintf(`\bw%d\b`, i), Put: "$&!", Flags: "g"})
	}
	return rules
}

// replace is what a stream makes of a body that comes in pieces.
func replace(s *Stream, pieces ...string) string {
	var out []byte
	emit := func(b []byte) { out = append(out, b...) }
	for _, p := range pieces {
		s.FeedTo([]byte(p), emit)
	}
	s.FinishTo(emit)
	return string(out)
}

// someClients are n addresses, half of each kind.
func someClients(n int) (list []netip.Addr) {
	for i := range n / 2 {
		four := [4]byte{byte(10 + i>>16), byte(i >> 8), byte(i), 7}
		six := [16]byte{0x20, 1, 0xd, 0xb8, 15: byte(i), 14: byte(i >> 8)}
		list = append(list, netip.AddrFrom4(four), netip.AddrFrom16(six))
	}
	return list
}

func TestShareOfClients(t *testing.T) {
	clients := someClients(10_000)
	covered := make(map[netip.Addr]bool) // by the share before
	for _, share := range []float64{0, 0.01, 1, 5, 25, 50, 75, 99, 99.99, 100} {
		list := new(Shelf).Fill(64<<20, []Options{{Share: share}, {Share: share, Rules: words(2), Hold: 9}})
		r, again := list[0], list[1]
		n := 0
		for _, c := range clients {
			is := r.Covers(c)
			switch {
			case is != again.Covers(c):
				t.Fatalf("%v of %v: not the same for another route", share, c)
			case covered[c] && !is:
				t.Fatalf("%v is covered by a smaller share than %v", c, share)
			case is:
				covered[c] = true
				n++
			}
		}
		// Of ten thousand, the counts lie within 50 of the mean two times in three.
		if want := int(share * 100); n < want-200 || n > want+200 {
			t.Errorf("a share of %v covers %d of 10,000", share, n)
		}
		if share == 0 && n != 0 || share == 100 && n != len(clients) {
			t.Errorf("a share of %v covers %d of 10,000", share, n)
		}
	}
	// Neighbours are not in it, or out of it, together.
	r, changes, last := fill(t, Options{Share: 50}), 0, false
	for i := range 256 {
		if is := r.Covers(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})); is != last {
			changes, last = changes+1, is
		}
	}
	if changes < 64 {
		t.Errorf("among neighbours it changes %d times in 256", changes)
	}
	one, mapped := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1")
	if r.Covers(one) != r.Covers(mapped) {
		t.Error("an address is another where it is written as one of IPv6")
	}
}

// What has won in a body makes a subset, whose streams say so in terms of all rules.
func TestSubsets(t *testing.T) {
	for _, count := range []int{1, 3, 63, 64, 65, 70, 128, 300} {
		r := fill(t, Options{Rules: words(count)})
		rnd := rand.New(rand.NewPCG(uint64(count), 1))
		for range 8 {
			present := rnd.Perm(count)[:rnd.IntN(min(count, 9)+1)]
			slices.Sort(present)
			var text strings.Builder
			for _, n := range present {
				fmt.Fprintf(&text, "w%d ", n)
			}
			all := r.All().Compile()
			want := replace(all, text.String())
			won := all.Won(nil)
			all.Close()
			if len(won) != (count+63)/64 || !slices.Equal(bits(won), present) {
				t.Fatalf("of %d rules %v have won, it says %v", count, present, bits(won))
			}
			sub := r.Subset(won)
			if sub.Empty() != (len(present) == 0) || sub.Rules() != r {
				t.Fatalf("the subset of %v is empty: %v", present, sub.Empty())
			}
			if (sub == r.All()) != (len(present) == count) || r.Subset(won) != sub {
				t.Fatalf("the subset of %v is another each time, or all", present)
			}
			s := sub.Compile()
			if got := replace(s, text.String()); got != want || strings.Count(got, "!") != len(present) {
				t.Errorf("%q becomes %q by the subset, %q by all", &text, got, want)
			}
			prefix := []uint64{7} // it appends
			if again := s.Won(prefix); again[0] != 7 || !slices.Equal(again[1:], won) {
				t.Errorf("of %v it says that %v have won", present, bits(again[1:]))
			}
			s.Close()
			// Others do not count any more.
			s = sub.Compile()
			var others strings.Builder
			for n := range count {
				if !slices.Contains(present, n) {
					fmt.Fprintf(&others, "w%d ", n)
				}
			}
			if got := replace(s, others.String()); got != others.String() {
				t.Errorf("%q becomes %q by the subset of %v", &others, got, present)
			}
			s.Close()
		}
	}
}

// bits are the numbers of those that are set.
func bits(words []uint64) []int {
	list := []int{}
	for i := range 64 * len(words) {
		if words[i/64]>>(i%64)&1 != 0 {
			list = append(list, i)
		}
	}
	return list
}

// Nothing is different without rules that have won nothing, however rules are in
// each other's way.
func TestSubsetsMakeNoDifference(t *testing.T) {
	finds := []string{"a", "ab", "b+", "ab?c", "(?:)", "a?", `\B`, `\b`, "c", "^a", "b$", "[ab]{2}", "a[^c]*c"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		o := Options{Hold: 1 + rnd.IntN(9), Match: subst.Match(rnd.IntN(2))}
		for i := range 1 + rnd.IntN(4) {
			o.Rules = append(o.Rules, subst.Rule{Find: finds[rnd.IntN(len(finds))], Put: fmt.Sprintf("<%d>", i), Flags: []string{"g", ""}[rnd.IntN(2)]})
		}
		r := fill(t, o)
		set, err := subst.Compile(o.Rules, subst.Options{Match: o.Match, Hold: o.Hold})
		if err != nil {
			t.Fatal(err)
		}
		stream := set.NewStream()
		for range 5 {
			text := make([]byte, rnd.IntN(14))
			for i := range text {
				text[i] = "aabbc "[rnd.IntN(6)]
			}
			cut := rnd.IntN(len(text) + 1)
			all := r.All().Compile()
			want := replace(all, string(text[:cut]), string(text[cut:]))
			if offline := string(stream.Finish(stream.Feed(nil, text))); offline != want {
				t.Errorf("%+v on %q: %q, and subst alone makes %q", o, text, want, offline)
			}
			stream.Reset()
			if sub := r.Subset(all.Won(nil)); sub != nil {
				s := sub.Compile()
				if got := replace(s, string(text)); got != want {
					t.Errorf("%v on %q: %q by all, %q by those that have won (%v)", o.Rules, text, want, got, bits(all.Won(nil)))
				}
				s.Close()
			}
			all.Close()
		}
	}
}

// There is an end to subsets; those that there are stay, and so do all rules.
func TestSubsetsAreBounded(t *testing.T) {
	r := fill(t, Options{Rules: words(20)})
	made := make(map[uint64]*Subset)
	for n := range uint64(1000) {
		if s := r.Subset([]uint64{n}); s != nil {
			made[n] = s
		}
	}
	if len(made) == 0 || len(made) > mostSubsets {
		t.Errorf("there are %d subsets", len(made))
	}
	for n, s := range made {
		if r.Subset([]uint64{n}) != s {
			t.Errorf("%b is another now", n)
		}
	}
	if s := r.Subset([]uint64{1<<20 - 1}); s != nil && s != r.All() {
		t.Error("the subset of all is not that of all")
	}
}
