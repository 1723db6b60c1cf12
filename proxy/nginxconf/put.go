package nginxconf

import (
	"strconv"
	"unicode"
)

// put is what is put in, as it is written here.
func (t *translator) put(d *directive, text string, c constants, groups int, long bool) (put string, ok bool) {
	pieces, err := split(text, groups > 0 || long, long)
	if err != nil {
		t.unknown(d, "put in", "", err)
		return "", false
	}
	var out []string // of each piece
	for _, p := range pieces {
		value, known := c[p.name]
		switch {
		case p.group == wholeMatch:
			out = append(out, "$&")
		case p.group > groups: // of replace_filter it is nothing
			out = append(out, "")
		case p.group > 0:
			out = append(out, "$"+strconv.Itoa(p.group))
		case p.name == "":
			out = append(out, dollars(p.text))
		case known:
			out = append(out, dollars(value))
		default:
			t.unknown(d, "put in", p.name, nil)
			return "", false
		}
	}
	for i := len(out) - 1; i >= 0; i-- { // ${1} keeps digits that follow apart
		if isGroup(out[i]) && put != "" && unicode.IsDigit(rune(put[0])) {
			out[i] = "${" + out[i][1:] + "}"
		}
		put = out[i] + put
	}
	return put, true
}

func isGroup(out string) bool { return len(out) > 1 && out[0] == '$' && '1' <= out[1] && out[1] <= '9' }

func (t *translator) unknown(d *directive, what, name string, err error) {
	switch {
	case err != nil:
		t.notes.add(d, "%v; the rule is left out", err)
	case '0' <= name[0] && name[0] <= '9':
		t.notes.add(d, "the text %s has $%s, but no expression with such a group belongs to it; the rule is left out", what, name)
	case name == "host":
		t.notes.add(d, "the text %s has $host, which is known only where server_name has one exact name; the rule is left out of routes for others", what)
	default:
		t.notes.add(d, "the text %s has $%s, and rules for bodies know no variables; the rule is left out", what, name)
	}
}
