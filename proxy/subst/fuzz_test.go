package subst

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// FuzzReplace makes rules of a seed, or takes one as it is written, and replaces
// in a text that is cut by bits: against the reference.
func FuzzReplace(f *testing.F) {
	f.Add(uint64(1), "", "", "aab\nab ☃", []byte{0x55}, uint8(0))
	f.Add(uint64(2), "(a.+?c){2}", "X", "ABCabcABC\nABCabcABC\n", []byte{0, 4}, uint8(1))
	f.Add(uint64(3), "^\\s*", "", "any gosh darn string", []byte{1}, uint8(0))
	f.Add(uint64(4), `(\bx|)(x?foo)`, "[$1|$2]", "axfoo xfoo", []byte{0xff, 0xff}, uint8(2))
	f.Add(uint64(5), "a[^z]*z", "<$&>", "abazabaz", []byte{0x0f}, uint8(3<<2))
	f.Add(uint64(6), "x*", "-", "\xe2\x98\x83\x98\xff☃", []byte{0xff}, uint8(0))
	f.Add(uint64(7), `.{2,9}\b`, "($0)", "aaa aaaa aaaaaaaa\xc3", []byte{0xaa, 0x55, 0xaa}, uint8(9<<2|3))
	// Marks of two searches at one place, in a simulation.
	f.Add(uint64(8), "a[^c]*c|a.*b.*c", "x", "aaac aaac aaac aaac aaac aaac aaac aaac  bb aababbaabcbb bbbaaababbbaa ab   aa aaac aaac aaac", []byte{0}, uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, find, put, text string, bits []byte, how uint8) {
		if len(text) > 400 || len(find) > 60 {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, 16))
		c := &streamCase{seed: seed, text: text, o: Options{Match: Match(how & 1), Memory: int(1 - how>>1&1), Hold: int(how >> 2)}}
		c.rules = randomRules(rnd, streamAtoms, 5)
		if find != "" {
			c.rules[rnd.IntN(len(c.rules))] = Rule{find, put, "g"}
		}
		set, err := c.compile()
		if err != nil {
			if find == "" {
				t.Fatal(c, err)
			}
			return
		}
		if len(set.program.nodes) > 2000 { // the reference is slow
			return
		}
		var cuts []int
		for at := range len(text) {
			if n := len(bits); n > 0 && bits[at/8%n]>>(at%8)&1 != 0 {
				cuts = append(cuts, at)
			}
		}
		c.check(t, set, nil, cuts)
	})
}

// FuzzCompile compiles whatever is written: rules or an error that names one of
// them, never a panic, and what compiles can be used.
func FuzzCompile(f *testing.F) {
	f.Add("(a|b)*c", "$1", "gi")
	f.Add("a{1000}", "${2}", "")
	f.Add(`\pL[^\x{80}-\x{10ffff}]`, "$$", "g")
	f.Add("(?<=a)b", "", "x")
	f.Add("((a{1,10}){1,10}){1,10}", "$&", "gl")
	f.Add("[[:alpha:]", "$", "ii")
	f.Add("\xff", "\xff", "\xff")
	f.Fuzz(func(t *testing.T, find, put, flags string) {
		rules := []Rule{{"a", "b", ""}, {find, put, flags}}
		set, err := Compile(rules, Options{})
		if err != nil {
			e, ok := errors.AsType[*RuleError](err)
			if !ok || e.Rule != 1 || e.Reason == "" {
				t.Fatalf("%q: %#v, want a *RuleError about rule 1", rules, err)
			}
			size := map[string]int{"find": len(find), "put": len(put), "flags": len(flags)}
			if most, known := size[e.Part]; !known || e.Offset < -1 || e.Offset > most {
				t.Fatalf("%q: %+v lies outside", rules, e)
			}
			return
		}
		if n := len(set.Info().Rules); n != 2 {
			t.Fatalf("%q: information on %d rules", rules, n)
		}
		text := find + "a" + put
		s := set.NewStream()
		s.Finish(s.Feed(nil, []byte(text)))
		if held := s.Held(); held != 0 {
			t.Fatalf("%q: %d bytes held after the end", rules, held)
		}
	})
}
