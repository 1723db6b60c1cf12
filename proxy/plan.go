//go:build linux

package proxy

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"redoubt/netloop/http1"
	"redoubt/proxy/config"
	"redoubt/proxy/filter"
)

// plan is a configuration that is in force. It never changes, and the exchanges
// that have begun with it keep it to their end.
type plan struct {
	config    *config.Config
	filter    *filter.Filter // nil: everybody is let in
	upstreams []*upstream
	routes    []*route
	hosts     map[string][]*route // routes of a host, lower case, in order
	suffixes  map[string][]*route // those of ".shop.example", for hosts that end so
	any       []*route            // those for other hosts
	notes     bool                // the log or rules ask for what is in notes
}

// route says where requests go, and what is done to them.
type route struct {
	*config.Route
	number int
	to     *upstream
	path   string // without the *
	prefix bool   // any rest may follow
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
	return p, nil
}

// index sorts routes by host. A list holds all routes that may match its hosts,
// in the file's order: for a host also those of the patterns it fits.
func (p *plan) index() {
	for _, r := range p.routes {
		switch host := r.Host; {
		case host == "":
		case strings.HasPrefix(host, "*."):
			p.suffixes[host[1:]] = nil
		default:
			p.hosts[host] = nil
		}
	}
	for _, r := range p.routes {
		suffix, wild := strings.CutPrefix(r.Host, "*")
		if r.Host == "" {
			p.any = append(p.any, r)
		}
		for host := range p.hosts {
			if r.Host == "" || r.Host == host || wild && len(host) > len(suffix) && strings.HasSuffix(host, suffix) {
				p.hosts[host] = append(p.hosts[host], r)
			}
		}
		for s := range p.suffixes {
			if r.Host == "" || wild && strings.HasSuffix(s, suffix) {
				p.suffixes[s] = append(p.suffixes[s], r)
			}
		}
	}
}

// match is the first route for a request; nil if there is none.
func (p *plan) match(r *http1.Request) *route {
	list := p.any
	if len(p.hosts)+len(p.suffixes) > 0 {
		list = p.ofHost(r.Authority())
	}
	path := r.Path()
	for _, r := range list {
		if r.takes(path) {
			return r
		}
	}
	return nil
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

// ofHost are the routes that may match a host.
func (p *plan) ofHost(authority []byte) []*route {
	var lower [http1.MaxHost]byte
	host, _, ok := http1.SplitAuthority(authority)
	if !ok {
		return p.any
	}
	host = bytes.TrimSuffix(host, []byte(".")) // an absolute name
	n := copy(lower[:], host)
	for i, c := range lower[:n] {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	host = lower[:n]
	if list, ok := p.hosts[string(host)]; ok {
		return list
	}
	for len(p.suffixes) > 0 {
		i := bytes.IndexByte(host, '.')
		if i < 0 {
			break
		}
		if list, ok := p.suffixes[string(host[i:])]; ok && i > 0 {
			return list
		}
		host = host[i+1:]
	}
	return p.any
}

// trusted tells whether an address may speak for clients.
func (p *plan) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(p.config.Trust, func(n netip.Prefix) bool { return n.Contains(a) })
}
