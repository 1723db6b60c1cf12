package nginxconf

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"redoubt/internal/jsonc"
	"redoubt/proxy/body"
	"redoubt/proxy/subst"
)

// bodies is what is done to the bodies of a route's answers.
type bodies struct {
	types []string
	hold  string // as replace_filter_max_buffered_size says, or ""
	rules []bodyRule
}

// bodyRule is a rule, and where it comes from.
type bodyRule struct {
	subst.Rule
	from *directive
}

// filter is one of nginx's modules that rewrite bodies.
type filter struct {
	name string // its directives begin with it
	rule func(t *translator, l *level, d *directive, c constants) (subst.Rule, bool)
}

// filters are in the order in which their rules are written.
func filters() []filter {
	return []filter{{"sub_filter", (*translator).subFilter}, {"subs_filter", (*translator).subsFilter}, {"replace_filter", (*translator).replaceFilter}}
}

// bodies is what holds in a level. It is nil if there are no rules.
func (t *translator) bodies(l *level, c constants) *bodies {
	b := &bodies{types: []string{"text/html"}}
	var others []*directive // the first of each filter
	var forgets *directive  // of one that takes Last-Modified away
	for _, f := range filters() {
		list := l.all(f.name)
		if len(list) == 0 || t.skips(l, f, list[0]) {
			continue
		}
		others = append(others, list[0])
		for _, d := range list {
			rule, ok := f.rule(t, l, d, c)
			if ok {
				b.rules = append(b.rules, bodyRule{rule, d})
			}
			t.rules[d] = t.rules[d] || !ok
		}
		t.types(b, l.all(f.name+"_types"))
		if kept := l.one(f.name + "_last_modified"); kept == nil || kept.arg(0) != "on" && kept.arg(0) != "keep" {
			forgets = list[0]
		}
	}
	if b.rules = t.together(b.rules); len(b.rules) == 0 {
		return nil
	}
	if forgets != nil {
		t.notes.once(forgets, "the Last-Modified of pages that are changed stays here; where rules change often, \"response\": {\"remove\": [\"Last-Modified\"]} takes it away, as nginx does by default")
	}
	if len(others) > 1 {
		t.notes.add(others[1], "nginx lets %s and %s work one after the other; here all rules look at the same text, none at what another has put in, and their types are taken together",
			others[0].name, others[1].name)
	}
	t.hold(b, l)
	t.order(l, b.rules)
	return b
}

// together leaves out rules that are too many for one set.
func (t *translator) together(rules []bodyRule) []bodyRule {
	var plain []subst.Rule
	for _, r := range rules {
		plain = append(plain, r.Rule)
	}
	err := subst.Check(plain)
	bad, ok := errors.AsType[*subst.RuleError](err)
	switch {
	case err == nil:
		return rules
	case !ok:
		panic(fmt.Sprintf("nginxconf: rules that were checked one by one: %v", err))
	}
	for _, r := range rules[min(bad.Rule, len(rules)-1):] {
		t.notes.add(r.from, "%s; it is left out", bad.Reason)
		t.rules[r.from] = true
	}
	return t.together(rules[:min(bad.Rule, len(rules)-1)])
}

// skips knows replace_filter_skip and subs_filter_bypass.
func (t *translator) skips(l *level, f filter, first *directive) bool {
	for _, name := range []string{f.name + "_skip", f.name + "_bypass"} {
		d := l.one(name)
		switch {
		case d == nil:
		case strings.Contains(strings.Join(d.args, ""), "$"):
			t.notes.add(d, "rules cannot depend on a request; here they always hold. A route of its own for such requests is a way out")
		case slices.ContainsFunc(d.args, func(arg string) bool { return arg != "" && arg != "0" }):
			t.notes.add(d, "so %s never does anything here, and is left out", first.name)
			return true
		}
	}
	return false
}

// types adds those that nginx rewrites besides text/html.
func (t *translator) types(b *bodies, list []*directive) {
	for _, d := range list {
		for _, name := range d.args {
			switch err := body.ParseType(name); {
			case name == "*":
				b.types = []string{"*"}
			case err != nil:
				t.notes.add(d, "%v; it is left out", err)
			case b.types[0] != "*" && !slices.Contains(b.types, strings.ToLower(name)):
				b.types = append(b.types, strings.ToLower(name))
			}
		}
	}
}

// hold takes over the bound of what replace_filter holds back.
func (t *translator) hold(b *bodies, l *level) {
	d := l.one("replace_filter_max_buffered_size")
	if d == nil || l.all("replace_filter") == nil {
		return
	}
	n, err := jsonc.ParseSize(strings.ToLower(d.arg(0)), 1, maxHold)
	if err != nil {
		t.notes.add(d, "a match needs room to be held back: hold stays 8k, from 1 to %d MB would do", maxHold>>20)
		return
	}
	for _, r := range b.rules {
		n = max(n, int64(len(r.Find)))
	}
	b.hold = sizeText(n)
	t.notes.add(d, "is the longest match here; where one is longer nginx leaves the rest of the body as it is, and here the search goes on at the next byte")
}

