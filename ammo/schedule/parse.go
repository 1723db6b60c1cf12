package schedule

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SyntaxError says where a plan's text cannot be understood, and what should
// have stood there.
type SyntaxError struct {
	Text   string // the whole text
	Column int    // where, in characters of Text from 1; a line end is one
	Want   string // what was expected
	Got    string // what was found, cut short
	Hint   string // a way out
}

func (e *SyntaxError) Error() string {
	where := fmt.Sprintf("column %d", e.Column)
	if strings.Contains(e.Text, "\n") {
		before := []rune(e.Text)[:e.Column-1]
		line, column := 1, 1
		for _, r := range before {
			column++
			if r == '\n' {
				line, column = line+1, 1
			}
		}
		where = fmt.Sprintf("line %d, column %d", line, column)
	}
	return fmt.Sprintf("%s: want %s, got %s: %s", where, e.Want, e.Got, e.Hint)
}

// Parse reads the text of a plan; what it may hold is in the package's
// description. Its errors are *SyntaxError.
func Parse(text string) (Plan, error) {
	var plan Plan
	p := parser{text: text}
	for p.blanks(); p.pos < len(text) || len(plan.calls) == 0; p.blanks() {
		start := p.pos
		s, err := p.name()
		if err != nil {
			return Plan{}, err
		}
		if len(plan.calls) > 0 && (s == floodShape || plan.conns > 0) {
			return Plan{}, p.fail(start, "nothing beside flood", "flood stands alone: it has no rate that others could go on from")
		}
		c, at, err := p.arguments(s)
		if err != nil {
			return Plan{}, err
		}
		if blame, want, got := plan.build(c); want != "" {
			err := p.fail(at[blame], want, s.usage())
			err.Got = got
			return Plan{}, err
		}
	}
	return plan, nil
}

type parser struct {
	text string
	pos  int // bytes read
}

// name reads a shape's name.
func (p *parser) name() (*shape, error) {
	start := p.pos
	word := p.run(unicode.IsLetter)
	for _, s := range shapes {
		if strings.EqualFold(s.name, word) {
			return s, nil
		}
	}
	if next := p.next(); word == "" && (next == ',' || next == ';') {
		return nil, p.fail(start, "a blank or the end", "parts are separated by blanks alone, such as "+
			constShape.example+" "+lineShape.example)
	}
	var forms []string
	for _, s := range shapes {
		forms = append(forms, fmt.Sprintf("%s(%s)", s.name, s.params(",")))
	}
	return nil, p.fail(start, "const, line, step, pause or flood", "a plan is made of "+strings.Join(forms, " "))
}

// arguments reads what follows the name, with the place of each argument.
func (p *parser) arguments(s *shape) (c call, at [4]int, err error) {
	c.shape = s
	open := byte('(')
	for i, a := range s.args {
		p.blanks()
		if p.next() != rune(open) {
			return c, at, p.fail(p.pos, fmt.Sprintf("%q before %s", open, a.name), s.usage())
		}
		p.pos++
		p.blanks()
		at[i] = p.pos
		switch a.kind {
		case aRate:
			c.values[i], err = p.rate(s, a)
		case aDuration:
			c.values[i], err = p.duration(s, a)
		case aCount:
			c.values[i], err = p.count(s, a)
		}
		if err != nil {
			return c, at, err
		}
		open = ','
	}
	p.blanks()
	if p.next() != ')' {
		return c, at, p.fail(p.pos, "')' after "+s.args[len(s.args)-1].name, s.usage())
	}
	p.pos++
	return c, at, nil
}

func (p *parser) rate(s *shape, a arg) (int64, error) {
	const hint = "rates are shots a second in digits, such as 1000 or 0.5"
	start := p.pos
	v, whole, ok := p.decimal(int64(perSecond))
	switch {
	case p.pos == start && p.next() != '-' && p.next() != '+':
		return 0, p.fail(start, a.name, s.usage())
	case !ok || !p.ends():
		return 0, p.fail(start, a.name+" in digits", hint)
	case v > MaxRate*int64(perSecond):
		return 0, p.fail(start, fmt.Sprintf("%s of at most %d", a.name, MaxRate), hint)
	case !whole:
		return 0, p.fail(start, a.name+" of at most 9 decimals", hint)
	}
	return v, nil
}

