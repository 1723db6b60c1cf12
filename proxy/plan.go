//go:build linux

package proxy

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"redoubt/netloop/http1"
	"redoubt/proxy/body"
	"redoubt/proxy/config"
	"redoubt/proxy/filter"
)

// plan is a configuration that is in force. It never changes, and the exchanges
// that have begun with it keep it to their end.
type plan struct {
	config    *config.Config
	shelf     *body.Shelf    // rules of bodies; it goes on in the next plan
	filter    *filter.Filter // nil: everybody is let in
	upstreams []*upstream
	routes    []*route
	hosts     map[string][]*route // routes of a host, in small letters
	suffixes  map[string][]*route // those of ".shop.example", for hosts that end so
	any       []*route            // those of any host
	notes     bool                // the log or rules ask for what is in notes
}

// route says where requests go, and what is done to them.
type route struct {
	*config.Route
	number int
	to     *upstream
	path   string // without the *
	prefix bool   // any rest may follow

	asked, answers *body.Rules // of bodies; nil: they pass as they are
}

// newPlan compiles a configuration. Servers and the filter's state go on where
// before, which may be nil, has the same.
func newPlan(c *config.Config, before *plan, loops int) (*plan, error) {
	p := &plan{config: c, notes: c.Log != nil, hosts: make(map[string][]*route), suffixes: make(map[string][]*route)}
	var was *filter.Filter
	known := make(map[string]*origin)
	if before != nil {
		was = before.filter
		for _, u := range before.upstreams {
			for _, o := range u.origins {
				known[u.Name+" "+o.name] = o
			}
		}
	}
	if c.Block != nil {
		f, err := filter.New(*c.Block, was)
		if err != nil {
			return nil, err
		}
		p.filter = f
	}
	byConfig := make(map[*config.Upstream]*upstream)
	for i, uc := range c.Upstreams {
		if n := uc.Connections; n > 0 && n < loops {
			return nil, fmt.Errorf("upstreams.%s.connections: %d is fewer than the %d event loops, which share them: allow as many, or use fewer --workers", uc.Name, n, loops)
		}
		u := &upstream{Upstream: uc, number: i}
		for _, name := range uc.Servers {
			o := known[uc.Name+" "+name]
			if o == nil {
				o = newOrigin(name, loops)
			}
			u.origins = append(u.origins, o)
		}
		p.upstreams = append(p.upstreams, u)
		byConfig[uc] = u
	}
	for i, rc := range c.Routes {
		r := &route{Route: rc, number: i, to: byConfig[rc.Upstream]}
		r.path, r.prefix = strings.CutSuffix(rc.Path, "*")
		p.routes = append(p.routes, r)
		p.notes = p.notes || r.Request != nil || r.Response != nil
	}
	p.index()
	p.fillShelf(before)
	return p, nil
}

// fillShelf finds the rules of bodies, and compiles some.
func (p *plan) fillShelf(before *plan) {
	if p.shelf = new(body.Shelf); before != nil {
		p.shelf = before.shelf
	}
	var wanted []body.Options
	var whose []**body.Rules
	for _, r := range p.routes {
		if r.RequestBody != nil {
			wanted, whose = append(wanted, *r.RequestBody), append(whose, &r.asked)
		}
		if r.ResponseBody != nil {
			wanted, whose = append(wanted, *r.ResponseBody), append(whose, &r.answers)
		}
	}
	for i, rules := range p.shelf.Fill(int(p.config.Limits.Rules), wanted) {
		*whose[i] = rules
	}
	p.notes = p.notes || len(wanted) > 0
}

// index sorts routes by host. Each stands in one list, and lists have the file's
// order.
func (p *plan) index() {
	for _, r := range p.routes {
		switch suffix, wild := strings.CutPrefix(r.Host, "*"); {
		case wild: // "*.shop.example"
			p.suffixes[suffix] = append(p.suffixes[suffix], r)
		case r.Host != "":
			p.hosts[r.Host] = append(p.hosts[r.Host], r)
		default:
			p.any = append(p.any, r)
		}
	}
}

// match is the first route for a request; nil if there is none.
func (p *plan) match(r *http1.Request) *route {
	path := r.Path()
	best := earlier(nil, p.any, path)
	if len(p.hosts)+len(p.suffixes) == 0 {
		return best
	}
	var room [http1.MaxHost]byte
	host := lowerHost(room[:0], r.Authority())
	best = earlier(best, p.hosts[string(host)], path)
	for i := 1; i < len(host) && len(p.suffixes) > 0; i++ { // a name before the first dot there must be
		if host[i] == '.' {
			best = earlier(best, p.suffixes[string(host[i:])], path)
		}
	}
	return best
}

// earlier is the first route of a list that takes a path, if it stands before
// best, which may be nil; else best.
func earlier(best *route, list []*route, path []byte) *route {
	for _, r := range list {
		switch {
		case best != nil && r.number > best.number:
			return best
		case r.takes(path):
			return r
		}
	}
	return best
}

// lowerHost appends the host of an authority, in small letters and without the
// dot at the end of an absolute name.
func lowerHost(room, authority []byte) []byte {
	host, _, ok := http1.SplitAuthority(authority)
	if !ok {
		return nil
	}
	for _, c := range bytes.TrimSuffix(host, []byte(".")) {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		room = append(room, c)
	}
	return room
}

func (r *route) takes(path []byte) bool {
	switch {
	case r.Path == "":
		return true
	case r.prefix:
		return len(path) >= len(r.path) && string(path[:len(r.path)]) == r.path
	}
	return string(path) == r.path
}

// trusted tells whether an address may speak for clients.
func (p *plan) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(p.config.Trust, func(n netip.Prefix) bool { return n.Contains(a) })
}
