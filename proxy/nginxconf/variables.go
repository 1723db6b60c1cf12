package nginxconf

import (
	"fmt"
	"strings"
)

// piece is a part of a text with variables: a text, a variable, or what a group of
// the expression has matched.
type piece struct {
	text  string
	name  string // of a variable
	group int    // from 1; wholeMatch is $&
}

const wholeMatch = -1

// split finds the variables in a text. Where groups may stand, $1 to $9 have one
// digit; long is for replace_filter, which knows $10, ${1}, $& and $$ as well.
func split(text string, groups, long bool) (pieces []piece, err error) {
	for text != "" {
		plain, rest, found := strings.Cut(text, "$")
		if plain != "" {
			pieces = append(pieces, piece{text: plain})
		}
		if !found {
			break
		}
		var p piece
		var braced bool
		if !long && groups && rest != "" && '1' <= rest[0] && rest[0] <= '9' {
			pieces = append(pieces, piece{group: int(rest[0] - '0')})
			text = rest[1:]
			continue
		}
		if long && strings.HasPrefix(rest, "$") {
			pieces = append(pieces, piece{text: "$"})
			text = rest[1:]
			continue
		}
		rest, braced = strings.CutPrefix(rest, "{")
		n := 0
		switch {
		case long && strings.HasPrefix(rest, "&"):
			p.group, n = wholeMatch, 1
		case long && rest != "" && '1' <= rest[0] && rest[0] <= '9':
			for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
				p.group = min(p.group*10+int(rest[n]-'0'), 1<<20)
				n++
			}
		default:
			for n < len(rest) && isNameByte(rest[n]) {
				n++
			}
			p.name = rest[:n]
		}
		switch {
		case n == 0:
			return nil, fmt.Errorf("a $ without a name behind it, which nginx does not take either")
		case braced && !strings.HasPrefix(rest[n:], "}"):
			return nil, fmt.Errorf("a { without }")
		case braced:
			n++
		}
		pieces = append(pieces, p)
		text = rest[n:]
	}
	return pieces, nil
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// constants are variables that have one value in a level, whatever the request is.
type constants map[string]string

// fill puts the values of constants in. unknown is a variable that has none, or "".
func (c constants) fill(text string) (filled, unknown string, err error) {
	pieces, err := split(text, true, false)
	var b strings.Builder
	for _, p := range pieces {
		switch value, ok := c[p.name]; {
		case p.group != 0:
			unknown = fmt.Sprint(p.group)
		case p.name == "" || ok:
			b.WriteString(p.text + value)
		default:
			unknown = p.name
		}
	}
	return b.String(), unknown, err
}

// ofLevel adds what set says in a level, and in those around it.
func (c constants) ofLevel(l *level) constants {
	all := make(constants)
	if l.outer != nil {
		all = c.ofLevel(l.outer)
	} else {
		for name, value := range c {
			all[name] = value
		}
	}
	for _, d := range l.own("set") {
		name := strings.TrimPrefix(d.arg(0), "$")
		if value, unknown, err := all.fill(d.arg(1)); unknown == "" && err == nil {
			all[name] = value
		} else {
			delete(all, name)
		}
	}
	return all
}

// ofHTTP are the constants made by geo and map with nothing but a default, which is
// how a dollar sign is written in nginx.
func ofHTTP(l *level) constants {
	c := make(constants)
	for _, d := range l.own("geo", "map") {
		if len(d.block) == 1 && d.block[0].name == "default" && len(d.args) > 0 {
			value := d.block[0].arg(0)
			if d.name == "map" && value != "$" && strings.Contains(value, "$") {
				continue
			}
			c[strings.TrimPrefix(d.args[len(d.args)-1], "$")] = value
		}
	}
	return c
}

// headerVariable is what a variable of nginx is called here, in values of fields.
func headerVariable(name string) (ours string, ok bool) {
	switch name {
	case "remote_addr":
		return "client", true
	case "host", "http_host":
		return "host", true
	case "uri", "document_uri":
		return "path", true
	case "request_id":
		return "request_id", true
	case "upstream_addr":
		return "upstream", true
	}
	return "", false
}

// header is a text with variables as values of fields have it here.
func (c constants) header(text string) (value, unknown string, err error) {
	pieces, err := split(text, true, false)
	var b strings.Builder
	for i, p := range pieces {
		constant, known := c[p.name]
		ours, ok := headerVariable(p.name)
		switch {
		case p.group != 0:
			unknown = fmt.Sprint(p.group)
		case p.name == "":
			b.WriteString(dollars(p.text))
		case ok && (i+1 == len(pieces) || pieces[i+1].text != "" && !isNameByte(pieces[i+1].text[0])):
			b.WriteString("$" + ours)
		case ok:
			b.WriteString("${" + ours + "}")
		case known:
			b.WriteString(dollars(constant))
		default:
			unknown = p.name
		}
	}
	return b.String(), unknown, err
}

// dollars writes a text so that no $ in it means anything.
func dollars(text string) string { return strings.ReplaceAll(text, "$", "$$") }
