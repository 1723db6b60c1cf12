package subst

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// Many streams find out about one Set's rules at once, in caches that are full
// all the time and in one that is not.
func TestStreamsShareASet(t *testing.T) {
	const streams, texts = 8, 6
	for round := range rounds(t, 80) {
		rnd := rand.New(rand.NewPCG(uint64(round), 15))
		c := newStreamCase(4e6+uint64(round), 6, 0)
		if round%4 == 0 {
			c.rules = append(c.rules, Rule{"[ab].{1,12}c", "<$&>", "g"})
		}
		if round%4 == 1 { // trails
			c, rnd = newLongCase(4e6 + uint64(round))
		}
		c.o.Memory = memories[round/2%len(memories)]
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		var cases [texts]streamCase
		var wants [texts]run
		for i := range cases {
			cases[i] = *c
			cases[i].text = randomText(rnd, asciiLetters, 300) + randomBytes(rnd, 100) + randomText(rnd, runeLetters, 100)
			if round%4 == 1 {
				long, _ := newLongCase(rnd.Uint64())
				cases[i].text = long.text
			}
			wants[i] = refRun(t, c.rules, cases[i].text, c.o)
		}
		var all sync.WaitGroup
		for n := range streams {
			all.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(round), uint64(n)))
				f := newFeeder(t, set)
				for range 6 {
					i := rnd.IntN(texts)
					cuts := randomCuts(rnd, cases[i].text)
					got := f.run(cases[i].text, cuts...)
					if got.out != wants[i].out || fmt.Sprint(got.matches) != fmt.Sprint(wants[i].matches) || f.fail != "" {
						t.Errorf("%v\ncut at %v\ngot  %q\nwant %q\n%s", &cases[i], cuts, got.out, wants[i].out, f.fail)
						return
					}
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
	}
}

// Streams of one Set that take turns, bytewise, do not disturb each other.
func TestStreamsTakeTurns(t *testing.T) {
	for round := range rounds(t, 300) {
		c := newStreamCase(5e6+uint64(round), 4, 40)
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		want := refReplace(t, c.rules, c.text, c.o)
		var streams [3]*Stream
		var outs [3][]byte
		for i := range streams {
			streams[i] = set.NewStream()
		}
		for at := range len(c.text) + len(streams) {
			for i, s := range streams { // each a byte behind the other
				if at-i >= 0 && at-i < len(c.text) {
					outs[i] = s.Feed(outs[i], []byte{c.text[at-i]})
				}
			}
		}
		for i, s := range streams {
			if got := string(s.Finish(outs[i])); got != want {
				t.Fatalf("%v\nstream %d\ngot  %q\nwant %q", c, i, got, want)
			}
		}
	}
}
