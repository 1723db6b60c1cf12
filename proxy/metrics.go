//go:build linux

package proxy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"redoubt/internal/metrics"
)

// WriteMetrics writes what was counted, for Prometheus. It may be called from
// any goroutine. Labels are names of the configuration and statuses.
func (p *Proxy) WriteMetrics(m *metrics.Writer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeRequests(m)
	p.writeConnections(m)
	p.writeUpstreams(m)
	p.writeFilter(m)
	p.writeBodies(m)
	p.writeMachine(m)
}

// sum adds up what the loops have counted.
func (p *Proxy) sum(of func(c *counts) float64) (n float64) {
	for _, w := range p.workers {
		n += of(w.counts)
	}
	return n
}

func (p *Proxy) histograms(of func(c *counts) *metrics.Histogram) (list []*metrics.Histogram) {
	for _, w := range p.workers {
		list = append(list, of(w.counts))
	}
	return list
}

func (p *Proxy) writeRequests(m *metrics.Writer) {
	type key struct {
		route  string
		status int
	}
	sums := make(map[key]uint64)
	refused := make(map[int]uint64)
	for _, w := range p.workers {
		c := w.counts
		c.mu.Lock()
		for name, of := range c.routes {
			of.each(func(status int, n uint64) { sums[key{name, status}] += n })
		}
		c.mu.Unlock()
		c.refused.each(func(status int, n uint64) { refused[status] += n })
	}
	m.Family("redoubt_proxy_requests_total", metrics.KindCounter, "Requests that were answered, by route and status; 499 is a client that did not wait, 0 one that was closed on without a word")
	for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b key) int {
		if a.route != b.route {
			return strings.Compare(a.route, b.route)
		}
		return a.status - b.status
	}) {
		m.Sample(float64(sums[k]), "route", k.route, "code", strconv.Itoa(k.status))
	}
	m.Family("redoubt_proxy_refused_total", metrics.KindCounter, "Requests that broke HTTP or came too late, by the status they were answered with")
	for _, status := range slices.Sorted(maps.Keys(refused)) {
		m.Sample(float64(refused[status]), "code", strconv.Itoa(status))
	}
	m.Family("redoubt_proxy_request_seconds", metrics.KindHistogram, "From a request's head to the end of its answer")
	m.Histogram(nil, p.histograms(func(c *counts) *metrics.Histogram { return &c.whole })...)
	m.Family("redoubt_proxy_filter_seconds", metrics.KindHistogram, "Time in the filter")
	m.Histogram(nil, p.histograms(func(c *counts) *metrics.Histogram { return &c.filter })...)
	m.Family("redoubt_proxy_requests_in_flight", metrics.KindGauge, "Requests under way")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.inFlight.Value()) }))
	m.Family("redoubt_proxy_request_body_bytes_total", metrics.KindCounter, "Bytes of requests' bodies")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.in.Value()) }))
	m.Family("redoubt_proxy_response_body_bytes_total", metrics.KindCounter, "Bytes of answers' bodies")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.out.Value()) }))
	m.Family("redoubt_proxy_shed_total", metrics.KindCounter, "Requests that were turned away for want of memory")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.shed.Value()) }))
	m.Family("redoubt_proxy_cut_total", metrics.KindCounter, "Answers that a server did not finish")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.cut.Value()) }))
	m.Family("redoubt_proxy_gone_total", metrics.KindCounter, "Clients that did not wait for the end of an answer")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.gone.Value()) }))
}

func (p *Proxy) writeConnections(m *metrics.Writer) {
	m.Family("redoubt_proxy_connections", metrics.KindGauge, "Connections of clients")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.conns.Value()) }))
	m.Family("redoubt_proxy_clients", metrics.KindGauge, "Addresses that those come from")
	m.Sample(float64(p.conns.Len()))
	m.Family("redoubt_proxy_tunnels", metrics.KindGauge, "Connections that have switched to another protocol")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.tunnels.Value()) }))
}