func (p *parser) count(s *shape, a arg) (int64, error) {
	start := p.pos
	v, whole, ok := p.decimal(1)
	switch {
	case p.pos == start && p.next() != '-' && p.next() != '+':
		return 0, p.fail(start, a.name, s.usage())
	case !ok || !whole || !p.ends() || v < 1 || v > MaxConnections:
		return 0, p.fail(start, fmt.Sprintf("%s from 1 to %d", a.name, MaxConnections), s.usage())
	}
	return v, nil
}

// duration reads numbers with their units, or one number of seconds.
func (p *parser) duration(s *shape, a arg) (int64, error) {
	const hint = "durations are such as 90, 1.5s, 250ms or 1h30m"
	start := p.pos
	var sum int64
	for first, alone := true, false; first || !alone && isNumber(p.next()); first = false {
		number := p.pos
		p.run(isNumber)
		if p.pos == number {
			if r := p.next(); r == '-' || r == '+' {
				return 0, p.fail(start, a.name+" in digits", hint)
			}
			return 0, p.fail(start, a.name, s.usage())
		}
		p.blanks()
		at := p.pos
		length := time.Second
		if unit := p.run(unicode.IsLetter); unit != "" {
			if length = unitLength(unit); length == 0 {
				return 0, p.fail(at, "a unit: d, h, m, s or ms", hint)
			}
		} else if alone = first; !alone {
			return 0, p.fail(at, "a unit", "a number without one is seconds, but only by itself: say 1h30m or 1h30s rather than 1h30")
		}
		end := p.pos
		p.pos = number
		v, whole, ok := p.decimal(int64(length))
		p.pos = end
		switch {
		case !ok:
			return 0, p.fail(number, a.name+" in digits", hint)
		case v > int64(MaxDuration)-sum:
			return 0, p.fail(start, fmt.Sprintf("%s of at most %d days", a.name, MaxDuration/day), hint)
		case !whole:
			return 0, p.fail(number, a.name+" in whole nanoseconds", hint)
		}
		sum += v
		p.blanks()
	}
	if sum == 0 {
		return 0, p.fail(start, a.name+" above 0", hint)
	}
	return sum, nil
}

// decimal reads digits with at most one point among them, and multiplies the
// number by scale. whole tells that nothing was lost below 1.
func (p *parser) decimal(scale int64) (v int64, whole, ok bool) {
	const longest = 100 // digits: none that could mean anything have more
	digits := p.run(isNumber)
	if len(digits) > longest {
		return 0, false, false
	}
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return 0, false, false
	}
	r.Mul(r, new(big.Rat).SetInt64(scale))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return math.MaxInt64, r.IsInt(), true
	}
	return n.Int64(), r.IsInt(), true
}

// ends tells that no other character clings to what was read.
func (p *parser) ends() bool {
	r := p.next()
	return r == 0 || isBlank(r) || strings.ContainsRune("(),;", r)
}

func isNumber(r rune) bool { return '0' <= r && r <= '9' || r == '.' }

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

func (p *parser) blanks() { p.run(isBlank) }

// run reads the characters that are in a class.
func (p *parser) run(in func(rune) bool) string {
	rest := p.text[p.pos:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !in(r) })
	if end < 0 {
		end = len(rest)
	}
	p.pos += end
	return rest[:end]
}

// next is the character to come, 0 at the end.
func (p *parser) next() rune {
	if p.pos == len(p.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return r
}

// fail is the error for what stands at byte pos.
func (p *parser) fail(pos int, want, hint string) *SyntaxError {
	return &SyntaxError{Text: p.text, Column: utf8.RuneCountInString(p.text[:pos]) + 1, Want: want, Got: excerpt(p.text[pos:]), Hint: hint}
}

// excerpt quotes the word, or else the sign, that rest begins with.
func excerpt(rest string) string {
	const most = 20 // characters
	if rest == "" {
		return "the end"
	}
	n := 0
	for i, r := range rest {
		if isBlank(r) || strings.ContainsRune("(),;", r) {
			if i == 0 {
				return fmt.Sprintf("%q", r)
			}
			return fmt.Sprintf("%q", rest[:i])
		}
		if n++; n > most {
			return fmt.Sprintf("%q...", rest[:i])
		}
	}
	return fmt.Sprintf("%q", rest)
}
