//go:build linux

package proxy

import (
	"strconv"

	"redoubt/internal/metrics"
	"redoubt/proxy/body"
)

// writeBodies writes what has become of bodies. A rule is named by the first route
// that has it, the way that the body goes, and its number there, from 1; one that has
// met nothing is left out, for there may be thousands.
func (p *Proxy) writeBodies(m *metrics.Writer) {
	m.Family("redoubt_proxy_bodies_rewritten_total", metrics.KindCounter, "Bodies of answers that went through rules")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.edited.Value()) }))
	m.Family("redoubt_proxy_rewrite_seconds", metrics.KindHistogram, "Time that one of those took: replacing, and for coded ones decoding and coding again")
	m.Histogram(nil, p.histograms(func(c *counts) *metrics.Histogram { return &c.rewriting })...)
	m.Family("redoubt_proxy_memory_asked_total", metrics.KindCounter, "Answers whose file the memory of what applies was asked for")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.asked.Value()) }))
	m.Family("redoubt_proxy_memory_known_total", metrics.KindCounter, "... and it knew it")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.known.Value()) }))

	all := p.rulesInForce()
	rule := func(name, help string, of func(c body.Counts) uint64) {
		m.Family(name, metrics.KindCounter, help)
		for _, r := range all {
			for i := range r.Len() {
				if n := of(r.Counts(i)); n > 0 {
					m.Sample(float64(n), "rules", r.name, "rule", strconv.Itoa(i+1))
				}
			}
		}
	}
	rule("redoubt_proxy_rule_matches_total", "Matches of a rule that were replaced", func(c body.Counts) uint64 { return c.Matches })
	rule("redoubt_proxy_rule_given_up_total", "Beginnings of a rule's match that came to none within the hold limit", func(c body.Counts) uint64 { return c.GaveUp })
	rule("redoubt_proxy_rule_held_bytes_total", "Bytes that were held back at the end of a piece, as a rule might still match", func(c body.Counts) uint64 { return c.Held })
	m.Family("redoubt_proxy_held_bytes", metrics.KindGauge, "Bytes of bodies that are held back now")
	for _, r := range all {
		if n := r.Held(); n > 0 {
			m.Sample(float64(n), "rules", r.name)
		}
	}
	s := p.plan.shelf.Stats()
	m.Family("redoubt_proxy_rule_sets", metrics.KindGauge, "Sets of rules for bodies that are compiled, of those that there are")
	m.Sample(float64(s.Sets), "what", "compiled")
	m.Sample(float64(s.Rules), "what", "all")
	m.Family("redoubt_proxy_rule_set_bytes", metrics.KindGauge, "Memory that those take which are compiled, about")
	m.Sample(float64(s.Bytes))
	m.Family("redoubt_proxy_rule_sets_compiled_total", metrics.KindCounter, "Times that one was compiled")
	m.Sample(float64(s.Compiled))
	coded := p.codings.Stats()
	m.Family("redoubt_proxy_coded_bodies", metrics.KindGauge, "Coded bodies that are being rewritten, or wait for memory")
	m.Sample(float64(coded.Running), "what", "running")
	m.Sample(float64(coded.Waiting), "what", "waiting")
	m.Family("redoubt_proxy_coded_bytes", metrics.KindGauge, "Memory that those may take which are running")
	m.Sample(float64(coded.Memory))
}

// namedRules are rules with the name that metrics call them by.
type namedRules struct {
	*body.Rules
	name string
}

// rulesInForce are those of bodies, each once.
func (p *Proxy) rulesInForce() (all []namedRules) {
	seen := make(map[*body.Rules]bool)
	add := func(rules *body.Rules, name string) {
		if rules != nil && !seen[rules] {
			seen[rules] = true
			all = append(all, namedRules{rules, name})
		}
	}
	for _, r := range p.plan.routes {
		add(r.asked, r.Name+" request")
		add(r.answers, r.Name+" response")
	}
	return all
}