func (p *Proxy) writeUpstreams(m *metrics.Writer) {
	each := func(name string, kind metrics.Kind, help string, of func(o *origin) float64) {
		m.Family(name, kind, help)
		for _, u := range p.plan.upstreams {
			for _, o := range u.origins {
				m.Sample(of(o), "upstream", u.Name, "server", o.name)
			}
		}
	}
	counter := func(name, help string, of func(l *pool) *metrics.Counter) {
		each(name, metrics.KindCounter, help, func(o *origin) (n float64) {
			for _, l := range o.pools {
				n += float64(of(l).Value())
			}
			return n
		})
	}
	m.Family("redoubt_proxy_upstream_up", metrics.KindGauge, "1 if the server gets requests")
	now := p.group.Clock()
	for _, u := range p.plan.upstreams {
		for _, o := range u.origins {
			up := 0.0
			if u.up(o, now) {
				up = 1
			}
			m.Sample(up, "upstream", u.Name, "server", o.name)
		}
	}
	each("redoubt_proxy_upstream_connections", metrics.KindGauge, "Connections to the server", func(o *origin) float64 { return float64(o.open.Load()) })
	each("redoubt_proxy_upstream_active", metrics.KindGauge, "... that have a request under way", func(o *origin) float64 { return float64(o.active.Load()) })
	counter("redoubt_proxy_upstream_requests_total", "Requests sent to the server", func(l *pool) *metrics.Counter { return &l.requests })
	counter("redoubt_proxy_upstream_reused_total", "... over a connection that was there, idle", func(l *pool) *metrics.Counter { return &l.reused })
	counter("redoubt_proxy_upstream_repeated_total", "... a second time, as such a connection had ended", func(l *pool) *metrics.Counter { return &l.repeated })
	counter("redoubt_proxy_upstream_dialled_total", "Connections begun", func(l *pool) *metrics.Counter { return &l.dialled })
	counter("redoubt_proxy_upstream_failures_total", "Connections that could not be had, or brought no whole answer", func(l *pool) *metrics.Counter { return &l.failures })
	m.Family("redoubt_proxy_upstream_wait_seconds", metrics.KindHistogram, "From a request to the first byte of its answer")
	for _, u := range p.plan.upstreams {
		for _, o := range u.origins {
			var list []*metrics.Histogram
			for _, l := range o.pools {
				list = append(list, &l.wait)
			}
			m.Histogram([]string{"upstream", u.Name, "server", o.name}, list...)
		}
	}
	m.Family("redoubt_proxy_upstream_surplus_total", metrics.KindCounter, "Connections to servers that were closed as more came than was asked for")
	m.Sample(p.sum(func(c *counts) float64 { return float64(c.surplus.Value()) }))
}

func (p *Proxy) writeFilter(m *metrics.Writer) {
	m.Family("redoubt_proxy_filter_refused_total", metrics.KindCounter, "Requests that the filter refused, by rule; dry: would have")
	if p.plan.filter == nil {
		return
	}
	for _, r := range p.plan.filter.Rules() {
		m.Sample(float64(r.Hits()), "kind", r.Kind(), "rule", r.Name(), "dry", "false")
		m.Sample(float64(r.DryHits()), "kind", r.Kind(), "rule", r.Name(), "dry", "true")
	}
}

func (p *Proxy) writeMachine(m *metrics.Writer) {
	s := p.group.Memory().Stats()
	m.Family("redoubt_proxy_slab_bytes", metrics.KindGauge, "Memory for buffers, by what it is used for")
	m.Sample(float64(s.Live.Bytes), "use", "live")
	m.Sample(float64(s.Cached.Bytes), "use", "cached")
	m.Sample(float64(s.Free), "use", "free")
	m.Family("redoubt_proxy_slab_refused_total", metrics.KindCounter, "Times that there was none left")
	m.Sample(float64(s.Refused))
	m.Family("redoubt_proxy_loop_busy_seconds_total", metrics.KindCounter, "Time that an event loop worked rather than waited")
	for i, l := range p.group.Loops() {
		busy, _ := l.Busy()
		m.Sample(busy.Seconds(), "loop", strconv.Itoa(i))
	}
	m.Family("redoubt_proxy_loop_seconds_total", metrics.KindCounter, "Time that an event loop has run")
	for i, l := range p.group.Loops() {
		_, total := l.Busy()
		m.Sample(total.Seconds(), "loop", strconv.Itoa(i))
	}
	if p.log != nil {
		s := p.log.Stats()
		m.Family("redoubt_proxy_log_lines_total", metrics.KindCounter, "Lines of the access log, by what became of them")
		m.Sample(float64(s.Written), "what", "written")
		m.Sample(float64(s.Dropped), "what", "dropped")
	}
}
