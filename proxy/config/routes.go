package config

import (
	"redoubt/internal/jsonc"
)

// maxName bounds the names of upstreams and routes: they are labels of metrics.
const maxName = 100

// isName tells whether a text can be told in logs and metrics.
func isName(text string) bool {
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			return false
		}
	}
	return text != "" && len(text) <= maxName
}

func badName(at jsonc.Value, name string) error {
	return at.Errorf("%.40q is no name; use 1 to %d bytes, without control characters", name, maxName)
}

func (r *reader) readUpstreams(v jsonc.Value) error {
	return v.Members(`"upstreams"`, func(name string, at, v jsonc.Value) error {
		if !isName(name) {
			return badName(at, name)
		}
		u := &Upstream{Name: name}
		r.Upstreams = append(r.Upstreams, u)
		err := v.Fields("an upstream", r.upstream(u))
		u.Ready = min(u.Ready, u.Keepalive)
		return err
	})
}

func (r *reader) readRoutes(v jsonc.Value) error {
	return v.Elements(func(_ int, v jsonc.Value) error {
		to := &routeReading{Route: new(Route), place: v}
		r.routes = append(r.routes, to)
		return v.Fields("a route", r.route(to))
	})
}

func (r *reader) readRouteName(to *routeReading) read {
	return func(v jsonc.Value) error {
		name, err := v.Text()
		switch {
		case err != nil || name == "":
			return err
		case !isName(name):
			return badName(v, name)
		case r.names[name]:
			return v.Errorf("another route has the name %.40q; give each its own", name)
		}
		r.names[name] = true
		to.Name = name
		return nil
	}
}
