//go:build linux

package gun

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"redoubt/netloop/httpconn"
)

// shots is what a feeder has dealt, in order.
type shots struct {
	t     *testing.T
	texts []string
	loads []load
	most  int // loads to take; 0: all
}

func (s *shots) deal(l load) bool {
	if s.most > 0 && len(s.loads) == s.most {
		return false
	}
	if l.first != int64(len(s.texts)) {
		s.t.Errorf("shot %d comes as number %d", len(s.texts), l.first)
	}
	if n := len(l.rounds); n == 0 || n > beltRounds || n > 1 && l.rounds[n-2].to >= beltBytes {
		s.t.Errorf("a belt of %d rounds and %d bytes", n, len(l.bytes))
	}
	s.loads = append(s.loads, l)
	for i := range l.rounds {
		r := &l.rounds[i]
		s.texts = append(s.texts, r.tag+"|"+string(l.bytes[r.from:r.to]))
	}
	return true
}

// Every record is dealt, whole and in order, pass after pass, whether the ammo
// stays in memory or is read again.
func TestFeeder(t *testing.T) {
	t.Parallel()
	small := func(n int) (texts []string) {
		for i := range n {
			texts = append(texts, fmt.Sprintf("t%d|%s", i%3, get(i)))
		}
		return texts
	}
	big := func(n int) (texts []string) {
		for i := range n {
			texts = append(texts, fmt.Sprintf("|%s%s", get(i), strings.Repeat("x", i*beltBytes/4)))
		}
		return texts
	}
	const all = 1 << 30
	for name, c := range map[string]struct {
		records       []string
		shots, passes int64
		keep          int
		want          int
		again         int // passes that the source is read again
		belts         int // 0: not looked at
	}{
		"one pass":             {small(200), -1, 1, all, 200, 0, 4},
		"three":                {small(200), -1, 3, all, 600, 0, 12},
		"three, read again":    {small(200), -1, 3, 1000, 600, 2, 12},
		"nothing may be kept":  {small(1), -1, 3, 0, 3, 2, 3},
		"just kept":            {small(1), -1, 3, len(get(0)) + roundBytes, 3, 0, 3},
		"a byte too many":      {small(1), -1, 3, len(get(0)) + roundBytes - 1, 3, 2, 3},
		"a full belt":          {small(beltRounds), -1, 2, all, 2 * beltRounds, 0, 2},
		"and one more":         {small(beltRounds + 1), -1, 2, all, 2*beltRounds + 2, 0, 4},
		"a limit in a pass":    {small(200), 130, 0, all, 130, 0, 3},
		"a limit at its end":   {small(200), 200, 0, all, 200, 0, 4},
		"in a later one":       {small(200), 450, 0, all, 450, 0, 9},
		"in one read again":    {small(200), 450, 0, 1000, 450, 2, 9},
		"passes before":        {small(10), 450, 3, all, 30, 0, 3},
		"no shots":             {small(10), 0, 0, all, 0, 0, 0},
		"large records":        {big(12), -1, 2, all, 24, 0, 0},
		"large, read again":    {big(12), -1, 2, beltBytes, 24, 1, 0},
		"one that fills belts": {[]string{"|" + get(0) + strings.Repeat("x", 3*beltBytes)}, -1, 4, all, 4, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			m := magazineOf(c.records...)
			got := &shots{t: t}
			f := newFeeder(m, c.shots, c.passes, got.deal)
			f.most = c.keep
			if err := f.run(); err != nil {
				t.Fatal(err)
			}
			if len(got.texts) != c.want || f.total.Load() != int64(c.want) {
				t.Errorf("%d shots dealt, %d counted, want %d", len(got.texts), f.total.Load(), c.want)
			}
			for i, text := range got.texts {
				if want := c.records[i%len(c.records)]; text != want {
					t.Fatalf("shot %d is %.80q, want %.80q", i, text, want)
				}
			}
			if m.passes != c.again {
				t.Errorf("the source was read again %d times, want %d", m.passes, c.again)
			}
			if c.belts > 0 && len(got.loads) != c.belts {
				t.Errorf("%d belts, want %d", len(got.loads), c.belts)
			}
		})
	}
}

