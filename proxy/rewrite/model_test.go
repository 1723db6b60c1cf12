package rewrite

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"redoubt/netloop/http1"
)

var seed = flag.Uint64("seed", 0, "of random tests; 0 takes the time")

// model is the same by maps, copies and package regexp's own replacing. What
// rules bring is kept apart from what came, for only that is rewritten.
type model struct {
	came, brought []Field
	target        string
	vars          map[string]string
	searched      int // as Vars has it, literal text included
}

func (m *model) apply(o *Options) {
	gone := make(map[string]bool)
	for _, name := range o.Remove {
		gone[strings.ToLower(name)] = true
	}
	for _, f := range o.Set {
		gone[strings.ToLower(f.Name)] = true
	}
	left := func(from []Field) (to []Field) {
		for _, f := range from {
			if !gone[strings.ToLower(f.Name)] {
				to = append(to, f)
			}
		}
		return to
	}
	m.came, m.brought = left(m.came), left(m.brought)
	for _, r := range o.Headers {
		for i, f := range m.came {
			if strings.EqualFold(f.Name, r.Name) {
				m.came[i].Value = m.replace(r, f.Value)
			}
		}
	}
	for _, f := range append(o.Set[:len(o.Set):len(o.Set)], o.Add...) {
		value := regexp.MustCompile("x").ReplaceAllString("x", m.template(f.Value))
		m.brought = append(m.brought, Field{f.Name, value})
	}
	for _, r := range o.URL {
		m.target = m.replace(r, m.target)
	}
}

func (m *model) replace(r Rule, in string) string {
	find := r.Find
	if strings.Contains(r.Flags, "l") {
		find = regexp.QuoteMeta(find)
	}
	if strings.Contains(r.Flags, "i") {
		find = "(?i)" + find
	}
	re := regexp.MustCompile(find)
	if strings.Contains(r.Flags, "g") {
		m.searched += len(in) * len(re.FindAllStringIndex(in, -1))
		return re.ReplaceAllString(in, m.template(r.Put))
	}
	match := re.FindStringSubmatchIndex(in)
	if match == nil {
		return in
	}
	return in[:match[0]] + string(re.ExpandString(nil, m.template(r.Put), in, match)) + in[match[1]:]
}

// template is a text as package regexp has it.
func (m *model) template(text string) string {
	return regexp.MustCompile(`\$(\$|&|[0-9]+|[a-z_]+|\{[^}]*\})`).ReplaceAllStringFunc(text, func(s string) string {
		name := strings.Trim(s[1:], "{}")
		if name == "$" {
			return "$$"
		}
		if name == "&" {
			name = "0"
		}
		if _, err := strconv.Atoi(name); err == nil {
			return "${" + name + "}"
		}
		return strings.ReplaceAll(m.vars[name], "$", "$$")
	})
}

// text is the head that comes out: no line with a control byte.
func (m *model) text() string {
	var b strings.Builder
	for _, fields := range [][]Field{m.came, m.brought} {
		for _, f := range fields {
			if !strings.ContainsAny(f.Value, "\r\n\x00") {
				b.WriteString(f.Name + ": " + f.Value + "\n")
			}
		}
	}
	return b.String()
}

// dice makes random rules and heads, of few letters so that much matches.
type dice struct{ *rand.Rand }

func (d dice) pick(of ...string) string { return of[d.IntN(len(of))] }

func (d dice) name() string {
	name := d.pick("Server", "Via", "Set-Cookie", "X-A", "X-B", "X-Ab", "X-Forwarded-For", "A", "Q^", "Q~", strings.Repeat("L", 70))
	switch d.IntN(3) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return strings.ToLower(name)
	}
	return name
}

func (d dice) some(n int, one func() string) string {
	var b strings.Builder
	for range d.IntN(n + 1) {
		b.WriteString(one())
	}
	return b.String()
}

func (d dice) value() string {
	return strings.TrimSpace(d.some(12, func() string { return d.pick("a", "b", "ab", "A", ".", "/", "$", "é", "é"[:1]) }))
}

func (d dice) text(groups int) string {
	return d.some(4, func() string {
		switch group := strconv.Itoa(d.IntN(max(groups, 0) + 1)); d.IntN(6) {
		case 0:
			return d.pick("$client/", "${client}", "$host.", "${host}", "${path}", "$request_id-", "$upstreamX")
		case 1:
			return "$$"
		case 2:
			if groups >= 0 {
				return d.pick("$"+group+"x", "${"+group+"}", "$&")
			}
		}
		return d.pick("a", "b", "B", ".", "/", "{", "&")
	})
}

