package nginxconf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object in the order in which it is written. Values are strings,
// raw, objects and lists ([]any) of these.
type object []member

type member struct {
	key   string
	value any
}

// raw is JSON as it is: a number, true.
type raw string

// noted is an element of a list with a comment behind it.
type noted struct {
	value   any
	comment string
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return strings.EqualFold(m.key, key) })
}

// texts is a list of strings.
func texts(list []string) (all []any) {
	for _, text := range list {
		all = append(all, text)
	}
	return all
}

func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string always has a form
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inline is a value on one line, without comments.
func inline(value any) string {
	var parts []string
	switch v := value.(type) {
	case string:
		return quote(v)
	case raw:
		return string(v)
	case noted:
		return inline(v.value)
	case object:
		for _, m := range v {
			parts = append(parts, quote(m.key)+": "+inline(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, e := range v {
			parts = append(parts, inline(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	panic(fmt.Sprintf("nginxconf: a %T in a plan", value))
}

// hasComment tells whether a value must be spread over lines.
func hasComment(value any) bool {
	switch v := value.(type) {
	case noted:
		return v.comment != "" || hasComment(v.value)
	case object:
		return slices.ContainsFunc(v, func(m member) bool { return hasComment(m.value) })
	case []any:
		return slices.ContainsFunc(v, hasComment)
	}
	return false
}

// width is how long a line may be, before it is spread over several.
const width = 120

// lines writes a value, whose first line is begun already. Its comment comes behind it,
// or behind the brace that opens it.
func lines(w *strings.Builder, value any, indent string, last bool) {
	comment := ""
	if n, ok := value.(noted); ok {
		value = n.value
		if n.comment != "" {
			comment = "   // " + n.comment
		}
	}
	text, comma := inline(value), ","
	if last {
		comma = ""
	}
	o, isObject := value.(object)
	list, isList := value.([]any)
	if !isObject && !isList || !hasComment(value) && len(indent)+len(text) <= width {
		w.WriteString(text + comma + comment + "\n")
		return
	}
	inner := indent + "  "
	w.WriteString(text[:1] + comment + "\n")
	for i, m := range o {
		w.WriteString(inner + quote(m.key) + ": ")
		lines(w, m.value, inner, i == len(o)-1)
	}
	for i, e := range list {
		w.WriteString(inner)
		lines(w, e, inner, i == len(list)-1)
	}
	w.WriteString(indent + text[len(text)-1:] + comma + "\n")
}

// write writes the plan, and behind it what is not in it.
func (t *translator) write(name string, notes []Note) []byte {
	var root object
	if len(t.plan.listen) > 0 {
		root.add("listen", texts(t.plan.listen))
	}
	root = append(root, t.plan.top...)
	var upstreams object
	for _, u := range t.upstreams {
		if t.uses(u) {
			upstreams.add(u.name, u.object())
		}
	}
	root.add("upstreams", upstreams)
	if t.plan.common != nil {
		root.add("body", t.plan.common.object())
	}
	var routes []any
	names := make(map[string]bool)
	for _, r := range t.plan.routes {
		name := r.name()
		for n := 2; names[name]; n++ {
			name = fmt.Sprintf("%s (%d)", r.name(), n)
		}
		names[name] = true
		routes = append(routes, noted{r.object(name), place(r.location.from)})
	}
	root.add("routes", routes)

	var w strings.Builder
	fmt.Fprintf(&w, "// From %s. What is not in it is told at the end.\n", comment(name))
	lines(&w, root, "", true)
	if len(notes) > 0 {
		w.WriteString("\n// What nginx does besides, or does otherwise:\n")
	}
	for _, n := range notes {
		w.WriteString("//   " + comment(n.String()) + "\n")
	}
	return []byte(w.String())
}

// comment keeps a text on one line, and in UTF-8.
func comment(text string) string {
	return strings.ToValidUTF8(strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text), "?")
}

func place(d *directive) string {
	if d.line == 0 {
		return ""
	}
	return comment(fmt.Sprintf("%s:%d", d.file, d.line))
}

func (t *translator) uses(u *upstream) bool {
	return slices.ContainsFunc(t.plan.routes, func(r *route) bool { return r.upstream == u })
}

func (u *upstream) object() (o object) {
	o.add("servers", texts(u.servers))
	if u.balance != "" {
		o.add("balance", u.balance)
	}
	for _, m := range []struct{ key, value string }{{"keepalive", u.keepalive}, {"connections", u.connections}, {"fails", u.fails}} {
		if m.value != "" {
			o.add(m.key, raw(m.value))
		}
	}
	if u.retry > 0 {
		o.add("retry", timeText(u.retry))
	}
	if u.dial > 0 {
		o.add("dial", timeText(u.dial))
	}
	return o
}

func (r *route) object(name string) (o object) {
	if name != "" {
		o.add("name", name)
	}
	var match object
	if r.host != "" {
		match.add("host", r.host)
	}
	if r.path != "" {
		match.add("path", r.path)
	}
	if len(match) > 0 {
		o.add("match", match)
	}
	o.add("upstream", r.upstream.name)
	if r.upgrade {
		o.add("upgrade", raw("true"))
	}
	if len(r.request) > 0 {
		o.add("request", r.request)
	}
	response := slices.Clone(r.response)
	if r.bodies != nil {
		response.add("body", r.bodies.object())
	}
	if len(response) > 0 {
		o.add("response", response)
	}
	return o
}

// object is always with match, for longest is the proxy's default.
func (b *bodies) object() (o object) {
	if !slices.Equal(b.types, []string{"text/html"}) {
		o.add("types", texts(b.types))
	}
	o.add("match", "first")
	if b.hold != "" {
		o.add("hold", b.hold)
	}
	var rules []any
	for _, r := range b.rules {
		rule := object{{"find", r.Find}, {"put", r.Put}}
		if r.Flags != "" {
			rule.add("flags", r.Flags)
		}
		rules = append(rules, noted{rule, place(r.from)})
	}
	o.add("rules", rules)
	return o
}
