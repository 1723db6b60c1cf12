package filter

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/gaissmai/bart"

	"redoubt/netloop/http1"
)

// Error says which option is wrong, and why.
type Error struct {
	Field  string // networks, methods, paths, headers, connections, rate.requests, rate.burst or answer
	Index  int    // in a list; -1 elsewhere
	Reason string
}

func (e *Error) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("%s[%d]: %s", e.Field, e.Index, e.Reason)
}

// builder makes a filter's rules.
type builder struct {
	known map[string]*Rule // of the filter before, by name
	taken map[string]*Rule // of this one: what is said twice is one rule
	rules []*Rule
}

func (b *builder) rule(kind, about string) *Rule {
	name := kind
	if about != "" {
		name += " " + about
	}
	r := b.taken[name]
	if r != nil {
		return r
	}
	if r = b.known[name]; r == nil {
		r = &Rule{kind: kind, name: name}
	}
	b.taken[name] = r
	b.rules = append(b.rules, r)
	return r
}

// build takes the options in order of judgement. running is the limiter of the
// filter before, if it had one.
func (b *builder) build(o Options, running *limiter) (*Filter, *Error) {
	f := &Filter{answer: o.Answer, dry: o.DryRun, most: o.Connections}
	if f.answer == 0 {
		f.answer = 403
	}
	if f.answer != CloseSilently && (f.answer < 400 || f.answer > 599) {
		return nil, &Error{"answer", -1, fmt.Sprintf("%d is no status from 400 to 599", f.answer)}
	}
	if o.Connections < 0 {
		return nil, &Error{"connections", -1, fmt.Sprintf("%d is negative", o.Connections)}
	}
	if o.Connections > 0 {
		f.connections = b.rule(connectionsKind, "")
	}
	if err := b.networks(f, o.Networks); err != nil {
		return nil, err
	}
	if err := b.rate(f, o.Rate, running); err != nil {
		return nil, err
	}
	if err := b.methods(f, o.Methods); err != nil {
		return nil, err
	}
	if err := b.paths(f, o.Paths); err != nil {
		return nil, err
	}
	if err := b.headers(f, o.Headers); err != nil {
		return nil, err
	}
	f.rules = b.rules
	return f, nil
}

func (b *builder) networks(f *Filter, networks []netip.Prefix) *Error {
	for i, p := range networks {
		if !p.IsValid() {
			return &Error{"networks", i, "no network"}
		}
		if a := p.Addr(); a.Is4In6() {
			if p.Bits() < 96 {
				return &Error{"networks", i, fmt.Sprintf("%s is partly IPv4: write IPv4 networks apart", p)}
			}
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		p = p.Masked()
		if f.networks == nil {
			f.networks = new(bart.Table[*Rule])
		}
		f.networks.Insert(p, b.rule(networkKind, p.String()))
	}
	return nil
}

// longest is the longest time that a burst may take to be there again: times
// must not overflow.
const longest = 10 * 365 * 24 * time.Hour

func (b *builder) rate(f *Filter, r Rate, running *limiter) *Error {
	switch {
	case r == Rate{}:
		return nil
	case !(r.Requests > 0 && r.Requests <= 1e6): // NaN is neither
		return &Error{"rate.requests", -1, fmt.Sprintf("%v is not more than 0 and at most a million", r.Requests)}
	case r.Burst < 0:
		return &Error{"rate.burst", -1, fmt.Sprintf("%d is negative", r.Burst)}
	case r.Burst == 0:
		r.Burst = max(1, int(r.Requests))
	}
	interval := math.Round(float64(time.Second) / r.Requests)
	if interval*float64(r.Burst) > float64(longest) {
		return &Error{"rate.burst", -1, fmt.Sprintf("%d requests at %v a second take more than ten years", r.Burst, r.Requests)}
	}
	f.rate = b.rule(rateKind, "")
	each := time.Duration(interval)
	limit := each * time.Duration(r.Burst)
	if running != nil && running.interval == each && running.limit == limit {
		f.limiter = running
	} else {
		f.limiter = newLimiter(each, limit, limiterSets)
	}
	return nil
}

func (b *builder) methods(f *Filter, methods []string) *Error {
	f.methods = make(map[string]*Rule, len(methods))
	for i, m := range methods {
		if !http1.IsToken(m) || len(m) > http1.MaxMethod {
			return &Error{"methods", i, fmt.Sprintf("%q is no method", m)}
		}
		f.methods[m] = b.rule(methodKind, m)
	}
	return nil
}

func (b *builder) paths(f *Filter, patterns []string) *Error {
	f.paths.exact = map[string]*Rule{}
	for i, p := range patterns {
		switch star := strings.IndexByte(p, '*'); {
		case !strings.HasPrefix(p, "/"):
			return &Error{"paths", i, fmt.Sprintf("%q does not begin with a slash", p)}
		case star >= 0 && star < len(p)-1:
			return &Error{"paths", i, fmt.Sprintf("%q: a star may only stand at the end", p)}
		case strings.ContainsAny(p, "?#"):
			return &Error{"paths", i, fmt.Sprintf("%q: a path has no ? or #, and queries are not looked at", p)}
		}
		f.paths.add(p, b.rule(pathKind, p))
	}
	f.paths.link()
	return nil
}

func (b *builder) headers(f *Filter, headers []Header) *Error {
	said := make(map[*Rule]bool)
	for i, h := range headers {
		switch {
		case !http1.IsToken(h.Name):
			return &Error{"headers", i, fmt.Sprintf("%q is no name of a field", h.Name)}
		case h.Match == nil:
			return &Error{"headers", i, "nothing to match"}
		}
		rule := b.rule(headerKind, h.Name+": "+h.Match.String())
		if said[rule] { // a dry run would count it twice
			continue
		}
		said[rule] = true
		f.headers = append(f.headers, header{
			known: http1.KnownField(h.Name),
			name:  []byte(h.Name),
			match: h.Match,
			needs: needleOf(h.Match),
			rule:  rule,
		})
	}
	return nil
}
