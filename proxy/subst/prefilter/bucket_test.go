package prefilter

import (
	"fmt"
	"testing"
)

func TestBucketsCover(t *testing.T) {
	rnd := random(t)
	for range 100 {
		windows := randomWindows(rnd, rnd.IntN(200), Width, true)
		made := buckets(windows)
		if len(made) > fat {
			t.Fatalf("%d buckets", len(made))
		}
		for _, w := range windows {
			b, covered := bucketOf(w), false
			for i := range made {
				covered = covered || made[i].covers(&b)
			}
			if !covered {
				t.Fatalf("no bucket has %x", w)
			}
		}
	}
}

// Windows of three kinds: joining within a kind costs little.
func TestAlikeAreJoined(t *testing.T) {
	var m merger
	for i := range 5 {
		for _, kind := range []string{"site%d", "%d.gif", "Q=%d&"} {
			m.add(bucketOf(literal(fmt.Sprintf(kind, i))[:Width]))
		}
	}
	m.reduce(3)
	want := map[string]bool{
		fmt.Sprint(bucketOf(Window{setOf("s"), setOf("i"), setOf("t"), setOf("e")}).sets):     true,
		fmt.Sprint(bucketOf(Window{setOf("01234"), setOf("."), setOf("g"), setOf("i")}).sets): true,
		fmt.Sprint(bucketOf(Window{setOf("Q"), setOf("="), setOf("01234"), setOf("&")}).sets): true,
	}
	for i := range m.open {
		delete(want, fmt.Sprint(m.open[i].sets))
	}
	if len(want) > 0 {
		t.Errorf("missing %v in %v", want, m.open)
	}
}

// Sixteen buckets are taken where eight would let much more through.
func TestFatWherePays(t *testing.T) {
	var rare, common []Window
	for i := range 16 {
		rare = append(rare, literal("QZ~"+string(rune('a'+i))))
		common = append(common, literal(string([]byte{"etaoinsrhldcumfp"[i], "xqjzvkwQXZJKVWYU"[i]})))
	}
	if n := len(buckets(rare)); n > slim {
		t.Errorf("%d buckets for rare windows", n)
	}
	if n := len(buckets(common)); n <= slim {
		t.Errorf("%d buckets for common ones", n)
	}
}

// What is in another window costs no bucket.
func TestSameWindow(t *testing.T) {
	one := NewFinder(stretches([]Window{{setOf("Aa"), setOf("Bb")}}), Plain)
	two := NewFinder(stretches([]Window{{setOf("Aa"), setOf("Bb")}, literal("abcd"), literal("AB")}), Plain)
	if one.Rate() != two.Rate() || one.Rate() == 0 {
		t.Errorf("%g, %g", one.Rate(), two.Rate())
	}
}
