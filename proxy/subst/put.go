package subst

import (
	"fmt"
	"strconv"
)

// replacement is a Put that has been understood.
type replacement struct {
	pieces     []piece
	usesGroups bool // some piece is a group other than the whole match
}

// piece is literal text, or what a group has matched.
type piece struct {
	text  []byte
	group int // -1 for text; 0 is the whole match
}

// groups tells which of n groups the pieces name. The whole match, group 0, is
// never among them: where it lies is known anyway.
func (p *replacement) groups(n int) []bool {
	used := make([]bool, n+1)
	for i := range p.pieces {
		if group := p.pieces[i].group; group > 0 {
			used[group] = true
		}
	}
	return used
}

// parsePut understands a replacement for an expression with so many groups.
func parsePut(text string, groups int, literal bool) (replacement, *RuleError) {
	var p replacement
	var plain []byte
	flush := func() {
		if len(plain) > 0 {
			p.pieces = append(p.pieces, piece{text: plain, group: -1})
			plain = nil
		}
	}
	bad := func(at int, format string, args ...any) (replacement, *RuleError) {
		return replacement{}, &RuleError{Part: "put", Offset: at, Reason: fmt.Sprintf(format, args...) + "; write $$ for a dollar sign"}
	}
	for i := 0; i < len(text); {
		if text[i] != '$' {
			plain = append(plain, text[i])
			i++
			continue
		}
		at := i
		i++
		var digits string
		switch {
		case i < len(text) && text[i] == '$':
			plain = append(plain, '$')
			i++
			continue
		case i < len(text) && text[i] == '&':
			digits = "0"
			i++
		case i < len(text) && text[i] == '{':
			digits = leadingDigits(text[i+1:])
			i += 1 + len(digits)
			if digits == "" || i == len(text) || text[i] != '}' {
				return bad(at, "${ without a number and } after it")
			}
			i++
		default:
			digits = leadingDigits(text[i:])
			i += len(digits)
			if digits == "" {
				return bad(at, "$ without a number, {number}, & or $ after it")
			}
		}
		n, err := strconv.Atoi(digits)
		switch {
		case err == nil && n <= groups:
		case literal:
			return bad(at, "%.20s: literal text has no groups", text[at:i])
		case groups == 0:
			return bad(at, "%.20s: find has no groups", text[at:i])
		default:
			return bad(at, "%.20s: find has groups 1 to %d (${1} keeps digits that follow apart)", text[at:i], groups)
		}
		flush()
		p.pieces = append(p.pieces, piece{group: n})
		p.usesGroups = p.usesGroups || n > 0
	}
	flush()
	return p, nil
}

// leadingDigits is the longest run of digits that a text begins with.
func leadingDigits(text string) string {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return text[:n]
}
