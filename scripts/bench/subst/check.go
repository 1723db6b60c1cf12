package main

import (
	"bytes"
	"fmt"

	"redoubt/proxy/subst"
)

// check sees whether ours finds what package regexp finds with all rules in one
// expression, in both ways to choose a match, and puts in what strings.Replacer
// puts in where that knows the rules. The text is as much as regexp gets to be
// measured on.
func check(s setting, text []byte) error {
	longest, err := s.joined()
	if err != nil {
		return err
	}
	text = sampleOf(longest, text)
	for _, match := range []subst.Match{subst.Longest, subst.First} {
		s.options.Match = match
		if err := s.sameMatches(text); err != nil {
			return fmt.Errorf("--match %s: %w", []string{"longest", "first"}[match], err)
		}
	}
	s.options.Match = subst.Longest
	return s.sameOutput(text)
}

func (s setting) sameMatches(text []byte) error {
	expression, err := s.joinedExpression()
	if err != nil {
		return err
	}
	set, err := s.compile(func(rule) string { return "" })
	if err != nil {
		return err
	}
	want, n := expression.FindAllIndex(text, -1), 0
	set.FindAll(text, func(start, end, _ int) bool {
		if n == len(want) || start != want[n][0] || end != want[n][1] {
			err = fmt.Errorf("match %d of ours is of bytes %d to %d, but regexp has %v", n, start, end, want[min(n, len(want)):min(n+1, len(want))])
			return false
		}
		n++
		return true
	})
	if err == nil && n < len(want) {
		err = fmt.Errorf("ours has %d matches, regexp %d", n, len(want))
	}
	if err != nil {
		return err
	}
	find, err := s.find()
	if err != nil {
		return err
	}
	if got := find(text).matches; got != int64(n) {
		return fmt.Errorf("%d matches in pieces of %d bytes, %d in the whole", got, s.piece, n)
	}
	return nil
}

func (s setting) sameOutput(text []byte) error {
	replacer, err := s.newReplacer()
	if err != nil {
		return nil // it does not know these rules
	}
	t, err := s.stream(func(r rule) string { return r.put })
	if err != nil {
		return err
	}
	if got, want := t.Finish(t.Feed(nil, text)), replacer.Replace(string(text)); !bytes.Equal(got, []byte(want)) {
		return fmt.Errorf("ours has another output than strings.Replacer, %d bytes and %d", len(got), len(want))
	}
	return nil
}
