package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unsafe"

	"redoubt/proxy/subst"
)

// engine goes over a text once.
type engine func(text []byte) effort

// effort is what it has found, and what it took; zero where an engine does not
// tell.
type effort struct {
	matches, steps, overruns int64
}

func newEngine(name string, s setting) (engine, error) {
	switch name {
	case "find":
		return s.find()
	case "emit":
		return s.emit()
	case "out":
		return s.out()
	case "joined":
		return s.joined()
	case "each":
		return s.each()
	case "replacer":
		return s.replacer()
	}
	return nil, fmt.Errorf("--engine %s: there are find, emit, out, joined, each and replacer", name)
}

// find replaces by nothing, and throws away what is emitted: the search, and a
// call for each stretch between matches.
func (s setting) find() (engine, error) {
	return s.emitting(func(rule) string { return "" })
}

// emit makes the output of each piece, and is shown all of it, as slices of the
// piece and of replacements: the way of the proxy.
func (s setting) emit() (engine, error) {
	return s.emitting(func(r rule) string { return r.put })
}

func (s setting) emitting(put func(rule) string) (engine, error) {
	t, err := s.stream(put)
	if err != nil {
		return nil, err
	}
	n := 0
	emit := func(piece []byte) { n += len(piece) }
	return func(text []byte) effort {
		t.Reset()
		for from := 0; from < len(text); from += s.piece {
			t.FeedTo(text[from:min(from+s.piece, len(text))], emit)
		}
		t.FinishTo(emit)
		return effortOf(t)
	}, nil
}

// out makes the output of each piece, in a buffer that the next one uses again.
func (s setting) out() (engine, error) {
	t, err := s.stream(func(r rule) string { return r.put })
	if err != nil {
		return nil, err
	}
	var dst []byte
	return func(text []byte) effort {
		t.Reset()
		for from := 0; from < len(text); from += s.piece {
			dst = t.Feed(dst[:0], text[from:min(from+s.piece, len(text))])
		}
		dst = t.Finish(dst[:0])
		return effortOf(t)
	}, nil
}

func (s setting) stream(put func(rule) string) (*subst.Stream, error) {
	set, err := s.compile(put)
	if err != nil {
		return nil, err
	}
	return set.NewStream(), nil
}

func (s setting) compile(put func(rule) string) (*subst.Set, error) {
	rules := make([]subst.Rule, len(s.rules))
	for i, r := range s.rules {
		rules[i] = r.ours(put(r))
	}
	return subst.Compile(rules, s.options)
}

func effortOf(t *subst.Stream) effort {
	stats := t.Stats()
	e := effort{steps: stats.Steps, overruns: stats.Overruns}
	for _, n := range stats.Matches {
		e.matches += n
	}
	return e
}

// joined is package regexp with all rules as one expression. Only FindAll finds
// them all in one go, and makes a slice for each match.
func (s setting) joined() (engine, error) {
	expression, err := s.joinedExpression()
	if err != nil {
		return nil, err
	}
	return func(text []byte) effort {
		return effort{matches: int64(len(expression.FindAllIndex(text, -1)))}
	}, nil
}

func (s setting) joinedExpression() (*regexp.Regexp, error) {
	parts := make([]string, len(s.rules))
	for i, r := range s.rules {
		parts[i] = r.expression()
	}
	expression, err := regexp.Compile(strings.Join(parts, "|"))
	if err == nil && s.options.Match == subst.Longest {
		expression.Longest()
	}
	return expression, err
}

// each is package regexp rule by rule: as many passes, which see neither each
// other's matches nor what was put in their place.
func (s setting) each() (engine, error) {
	expressions := make([]*regexp.Regexp, len(s.rules))
	for i, r := range s.rules {
		var err error
		if expressions[i], err = regexp.Compile(r.expression()); err != nil {
			return nil, err
		}
	}
	return func(text []byte) effort {
		var e effort
		for _, expression := range expressions {
			e.matches += int64(len(expression.FindAllIndex(text, -1)))
		}
		return e
	}, nil
}

// replacer is strings.Replacer, output and all. It wants its text as a string
// and at once, which is granted for nothing, and does not count.
func (s setting) replacer() (engine, error) {
	replacer, err := s.newReplacer()
	if err != nil {
		return nil, err
	}
	var dst bytes.Buffer
	return func(text []byte) effort {
		dst.Reset()
		_, _ = replacer.WriteString(&dst, unsafe.String(unsafe.SliceData(text), len(text))) // a Buffer takes all
		return effort{}
	}, nil
}

func (s setting) newReplacer() (*strings.Replacer, error) {
	var pairs []string
	for _, r := range s.rules {
		if !r.literal || r.ignoreCase {
			return nil, fmt.Errorf("replacer knows literals only, not %s", r.find)
		}
		pairs = append(pairs, r.find, r.put)
	}
	return strings.NewReplacer(pairs...), nil
}
