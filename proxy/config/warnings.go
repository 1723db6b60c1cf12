package config

import (
	"fmt"
	"net/netip"
	"strings"

	"redoubt/internal/jsonc"
	"redoubt/netloop/http1"
)

// mostWarnings are told of one file.
const mostWarnings = 20

// warn tells of what is right, but hardly meant.
func (r *reader) warn(v jsonc.Value) {
	tell := r.options.Warn
	if tell == nil {
		return
	}
	n := 0
	note := func(place jsonc.Value, format string, args ...any) {
		if n++; n <= mostWarnings {
			tell(place.Errorf(format, args...).Error())
		}
	}
	texts := func(check func(text string, place jsonc.Value), names ...string) {
		if list, ok := at(v, names...); ok {
			_ = each(func(text string, place jsonc.Value) error { check(text, place); return nil })(list)
		}
	}
	network := func(text string, place jsonc.Value) {
		if p, err := netip.ParsePrefix(text); err == nil && p != p.Masked() {
			note(place, "%q means %s: bits beyond the first %d do not count", text, p.Masked(), p.Bits())
		}
	}
	texts(network, "trust")
	texts(network, "block", "networks")
	texts(func(text string, place jsonc.Value) {
		if upper := strings.ToUpper(text); upper != text {
			note(place, "%q refuses nobody who says %s: in methods case counts", text, upper)
		}
	}, "block", "methods")
	r.warnOfBodies(note)
	s := shadows{first: make(map[reach]*routeReading)}
	for _, route := range r.routes {
		if before := s.over(route); before != nil {
			note(route.place, "route %q gets no requests: route %q, which stands before it, takes them all", route.Name, before.Name)
		}
	}
	if n > mostWarnings {
		tell(fmt.Sprintf("... and %d more", n-mostWarnings))
	}
}

// shadows finds routes for which earlier ones leave no requests.
type shadows struct {
	first   map[reach]*routeReading
	lengths [http1.MaxTarget + 1]bool // of prefixes that there are: no others need be looked up
}

// reach is what a route takes: hosts that are, or end in, a text; and paths that
// are, or begin with, another.
type reach struct {
	host, path   string
	ends, begins bool
}

// over is the first route so far that takes all that a route could. It takes the
// route in.
func (s *shadows) over(route *routeReading) (before *routeReading) {
	var own reach
	own.host, own.ends = strings.CutPrefix(route.Host, "*")
	own.path, own.begins = strings.CutSuffix(route.Path, "*")
	own.ends = own.ends || route.Host == ""
	own.begins = own.begins || route.Path == ""

	s.hosts(own, func(wider reach) {
		if before == nil {
			before = s.first[wider]
		}
	})
	if before == nil {
		s.first[own] = route
		s.lengths[len(own.path)] = s.lengths[len(own.path)] || own.begins
	}
	return before
}

// hosts yields what takes all that own does and is known to be taken, maybe.
func (s *shadows) hosts(own reach, yield func(reach)) {
	if !own.ends {
		s.paths(own, yield)
	}
	host := own.host
	own.ends = true
	for i := range len(host) {
		if host[i] == '.' {
			own.host = host[i:]
			s.paths(own, yield)
		}
	}
	own.host = ""
	s.paths(own, yield)
}

func (s *shadows) paths(own reach, yield func(reach)) {
	if !own.begins {
		yield(own)
	}
	path := own.path
	own.begins = true
	for n := range len(path) + 1 {
		if s.lengths[n] {
			own.path = path[:n]
			yield(own)
		}
	}
}