const maxHold = 64 << 20

// subFilter is a literal text, of which the case of ASCII letters is ignored.
func (t *translator) subFilter(l *level, d *directive, c constants) (r subst.Rule, ok bool) {
	if len(d.args) != 2 || d.args[0] == "" {
		t.notes.add(d, "takes what is looked for and what is put in its place; the rule is left out")
		return r, false
	}
	find, unknown, err := c.fill(d.args[0])
	if err != nil || unknown != "" {
		t.unknown(d, "looked for", unknown, err)
		return r, false
	}
	put, ok := t.put(d, d.args[1], c, 0, false)
	if !ok {
		return r, false
	}
	r = subst.Rule{Find: find, Put: put, Flags: "l"}
	if hasCase(find) {
		r.Flags = "il"
		if folded, ok := foldASCII(find); ok {
			r.Find, r.Flags = folded, "i"
		}
	}
	if !l.on("sub_filter_once", true) {
		r.Flags = "g" + r.Flags
	}
	return r, t.checked(d, r)
}

// subsFilter is a literal text, or with r or i an expression of PCRE.
func (t *translator) subsFilter(_ *level, d *directive, c constants) (r subst.Rule, ok bool) {
	if len(d.args) < 2 || d.args[0] == "" {
		t.notes.add(d, "takes what is looked for and what is put in its place; the rule is left out")
		return r, false
	}
	flags := d.arg(2)
	r = subst.Rule{Find: d.args[0], Flags: "l"}
	groups := 0
	if strings.ContainsAny(flags, "ri") { // i makes an expression of it, too
		if r, groups, ok = t.expression(d, d.args[0], pcre, strings.Contains(flags, "i")); !ok {
			return r, false
		}
	} else if n := strings.IndexByte(r.Find, '\n'); n >= 0 && n < len(r.Find)-1 {
		t.notes.add(d, "nginx looks at one line at a time, so this never matches there; the rule is left out")
		return r, false
	}
	if r.Put, ok = t.put(d, d.args[1], c, groups, false); !ok {
		return r, false
	}
	if !strings.Contains(flags, "o") {
		r.Flags = "g" + r.Flags
	}
	if ok = t.checked(d, r); ok && !isLiteral(r) && crosses(r.Find) {
		t.notes.add(d, "nginx looks at one line at a time; here a match may go on in the next, for [^...] and \\s take its end. Add \\n to the class, or write [ \\t], where it must not")
	}
	return r, ok
}

// replaceFilter is an expression of sregex.
func (t *translator) replaceFilter(_ *level, d *directive, c constants) (r subst.Rule, ok bool) {
	if len(d.args) < 2 {
		t.notes.add(d, "takes what is looked for and what is put in its place; the rule is left out")
		return r, false
	}
	r, groups, ok := t.expression(d, d.args[0], sregex, strings.Contains(d.arg(2), "i"))
	if !ok {
		return r, false
	}
	if r.Put, ok = t.put(d, d.args[1], c, groups, true); !ok {
		return r, false
	}
	if strings.Contains(d.arg(2), "g") {
		r.Flags = "g" + r.Flags
	}
	return r, t.checked(d, r)
}

// expression is the rule for one, without what is put in, and how many groups it has.
func (t *translator) expression(d *directive, from string, dialect dialect, fold bool) (r subst.Rule, groups int, ok bool) {
	find, letters, err := translate(from, dialect, fold)
	if err != nil {
		t.notes.add(d, "%v; the rule is left out", err)
		return r, 0, false
	}
	if letters {
		t.notes.add(d, "letters beyond ASCII are one each here, in classes and before *, +, ? and {}; nginx has their bytes there")
	}
	parsed, err := syntax.Parse(find, syntax.Perl)
	if err != nil {
		panic("nginxconf: an expression that was parsed before: " + find)
	}
	r.Find = find
	if fold && hasCase(find) {
		r.Flags = "i"
	}
	return r, parsed.MaxCap(), true
}

// checked is whether the proxy takes a rule.
func (t *translator) checked(d *directive, r subst.Rule) bool {
	err := subst.Check([]subst.Rule{r})
	if !utf8.ValidString(r.Find + r.Put) {
		err = errors.New("bytes that are no UTF-8 cannot be written here")
	}
	if err != nil {
		t.notes.add(d, "%s; the rule is left out", strings.TrimPrefix(err.Error(), "rule 1: "))
	}
	return err == nil
}
