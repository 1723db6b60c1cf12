package config

import (
	"fmt"
	"slices"

	"redoubt/internal/jsonc"
	"redoubt/proxy/filter"
	"redoubt/proxy/rewrite"
)

// Options are what a configuration may rely on besides its file.
type Options struct {
	// API is the address of the API in this process. With it there is an
	// upstream "api", which a file without routes sends everything to.
	API string
	// Loops are the event loops that share the connections to a server; 0: as
	// many as there may be.
	Loops int
	// Warn hears, once a configuration is known to be right, of what in it is
	// hardly meant, with its place. nil: nobody does.
	Warn func(text string)
}

const apiName = "api"

// Read reads a file.
func Read(file string, o Options) (*Config, error) {
	text, err := jsonc.Read(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, text, o)
}

// Parse reads a text; name is what errors call it.
func Parse(name string, text []byte, o Options) (*Config, error) {
	v, err := jsonc.Parse(name, text)
	if err != nil {
		if isEmpty(text) {
			err = fmt.Errorf("%s:1:1: there is nothing in it; %s", name, o.least())
		}
		return nil, err
	}
	r := &reader{options: o, names: make(map[string]bool)}
	if err := v.Fields("a configuration", r.fields()); err != nil {
		return nil, err
	}
	if err := r.finish(v); err != nil {
		return nil, err
	}
	r.warn(v)
	return &r.Config, nil
}

// isEmpty tells of a text without a value, but maybe with comments: behind it one
// can stand.
func isEmpty(text []byte) bool {
	_, err := jsonc.Parse("", slices.Concat(text, []byte("\n{}")))
	return err == nil
}

// least is the least that a file needs, in words.
func (o *Options) least() string {
	if o.API != "" {
		return "the least is {}, which sends everything to the API"
	}
	return `the least is {"upstreams": {"origin": {"servers": ["HOST:PORT"]}}}`
}

// reader holds what has been read, and where what can be judged only at the end
// stands.
type reader struct {
	Config
	options Options

	block             filter.Options
	names             map[string]bool // of routes
	routes            []*routeReading
	request, response *rewrite.Rules // of all routes

	bodies, requestBodies, responseBodies *bodyReading // the same
	bodyRules                             []placedRules
}

// routeReading is a route with what its file says.
type routeReading struct {
	*Route
	place, upstreamPlace jsonc.Value
	upstream             string

	requestBodies, responseBodies *bodyReading
}

// finish does what needs the whole file.
func (r *reader) finish(v jsonc.Value) error {
	if err := r.checkProcess(v); err != nil {
		return err
	}
	if r.options.API != "" && r.find(apiName) == nil {
		u := &Upstream{Name: apiName}
		none, err := jsonc.Parse("default", []byte("{}"))
		if err == nil {
			err = none.Fields(apiName, r.upstream(u))
		}
		if err != nil {
			return err
		}
		r.Upstreams = append(r.Upstreams, u)
	}
	if r.blocks() {
		r.Block = &r.block
	}
	if r.Log.File == "" {
		r.Log = nil
	}
	if len(r.routes) == 0 {
		return r.routeAll(v)
	}
	return r.resolve()
}

// routeAll makes the route of a file without any.
func (r *reader) routeAll(v jsonc.Value) error {
	to := r.find(apiName)
	if r.options.API == "" {
		switch len(r.Upstreams) {
		case 0:
			return v.Errorf("there is nobody to send requests to; name the server: \"upstreams\": {\"origin\": {\"servers\": [\"HOST:PORT\"]}}")
		case 1:
			to = r.Upstreams[0]
		default:
			return v.Errorf("there are %d upstreams and no routes, so nobody knows which one to take; add \"routes\": [{\"upstream\": %q}]",
				len(r.Upstreams), r.Upstreams[0].Name)
		}
	}
	route := &Route{Name: "route 1", Upstream: to, Request: r.request, Response: r.response}
	r.Routes = []*Route{route}
	return r.joinBodies(&routeReading{Route: route})
}

// joinBodies finds out what becomes of a route's bodies.
func (r *reader) joinBodies(to *routeReading) (err error) {
	if to.RequestBody, err = r.joinLevels(to.Name+" request", requestTypes, r.requestBodies, to.requestBodies); err == nil {
		to.ResponseBody, err = r.joinLevels(to.Name+" response", answerTypes, r.bodies, r.responseBodies, to.responseBodies)
	}
	return err
}

// resolve finds the upstreams of routes, and gives names to those without.
func (r *reader) resolve() error {
	byName := make(map[string]*Upstream, len(r.Upstreams))
	var names []string
	for _, u := range r.Upstreams {
		byName[u.Name] = u
		names = append(names, u.Name)
	}
	for i, route := range r.routes {
		if route.Upstream = byName[route.upstream]; route.Upstream == nil {
			return route.upstreamPlace.Errorf("no upstream has the name %.40q; %s", route.upstream, jsonc.Choose(route.upstream, names))
		}
		if route.Name == "" {
			route.Name = fmt.Sprintf("route %d", i+1)
			if r.names[route.Name] {
				return route.place.Errorf("another route has the name %q, as this one has by its place; give one of them another name", route.Name)
			}
		}
		// Rules are joined here, for those of all routes may come behind them in
		// the file.
		route.Request = rewrite.Join(r.request, route.Request)
		route.Response = rewrite.Join(r.response, route.Response)
		if err := r.joinBodies(route); err != nil {
			return err
		}
		r.Routes = append(r.Routes, route.Route)
	}
	return nil
}

func (r *reader) find(name string) *Upstream {
	if i := slices.IndexFunc(r.Upstreams, func(u *Upstream) bool { return u.Name == name }); i >= 0 {
		return r.Upstreams[i]
	}
	return nil
}
