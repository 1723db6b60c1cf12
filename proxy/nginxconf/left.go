package nginxconf

import (
	"slices"
	"strings"
)

// tellLeft says where requests go whose location sends nothing on in nginx.
func (t *translator) tellLeft() {
	for _, s := range t.carried() {
		t.tellLeftIn(s, s.level)
	}
}

func (t *translator) tellLeftIn(s *server, l *level) {
	for _, d := range l.own("location") {
		modifier, p := kind(d)
		if t.handled[d] {
			continue
		}
		if text, left := t.left[d]; left && text == "" {
			where := "404"
			if to := s.covers(p); to != nil {
				where = "to location " + to.path
			} else if t.plan.any != nil && t.plan.any != s {
				where = "to the routes for any host"
			}
			switch {
			case where == "404":
				t.notes.add(d, "nginx answers by itself (%s); here the answer is 404", does(d.block))
			case refuses(l.inner(d)):
				t.notes.add(d, "nginx lets nobody in; here its requests go %s: ANYBODY IS LET IN. See \"block.paths\", which is for all hosts", where)
			default:
				t.notes.add(d, "nginx answers by itself (%s); here its requests go %s", does(d.block), where)
			}
		}
		if modifier != "~" && modifier != "~*" && modifier != "@" {
			t.tellLeftIn(s, l.inner(d))
		}
	}
}

// covers is the location that a path falls to, or nil.
func (s *server) covers(path string) *location {
	for _, l := range s.locations { // the longest come first
		if !l.exact && strings.HasPrefix(path, l.path) {
			return l
		}
	}
	return nil
}

// paths are those that nobody may ask for, as block has them. It looks at all hosts
// alike, so there must be one server.
func (t *translator) paths() (list []string) {
	if servers := t.carried(); len(servers) == 1 {
		t.refusals(servers[0], servers[0].level, &list)
	}
	return list
}

func (t *translator) refusals(s *server, l *level, list *[]string) {
	for _, d := range l.own("location") {
		modifier, p := kind(d)
		if modifier == "~" || modifier == "~*" || modifier == "@" {
			continue
		}
		below := slices.ContainsFunc(s.locations, func(l *location) bool { return strings.HasPrefix(l.path, p) })
		if _, left := t.left[d]; left && refuses(l.inner(d)) && !below && strings.HasPrefix(p, "/") && !strings.Contains(p, "*") {
			p = sent(p)
			if modifier != "=" {
				p += "*"
			}
			*list = append(*list, p)
			t.handled[d] = true
			t.notes.add(d, "is in \"block.paths\"; the answer is \"block.answer\", 403")
			continue
		}
		t.refusals(s, l.inner(d), list)
	}
}

// refuses tells whether nginx lets nobody into a level.
func refuses(l *level) bool {
	return deniesAll(l) || len(l.own("internal")) > 0 || slices.ContainsFunc(l.own("return"), func(d *directive) bool {
		return slices.Contains([]string{"401", "403", "404", "410", "444"}, d.arg(0))
	})
}

// deniesAll tells whether all are refused before any is let in.
func deniesAll(l *level) bool {
	for _, d := range l.all("allow", "deny") {
		if d.name == "allow" || d.arg(0) == "all" {
			return d.name == "deny"
		}
	}
	return false
}