// What a record is, is found out once.
func TestRounds(t *testing.T) {
	t.Parallel()
	got := &shots{t: t}
	f := newFeeder(magazineOf(
		"a|GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"a|HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"|CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"b|GET / HTTP/1.0\r\n\r\n",
		"|POST / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"a|no HTTP at all",
	), -1, 1, got.deal)
	if err := f.run(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		tag    string
		group  uint8
		ask    httpconn.Ask
		closes bool
	}{{"a", 0, httpconn.Plain, false}, {"a", 0, httpconn.Head, true}, {"", 1, httpconn.Connect, false}, {"b", 2, 0, true}, {"", 1, 0, false}, {"a", 0, 0, false}} {
		r := &got.loads[0].rounds[i]
		if r.tag != want.tag || r.group != want.group || r.ask != want.ask || r.closes != want.closes {
			t.Errorf("record %d: tag %q, group %d, ask %d, closes %v, want %+v", i+1, r.tag, r.group, r.ask, r.closes, want)
		}
	}
}

// Tags beyond the hundredth are counted together, and stay apart in phout.txt.
func TestManyTags(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 250 {
		texts = append(texts, fmt.Sprintf("tag %d|%s", i, get(i)))
	}
	s := serve(t, answering(fine))
	summary := shoot(t, s, "const(2000,250ms)", magazineOf(texts...), nil)
	if len(summary.Tags) != maxGroups+1 {
		t.Fatalf("%d tags", len(summary.Tags))
	}
	for i, tag := range summary.Tags {
		name, sent := fmt.Sprintf("tag %d", i), int64(2)
		if i == maxGroups {
			name, sent = otherTags, 2*(250-maxGroups)
		}
		if tag.Tag != name || tag.Sent != sent || tag.FromSent.Count != sent {
			t.Errorf("tag %d: %+v", i, tag)
		}
	}
}

// Errors of the source come out, behind all that came before them.
func TestFeederFails(t *testing.T) {
	t.Parallel()
	f := func(what string, m *magazine, passes int64, keep, most int, want int, wantErr error) {
		t.Helper()
		got := &shots{t: t, most: most}
		f := newFeeder(m, -1, passes, got.deal)
		f.most = keep
		counted := int64(want)
		if most > 0 { // refused: nobody knows how many there are
			counted = -1
		}
		if err := f.run(); !errors.Is(err, wantErr) || len(got.texts) != want || f.total.Load() != counted {
			t.Errorf("%s: %d dealt, %d counted, %v; want %d, %v", what, len(got.texts), f.total.Load(), err, want, wantErr)
		}
	}
	broken := numbered(200)
	broken.broken = 100
	f("a broken record", broken, 0, 1<<30, 0, 99, errBroken)
	broken = numbered(200)
	broken.broken = 1
	f("the first one", broken, 0, 1<<30, 0, 0, errBroken)
	f("no records", numbered(0), 0, 1<<30, 0, 0, ErrNoAmmo)
	f("no records, one pass", numbered(0), 1, 1<<30, 0, 0, ErrNoAmmo)
	pipe := numbered(100)
	pipe.rewind = io.ErrClosedPipe
	f("no second pass", pipe, 2, 10, 0, 100, io.ErrClosedPipe)
	f("no second pass, by its name", pipe, 2, 10, 0, 100, ErrRewind)
	f("refused", numbered(100), 0, 1<<30, 3, beltRounds+(100-beltRounds)+beltRounds, nil)
	shrinking := &vanishing{magazine: numbered(10)}
	got := &shots{t: t}
	again := newFeeder(shrinking, -1, 0, got.deal)
	again.most = 0
	if err := again.run(); err != ErrNoAmmo || len(got.texts) != 10 {
		t.Errorf("a file that is emptied between passes: %d dealt, %v", len(got.texts), err)
	}
}

// vanishing has records in its first pass alone.
type vanishing struct{ *magazine }

func (v *vanishing) Rewind() error {
	v.records = nil
	return v.magazine.Rewind()
}

// A run that ends at the beginning of a pass over a file has not run out of
// ammo.
func TestFeederIsRefusedLater(t *testing.T) {
	t.Parallel()
	got := &shots{t: t, most: 3}
	f := newFeeder(numbered(beltRounds), -1, 0, got.deal)
	f.most = 0
	if err := f.run(); err != nil || len(got.texts) != 3*beltRounds {
		t.Errorf("%d dealt, %v", len(got.texts), err)
	}
}
