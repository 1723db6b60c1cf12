package nginxconf

import (
	"cmp"
	"slices"
	"strings"
)

// location is one that becomes a route.
type location struct {
	path  string
	exact bool
	from  *directive
	level *level     // whose settings hold: its own, or those of a named location
	pass  *directive // its proxy_pass; nil: rules alone have been given
}

// kind is what a location's arguments say: the modifier, and what it is for.
func kind(d *directive) (modifier, path string) {
	if len(d.args) > 1 {
		return d.args[0], d.args[1]
	}
	for _, modifier := range []string{"=", "^~", "~*", "~", "@"} {
		if rest, ok := strings.CutPrefix(d.arg(0), modifier); ok {
			return modifier, rest
		}
	}
	return "", d.arg(0)
}

// locations finds those of a level that become routes, with those inside them.
func (t *translator) locations(l *level) (list []*location) {
	for _, d := range l.own("location") {
		modifier, path := kind(d)
		if modifier == "~" || modifier == "~*" {
			t.left[d] = "no route can be for an expression: its requests go where the beginnings of paths lead. What it does for them has to go into a route for such a beginning"
			if refuses(l.inner(d)) {
				t.left[d] = "no route can be for an expression: nginx lets nobody in, and here ANYBODY IS LET IN. See \"block.paths\" for paths, and their beginnings, that nobody may ask for"
			}
			continue
		}
		if modifier == "@" {
			continue // found where try_files names it
		}
		in := l.inner(d)
		if loc := t.location(in, path, modifier == "="); loc != nil {
			list = append(list, loc)
		} else {
			t.left[d] = ""
		}
		list = append(list, t.locations(in)...)
	}
	return list
}

// location is what becomes of one, or nil if it sends nothing on.
func (t *translator) location(l *level, path string, exact bool) *location {
	if len(l.own("return")) > 0 || refuses(l) {
		return nil
	}
	loc := &location{path: path, exact: exact, from: l.self, level: l}
	if pass := l.own("proxy_pass"); len(pass) > 0 {
		loc.pass = pass[0]
		return loc
	}
	for _, d := range l.own("try_files") {
		if len(d.args) == 0 {
			continue
		}
		for outer := l.outer; outer != nil; outer = outer.outer {
			for _, named := range outer.own("location") {
				if pass := outer.inner(named).own("proxy_pass"); named.arg(0) == d.args[len(d.args)-1] && strings.HasPrefix(named.arg(0), "@") && len(pass) > 0 {
					t.notes.add(d, "there are no files here: all its requests go where %s sends them", named.arg(0))
					t.handled[d], t.met[named] = true, true
					loc.level, loc.pass = outer.inner(named), pass[0]
					return loc
				}
			}
		}
	}
	if t.rulesOnly && t.hasRules(l) {
		return loc
	}
	return nil
}

// hasRules tells whether a level rewrites bodies.
func (t *translator) hasRules(l *level) bool {
	return slices.ContainsFunc(filters(), func(f filter) bool { return l.all(f.name) != nil })
}

// pattern is the path as a route has it.
func (l *location) pattern() string {
	path := sent(l.path)
	switch {
	case l.exact:
		return path
	case path == "/":
		return ""
	}
	return path + "*"
}

// sent is a path as clients send it; nginx has it with escapes resolved.
func sent(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("#?%\"<>", c) >= 0 {
			b.WriteString("%" + hex[c>>4:c>>4+1] + hex[c&15:c&15+1])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// sortLocations puts them as nginx looks for them: exact ones, then the longest.
func sortLocations(list []*location) {
	slices.SortStableFunc(list, func(a, b *location) int {
		if a.exact != b.exact {
			if a.exact {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(b.path), len(a.path))
	})
}
