package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Vars are what variables stand for. They are views that stay the caller's, and
// none is looked at after the call it is given to. Vars also keep the room in
// which values are made, up to 64 KB, and count what has been spent on a head: one a loop is enough, used again and
// again.
type Vars struct {
	Client    []byte // $client: the client's address
	Host      []byte // $host: the authority that the client asked for
	Path      []byte // $path: the path as the client sent it, without the query
	RequestID []byte // $request_id
	Upstream  []byte // $upstream: the server's address

	room     []byte
	searched int // see mostSearched; 0 between heads
}

const keepRoom = 1 << 16

// keep takes room back that may have grown.
func (v *Vars) keep(room []byte) {
	if cap(room) <= keepRoom {
		v.room = room[:0]
	}
}

// kind is what a piece of a text is.
type kind uint8

const (
	plain kind = iota
	group
	client // the first variable; the others follow in the order of variables
	host
	path
	requestID
	upstream
)

var variables = []string{"client", "host", "path", "request_id", "upstream"}

func (v *Vars) get(k kind) []byte {
	switch k {
	case client:
		return v.Client
	case host:
		return v.Host
	case path:
		return v.Path
	case requestID:
		return v.RequestID
	default:
		return v.Upstream
	}
}

// text is a Put or a Value that has been understood.
type text []piece

type piece struct {
	kind  kind
	plain []byte
	group int // 0 is the whole match
}

// constant is a text of plain bytes only.
func (t text) constant() (plainText []byte, ok bool) {
	switch {
	case len(t) == 0:
		return nil, true
	case len(t) == 1 && t[0].kind == plain:
		return t[0].plain, true
	}
	return nil, false
}

// append adds what the text stands for, with groups of a match in from.
func (t text) append(dst, from []byte, match []int, v *Vars) []byte {
	for i := range t {
		switch p := &t[i]; p.kind {
		case plain:
			dst = append(dst, p.plain...)
		case group:
			if at := match[2*p.group]; at >= 0 {
				dst = append(dst, from[at:match[2*p.group+1]]...)
			}
		default:
			dst = append(dst, v.get(p.kind)...)
		}
	}
	return dst
}

// grammar is what a text may hold.
type grammar struct {
	legal   func(c byte) bool // of plain text
	groups  int               // how many there are, or noGroups
	literal bool              // find is literal text
}

const noGroups = -1 // there is no match, either

// parseText understands a text. Of an error it tells no more than where and why.
func parseText(in string, g grammar) (text, *Error) {
	var t text
	var bytes []byte
	flush := func() {
		if len(bytes) > 0 {
			t = append(t, piece{kind: plain, plain: bytes})
			bytes = nil
		}
	}
	for i := 0; i < len(in); {
		if in[i] != '$' {
			if !g.legal(in[i]) {
				return nil, &Error{Offset: i, Reason: illegal(in[i], g)}
			}
			bytes = append(bytes, in[i])
			i++
			continue
		}
		if strings.HasPrefix(in[i:], "$$") {
			bytes = append(bytes, '$')
			i += 2
			continue
		}
		p, n, reason := parseReference(in[i:], g)
		if reason != "" {
			return nil, &Error{Offset: i, Reason: reason + "; write $$ for a dollar sign; variables are $" + strings.Join(variables, ", $")}
		}
		flush()
		t = append(t, p)
		i += n
	}
	flush()
	return t, nil
}

func illegal(c byte, g grammar) string {
	if g.legal(' ') {
		return fmt.Sprintf("the byte %#02x cannot be in the value of a field; leave it out", c)
	}
	return fmt.Sprintf("the byte %#02x cannot be in a target; write %%%02X", c, c)
}

// parseReference understands what begins with a dollar sign, n bytes of it.
func parseReference(in string, g grammar) (p piece, n int, reason string) {
	inDigits := func(c byte) bool { return '0' <= c && c <= '9' }
	inName := func(c byte) bool { return 'a' <= c && c <= 'z' || c == '_' }

	word, n := in[1:], 1
	braced := strings.HasPrefix(word, "{")
	if braced {
		word, n = word[1:], 2
	}
	word = leading(word, inDigits) + leading(word, inName) // one of them is empty
	if strings.HasPrefix(in, "$&") {
		word = "&"
	}
	n += len(word)
	if word == "" || braced && !strings.HasPrefix(in[n:], "}") {
		forms := "a number, {number}, &, $ or a variable"
		if g.groups == noGroups {
			forms = "$ or a variable"
		}
		if braced {
			return p, 0, "${ without a number or a variable and } after it"
		}
		return p, 0, "$ without " + forms + " after it"
	}
	if braced {
		n++
	}
	if inName(word[0]) {
		k := slices.Index(variables, word)
		if k < 0 {
			return p, 0, fmt.Sprintf("%.40s: unknown variable (${host} keeps letters that follow apart)", in[:n])
		}
		return piece{kind: client + kind(k)}, n, ""
	}
	if word == "&" {
		word = "0"
	}
	number, err := strconv.Atoi(word)
	switch what := fmt.Sprintf("%.20s", in[:n]); {
	case g.groups == noGroups:
		return p, 0, what + ": without a find there is nothing that it could have matched"
	case err == nil && number <= g.groups:
		return piece{kind: group, group: number}, n, ""
	case g.literal:
		return p, 0, what + ": literal text has no groups"
	case g.groups == 0:
		return p, 0, what + ": find has no groups"
	default:
		return p, 0, fmt.Sprintf("%s: find has groups 1 to %d (${1} keeps digits that follow apart)", what, g.groups)
	}
}

// leading is the longest run of such bytes that a text begins with.
func leading(in string, is func(c byte) bool) string {
	n := 0
	for n < len(in) && is(in[n]) {
		n++
	}
	return in[:n]
}
