package nginxconf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// plan is what is written in the end.
type plan struct {
	listen []string // empty: what is usual
	any    *server  // answers hosts that no server names; nil: nobody does
	routes []*route
	top    object // what holds for all: limits, timeouts, block, trust
	common *bodies
}

// route is one as it is written.
type route struct {
	host, path string
	upstream   *upstream
	upgrade    bool
	named      bool // the server is told its own name, not the client's Host
	request    object
	response   object
	bodies     *bodies
	location   *location
}

// makeRoutes makes them in the order in which nginx looks: exact hosts, then the
// longest ends of hosts, then the server for any; in each its locations.
func (t *translator) makeRoutes() {
	type place struct {
		serverName
		s *server
	}
	var places []place
	servers := t.carried()
	for _, s := range servers {
		for _, n := range s.names {
			if i := slices.IndexFunc(places, func(p place) bool { return p.host == n.host }); i >= 0 {
				t.notes.add(n.from, "%s belongs to the server of %s:%d already; routes do not know the port a request came by", n.host, places[i].from.file, places[i].from.line)
				continue
			}
			places = append(places, place{n, s})
		}
		if len(s.names) == 0 && s != t.plan.any {
			t.notes.add(s.level.self, "no host leads there; it is left out")
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Compare(rank(a.host), rank(b.host))
	})
	var anyRoutes []*route
	if t.plan.any != nil {
		anyRoutes = t.routesOf(t.plan.any, "")
	}
	for _, p := range places {
		routes := t.routesOf(p.s, p.host)
		if len(servers) == 1 && p.s == t.plan.any && sameRoutes(routes, anyRoutes) {
			continue // the routes for any host do it
		}
		if t.plan.any != nil && p.s != t.plan.any && !slices.ContainsFunc(p.s.locations, func(l *location) bool { return l.path == "/" && !l.exact }) {
			t.notes.add(p.s.level.self, "paths that none of its locations sends on go to the routes for any host; a route without a path can say otherwise")
		}
		t.plan.routes = append(t.plan.routes, routes...)
	}
	t.plan.routes = append(t.plan.routes, anyRoutes...)
	t.shareBodies()
}

// rank is small for hosts that nginx tries first.
func rank(host string) int {
	if strings.HasPrefix(host, "*") {
		return 1000 - len(host)
	}
	return 0
}

func sameRoutes(a, b []*route) bool {
	return slices.EqualFunc(a, b, func(a, b *route) bool {
		x, y := *a, *b
		x.host, y.host = "", ""
		return inline(x.object("")) == inline(y.object(""))
	})
}

// routesOf are the routes of a server, for one host.
func (t *translator) routesOf(s *server, host string) (list []*route) {
	base := s.constants(t.base, host)
	for _, l := range s.locations {
		if r := t.route(l, base.ofLevel(l.level)); r != nil {
			r.host = host
			list = append(list, r)
		}
	}
	return list
}

// route is what becomes of a location, or nil.
func (t *translator) route(l *location, c constants) *route {
	if !strings.HasPrefix(l.path, "/") || strings.Contains(l.path, "*") {
		t.notes.add(l.from, "no path such as clients send; it is left out")
		return nil
	}
	r := &route{path: l.pattern(), location: l}
	if !t.matches(l.from, "path", r.path) {
		return nil
	}
	if l.pass == nil {
		r.upstream = t.nobody()
	} else {
		to := t.target(l.pass, c)
		if to == nil {
			return nil
		}
		r.upstream = to.upstream
		c["proxy_host"], c["proxy_port"] = to.host, to.port
		t.request(r, to, c)
		t.response(r, to, c)
	}
	r.bodies = t.bodies(l.level, c)
	t.met[l.from] = true
	return r
}

// nobody is the server of rules that came without any.
func (t *translator) nobody() *upstream {
	if u := t.upstream("origin"); u != nil {
		return u
	}
	u := &upstream{name: "origin", servers: []string{"127.0.0.1:9000"}}
	t.upstreams = append(t.upstreams, u)
	t.notes.list = append(t.notes.list, Note{Text: "there is no proxy_pass: put your server in the place of 127.0.0.1:9000 in \"upstreams\"", order: -1})
	return u
}

// shareBodies writes rules that all routes have in common once.
func (t *translator) shareBodies() {
	routes := t.plan.routes
	if len(routes) < 2 || routes[0].bodies == nil {
		return
	}
	first := inline(routes[0].bodies.object())
	for _, r := range routes {
		if r.bodies == nil || inline(r.bodies.object()) != first {
			return
		}
	}
	t.plan.common = routes[0].bodies
	for _, r := range routes {
		r.bodies = nil
	}
}

// name is what a route is called in logs and metrics.
func (r *route) name() string {
	path := r.path
	if path == "" {
		path = "/"
	}
	name := strings.TrimSpace(r.host + " " + path)
	if len(name) > 80 {
		name = fmt.Sprintf("%s... line %d", name[:60], r.location.from.line)
	}
	return name
}
