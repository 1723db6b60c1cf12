package filter

import "sync/atomic"

// Rule is one thing for which requests are refused.
type Rule struct {
	kind string
	name string
	hits atomic.Uint64
	dry  atomic.Uint64
}

// What a rule may be about, in the order in which they are asked.
const (
	connectionsKind = "connections"
	networkKind     = "network"
	rateKind        = "rate"
	methodKind      = "method"
	pathKind        = "path"
	headerKind      = "header"
)

// Kind is what the rule is about: connections, network, rate, method, path or
// header.
func (r *Rule) Kind() string { return r.kind }

// Name tells the rule from all others of its filter: "connections", "network
// 198.51.100.0/24", "rate", "method TRACE", "path /.git/*", "header User-Agent:
// (?i)badbot".
func (r *Rule) Name() string { return r.name }

// Hits is how many requests it has refused.
func (r *Rule) Hits() uint64 { return r.hits.Load() }

// DryHits is how many it would have refused, had it not been a dry run.
func (r *Rule) DryHits() uint64 { return r.dry.Load() }