func (d dice) rule(name string) Rule {
	r := Rule{Name: name, Flags: d.pick("", "g", "i", "gi", "l", "gl", "igl")}
	groups := 0
	if strings.Contains(r.Flags, "l") {
		r.Find = d.pick("a", "ab", ".", "$", "A", "")
	} else {
		r.Find = d.pick("a", "ab", "b+", "(a)(b)?", "^a", "b$", "", "a*", "[ab]", "(?i)a", ".", "^a$", "(a|(b))+", "(?:)", "é", `\b`, "//?")
		groups = regexp.MustCompile(r.Find).NumSubexp()
	}
	r.Put = strings.TrimRight(d.text(groups), " ")
	return r
}

func (d dice) options() (o Options) {
	for range d.IntN(3) {
		o.Remove = append(o.Remove, d.name())
	}
	set := make(map[string]bool)
	for range d.IntN(3) {
		if name := d.name(); !set[strings.ToLower(name)] {
			set[strings.ToLower(name)] = true
			o.Set = append(o.Set, Field{name, d.text(-1)})
		}
	}
	for range d.IntN(3) {
		o.Add = append(o.Add, Field{d.name(), d.text(-1)})
	}
	for range d.IntN(6) {
		o.Headers = append(o.Headers, d.rule(d.name()))
	}
	for range d.IntN(3) {
		o.URL = append(o.URL, d.rule(""))
	}
	return o
}

// legalTarget asks the codec.
func legalTarget(target string) bool {
	var r http1.Request
	head := "GET " + target + " HTTP/1.0\r\n\r\n"
	n, fault := r.Parse([]byte(head))
	return fault == 0 && n == len(head) && string(r.Target()) == target && r.Form() == http1.OriginForm
}

func TestAgainstModel(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	d := dice{rand.New(rand.NewPCG(s, 0))}
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	v := new(Vars) // its room is used again and again
	for round := range rounds {
		vars := map[string]string{"client": d.value(), "host": d.value(), "path": "/" + d.value(), "request_id": d.value(), "upstream": d.value()}
		if d.IntN(8) == 0 {
			vars["path"] += d.pick("\r\nX: y", "\n", "\x00")
		}
		v.Client, v.Host, v.Path = []byte(vars["client"]), []byte(vars["host"]), []byte(vars["path"])
		v.RequestID, v.Upstream = []byte(vars["request_id"]), []byte(vars["upstream"])

		m := model{target: "/" + d.some(6, func() string { return d.pick("a", "b", "A", "/", ".", "?") }), vars: vars}
		target, lines := m.target, ""
		for range d.IntN(8) {
			f := Field{d.name(), d.value()}
			m.came = append(m.came, f)
			lines += f.Name + ": " + f.Value + "\n"
		}
		h := parse(t, Request, lines)

		// One set of rules, or two or three joined.
		var all []Options
		var rules *Rules
		for range 1 + d.IntN(3) {
			o := d.options()
			all = append(all, o)
			r, err := Compile(o, Request)
			if err != nil {
				t.Fatalf("seed %d, round %d: %q: %v", s, round, o, err)
			}
			rules = Join(rules, r)
			m.apply(&o)
		}

		if m.searched > mostSearched {
			continue
		}
		if got, want := applied(rules, h, v), m.text(); got != want {
			t.Fatalf("seed %d, round %d: rules %q\n on %q\n with %q\n make %q\n not  %q", s, round, all, lines, vars, got, want)
		}
		out, changed, ok := rules.URL(nil, []byte(target), v)
		switch {
		case changed && ok != legalTarget(m.target),
			changed && ok && string(out) != m.target,
			!changed && (target != m.target || out != nil):
			t.Fatalf("seed %d, round %d: rules %q\n on %q\n with %q\n make %q, %v, %v\n not  %q", s, round, all, target, vars, out, changed, ok, m.target)
		}
		for _, f := range m.came { // trailers
			out, changed, ok := rules.Value(nil, []byte(f.Name), []byte(f.Value), v)
			if changed && ok && bytes.ContainsAny(out, "\r\n\x00") {
				t.Fatalf("seed %d, round %d: rules %q\n on trailer %q\n make %q", s, round, all, f, out)
			}
		}
	}
}
