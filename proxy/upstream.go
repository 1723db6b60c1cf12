//go:build linux

package proxy

import (
	"slices"
	"time"

	"redoubt/proxy/config"
)

// upstream is the servers that a route's requests go to.
type upstream struct {
	*config.Upstream
	origins []*origin
	number  int // in the plan
}

// leastConnections is a value of config.Upstream.Balance.
const leastConnections = "least-connections"

// pick finds a server other than those that were tried already. Among those
// that are well and have had no failures lately it goes around, beginning with
// turn, or takes the one with the fewest exchanges. Failures alone never leave
// nobody: if all have had some, they are tried all the same. What the health
// check calls sick is not.
func (u *upstream) pick(turn int, tried []*origin, now time.Duration) *origin {
	var best *origin
	var load int64
	for _, calm := range [2]bool{true, false} {
		for i := range u.origins {
			o := u.origins[(turn+i)%len(u.origins)]
			if o.sick.Load() || calm && !o.rested(now) || slices.Contains(tried, o) {
				continue
			}
			if u.Balance != leastConnections {
				return o
			}
			if n := o.active.Load(); best == nil || n < load {
				best, load = o, n
			}
		}
		if best != nil {
			break
		}
	}
	return best
}
