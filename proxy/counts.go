//go:build linux

package proxy

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redoubt/internal/metrics"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
	"redoubt/proxy/accesslog"
)

// counts are what one loop counts. No two loops share a cache line of theirs.
type counts struct {
	conns, inFlight, tunnels metrics.Gauge
	in, out                  metrics.Counter // bytes of bodies
	surplus                  metrics.Counter // connections to servers that said more than they were asked for
	shed                     metrics.Counter // turned away for want of memory
	cut                      metrics.Counter // answers that a server did not finish
	gone                     metrics.Counter // clients that did not wait for the end
	edited                   metrics.Counter // bodies of answers that were rewritten
	asked, known             metrics.Counter // files whose rules the memory was asked for, and of those it knew
	whole, filter, rewriting metrics.Histogram

	refused codes // requests that were no good

	mu     sync.Mutex
	routes map[string]*codes // by a route's name; "" is none
	byPlan []*codes          // by the number of a route in the plan in force
}

// codes count answers by status. Few are ever seen, so that a list does.
type codes struct {
	seen atomic.Pointer[[]*codeCount]
}

type codeCount struct {
	status int
	n      metrics.Counter
}

func (c *codes) add(status int) {
	seen := c.seen.Load()
	if seen == nil {
		seen = new([]*codeCount)
	}
	for _, one := range *seen {
		if one.status == status {
			one.n.Add(1)
			return
		}
	}
	one := &codeCount{status: status}
	one.n.Add(1)
	list := append(slices.Clone(*seen), one)
	c.seen.Store(&list)
}

// each yields what was counted, to any goroutine.
func (c *codes) each(yield func(status int, n uint64)) {
	if seen := c.seen.Load(); seen != nil {
		for _, one := range *seen {
			yield(one.status, one.n.Value())
		}
	}
}

func newCounts() *counts { return &counts{routes: make(map[string]*codes)} }

// use finds the counters of a plan's routes: those of a name go on.
func (c *counts) use(p *plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPlan = c.byPlan[:0]
	for _, r := range p.routes {
		c.byPlan = append(c.byPlan, c.ofRoute(r.Name))
	}
}

func (c *counts) ofRoute(name string) *codes {
	of := c.routes[name]
	if of == nil {
		of = new(codes)
		c.routes[name] = of
	}
	return of
}

// account counts and logs an exchange that has ended.
func (x *exchange) account(err error) {
	x.conclude(err)
	now := x.worker.loop.Clock()
	x.count(now)
	x.log(now)
}

// conclude settles which status an exchange is counted with, and what has failed.
// err is why it has ended; nil: with a whole answer.
func (x *exchange) conclude(err error) {
	switch refused, ok := err.(httpconn.Refused); {
	case ok:
		x.status, x.failure = int(refused), refusal(int(refused), x.session.Fault())
	case x.cut, x.rule != nil && !x.dry: // by us
	case err != nil && x.status == 0:
		x.status, x.failure = clientGone, "the client has gone"
		x.worker.counts.gone.Add(1)
	case err != nil:
		x.failure = "cut short: " + reasonText(err)
		x.worker.counts.gone.Add(1)
	}
}

func (x *exchange) count(now time.Duration) {
	c := x.worker.counts
	if x.route != nil && x.plan == x.worker.plan {
		c.byPlan[x.route.number].add(x.status)
	} else { // turned away, or of an old plan
		name := ""
		if x.route != nil {
			name = x.route.Name
		}
		c.mu.Lock()
		of := c.ofRoute(name)
		c.mu.Unlock()
		of.add(x.status)
	}
	c.in.Add(uint64(x.in))
	c.out.Add(uint64(x.out))
	c.whole.Observe(now - x.begin)
	if x.judged != 0 {
		c.filter.Observe(x.judged - x.begin)
	}
	if x.edit.edited {
		c.rewriting.Observe(x.edit.spent)
	}
}

func (x *exchange) log(now time.Duration) {
	w := x.worker
	if w.sink == nil {
		return
	}
	n := &x.notes
	e := &w.entry
	*e = accesslog.Entry{
		Time: w.loop.Wall().UnixNano(), Client: x.client, Method: n.get(n.method), Target: n.get(n.target), Host: n.get(n.host),
		Minor: n.minor, Status: x.status, In: x.in, Out: x.out,
		Duration: now - x.begin, Filter: -1, Wait: -1, Rewrite: -1, Dry: x.dry, Error: x.failure,
		Referer: n.get(n.referer), UserAgent: n.get(n.agent), RequestID: n.get(n.id),
	}
	if x.edit.edited || x.asks.rules != nil {
		e.Rewrite, e.Matches = x.edit.spent, x.edit.matches
	}
	if x.judged != 0 {
		e.Filter = x.judged - x.begin
	}
	if x.first != 0 {
		e.Wait = x.first - x.sent
	}
	if x.route != nil {
		e.Route = x.route.Name
	}
	if x.pool != nil {
		e.Upstream = x.pool.origin.name
	}
	if x.rule != nil {
		e.Rule = x.rule.Name()
	}
	w.put(e)
}

// clientGone is what the log and the counters say where a client has not waited
// for an answer, as others do.
const clientGone = 499

// refused counts and logs a request that never came to be one.
func (w *worker) refused(s *httpconn.Session, status int) {
	w.counts.refused.add(status)
	if w.sink == nil {
		return
	}
	method, target, minor := splitLine(s.RequestLine())
	w.put(&accesslog.Entry{
		Time: w.loop.Wall().UnixNano(), Client: s.Conn().RemoteAddr().Addr().Unmap(), Method: method, Target: target,
		Minor: minor, Status: status, Filter: -1, Wait: -1, Rewrite: -1, Error: refusal(status, s.Fault()),
	})
}

// refusal says why in words.
func refusal(status int, fault http1.Fault) string {
	switch {
	case fault != 0:
		return "bad request: " + fault.Error()
	case status == 408:
		return "the request was not whole in time"
	}
	return "no memory left for buffers"
}

// splitLine finds in what there is of a request line what can be told of it: a
// method if it is one, and then the target, good or bad, as far as it has come.
func splitLine(line []byte) (method, target []byte, minor int) {
	method, rest, ended := bytes.Cut(line, []byte(" "))
	if !ended || !http1.IsToken(method) {
		return nil, nil, 1
	}
	target, version, _ := bytes.Cut(rest, []byte(" "))
	if string(version) == "HTTP/1.0" {
		return method, target, 0
	}
	return method, target, 1
}

// put writes a line, and sees to it that it does not wait long.
func (w *worker) put(e *accesslog.Entry) {
	w.sink.Put(e)
	if !w.logArmed {
		w.logArmed = true
		w.loop.Arm(&w.logTimer, logEvery)
	}
}
