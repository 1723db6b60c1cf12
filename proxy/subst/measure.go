package subst

import (
	"regexp/syntax"
	"unicode/utf8"
)

// oneByte is the bytes of a class that takes one byte only.
func oneByte(re *syntax.Regexp) (s byteSet, ok bool) {
	switch re.Op {
	case syntax.OpAnyChar:
		s.add(0, 0xff)
		return s, true
	case syntax.OpAnyCharNotNL:
		s.add(0, '\n'-1)
		s.add('\n'+1, 0xff)
		return s, true
	}
	s, beyond := inBytes(re.Rune)
	return s, len(beyond) == 0
}

// measure is how many bytes an expression's matches have, and which.
type measure struct {
	extent extent
	bytes  byteSet
}

// measures are those of parts of an expression, each taken once.
type measures map[*syntax.Regexp]measure

func (known measures) of(re *syntax.Regexp) (m measure) {
	m, ok := known[re]
	if ok {
		return m
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			m.bytes.join(bytesOfRunes(ranges(&syntax.Inst{Rune: []rune{r}, Arg: uint32(re.Flags)})))
		}
		m.extent = extentOf(re)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.extent = extentOf(re)
		if m.bytes, ok = oneByte(re); !ok {
			m.bytes = bytesOfRunes(re.Rune)
		}
	default:
		subs := make([]extent, len(re.Sub))
		for i, sub := range re.Sub {
			of := known.of(sub)
			subs[i] = of.extent
			m.bytes.join(of.bytes)
		}
		m.extent = combine(re, subs)
	}
	known[re] = m
	return m
}

func bytesOfRunes(pairs []rune) byteSet {
	single, beyond := inBytes(pairs)
	if len(beyond) > 0 {
		single.add(utf8.RuneSelf, 0xff)
	}
	return single
}

// extent is how many bytes an expression's matches have.
type extent struct {
	never    bool // there are none
	min, max int  // max is -1 without end
}

func extentOf(re *syntax.Regexp) extent {
	switch re.Op {
	case syntax.OpLiteral:
		var e extent
		for _, r := range re.Rune {
			e = e.then(runeExtent(ranges(&syntax.Inst{Rune: []rune{r}, Arg: uint32(re.Flags)})))
		}
		return e
	case syntax.OpCharClass:
		return runeExtent(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return extent{min: 1, max: 1}
	}
	subs := make([]extent, len(re.Sub))
	for i, sub := range re.Sub {
		subs[i] = extentOf(sub)
	}
	return combine(re, subs)
}

// combine makes the extent of an expression of those of its parts.
func combine(re *syntax.Regexp, subs []extent) (e extent) {
	switch re.Op {
	case syntax.OpNoMatch:
		return extent{never: true}
	case syntax.OpCapture:
		return subs[0]
	case syntax.OpStar:
		return subs[0].repeat(0, -1)
	case syntax.OpPlus:
		return subs[0].repeat(1, -1)
	case syntax.OpQuest:
		return subs[0].repeat(0, 1)
	case syntax.OpRepeat:
		return subs[0].repeat(re.Min, re.Max)
	case syntax.OpConcat:
		for _, sub := range subs {
			e = e.then(sub)
		}
	case syntax.OpAlternate:
		e.never = true
		for _, sub := range subs {
			e = e.or(sub)
		}
	}
	return e // nothing, or an assertion
}

func runeExtent(pairs []rune) extent {
	single, beyond := inBytes(pairs)
	e := extent{never: true}
	if single != (byteSet{}) {
		e = extent{min: 1, max: 1}
	}
	if n := len(beyond); n > 0 {
		e = e.or(extent{min: utf8.RuneLen(beyond[0]), max: utf8.RuneLen(beyond[n-1])})
	}
	return e
}

func (e extent) then(f extent) extent {
	if e.never || f.never {
		return extent{never: true}
	}
	sum := extent{min: e.min + f.min, max: e.max + f.max}
	if e.max < 0 || f.max < 0 {
		sum.max = -1
	}
	return sum
}

func (e extent) or(f extent) extent {
	switch {
	case e.never:
		return f
	case f.never:
		return e
	}
	e.min = min(e.min, f.min)
	if e.max >= 0 && (f.max < 0 || f.max > e.max) {
		e.max = f.max
	}
	return e
}

// repeat takes -1 for a most without end.
func (e extent) repeat(least, most int) extent {
	switch {
	case e.never && least == 0 || most == 0:
		return extent{}
	case e.never:
		return e
	}
	e.min *= least
	switch {
	case e.max < 0 || most < 0 && e.max > 0:
		e.max = -1
	default:
		e.max *= most // 0 if nothing is repeated without end
	}
	return e
}
