//go:build linux

package loopserve

import (
	"bytes"
	"strconv"
	"time"

	"redoubt/internal/metrics"
	"redoubt/netloop/httpconn"
)

// counters are what one loop counts, in memory of its own. It is large enough
// that no other loop's shares a cache line with it.
type counters struct {
	requests [routes][methods][codes]metrics.Counter
	refused  [len(refusals)]metrics.Counter
	reads    metrics.Histogram
	writes   metrics.Histogram
}

// kind is what is counted together.
type kind struct{ route, method uint8 }

func (c *counters) note(k kind, status int, took time.Duration) {
	c.requests[k.route][k.method][codeOf(status)].Add(1)
	if k.method == methodPost {
		c.writes.Observe(took)
	} else {
		c.reads.Observe(took)
	}
}

// noteRefused counts what broke HTTP, or came too late.
func (c *counters) noteRefused(_ *httpconn.Session, status int) {
	i := 0
	for i < len(refusals)-1 && refusals[i] != status {
		i++
	}
	c.refused[i].Add(1)
}

// refusals are the statuses that requests are refused with; the last stands for
// any other.
var refusals = [...]int{400, 408, 413, 414, 417, 431, 501, 505, 0}

const (
	routes  = 9
	methods = 3
	codes   = 6

	routeOther = routes - 1

	methodGet   = 0 // and HEAD
	methodPost  = 1
	methodOther = 2
)

var (
	routeNames  = [routes]string{"users", "users/visits", "users/new", "locations", "locations/avg", "locations/new", "visits", "visits/new", "other"}
	methodNames = [methods]string{"GET", "POST", "other"}
	codeNames   = [codes]string{"200", "400", "404", "405", "503", "other"}
)

// kindOf goes by what a path looks like, and does not ask whether the API knows
// it: an id of a hundred digits is one.
func kindOf(method, path []byte) kind {
	k := kind{routeOther, methodOther}
	switch string(method) {
	case "GET", "HEAD":
		k.method = methodGet
	case "POST":
		k.method = methodPost
	}
	id, first, list := path, uint8(0), ""
	switch {
	case bytes.HasPrefix(path, []byte("/users/")):
		id, first, list = path[len("/users/"):], 0, "/visits"
	case bytes.HasPrefix(path, []byte("/locations/")):
		id, first, list = path[len("/locations/"):], 3, "/avg"
	case bytes.HasPrefix(path, []byte("/visits/")):
		id, first = path[len("/visits/"):], 6
	default:
		return k
	}
	n := 0
	for n < len(id) && id[n] >= '0' && id[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n == len(id):
		k.route = first
	case n > 0 && list != "" && string(id[n:]) == list:
		k.route = first + 1
	case string(id) == "new" && list != "":
		k.route = first + 2
	case string(id) == "new":
		k.route = first + 1
	}
	return k
}

func codeOf(status int) int {
	switch status {
	case 200:
		return 0
	case 400:
		return 1
	case 404:
		return 2
	case 405:
		return 3
	case 503:
		return 4
	}
	return codes - 1
}

// WriteMetrics writes what the loops have counted. Without Options.Metrics that
// is nothing about requests. It is safe from any goroutine.
func (s *Server) WriteMetrics(w *metrics.Writer) {
	if len(s.counters) > 0 {
		s.writeRequests(w)
	}
	w.Family("redoubt_connections", metrics.KindGauge, "Connections of clients")
	w.Sample(float64(s.group.Conns()))

	w.Family("redoubt_loop_busy_seconds_total", metrics.KindCounter, "Time that an event loop worked rather than waited")
	times := make([]time.Duration, len(s.group.Loops()))
	for i, l := range s.group.Loops() {
		var busy time.Duration
		busy, times[i] = l.Busy()
		w.Sample(busy.Seconds(), "loop", strconv.Itoa(i))
	}
	w.Family("redoubt_loop_seconds_total", metrics.KindCounter, "Time that an event loop has had")
	for i, t := range times {
		w.Sample(t.Seconds(), "loop", strconv.Itoa(i))
	}

	memory := s.group.Memory().Stats()
	w.Family("redoubt_slab_bytes", metrics.KindGauge, "Memory for buffers, by what it is used for")
	w.Sample(float64(memory.Live.Bytes), "use", "live")
	w.Sample(float64(memory.Cached.Bytes), "use", "cached")
	w.Sample(float64(memory.Free), "use", "free")
	w.Family("redoubt_slab_refused_total", metrics.KindCounter, "Times that there was none left")
	w.Sample(float64(memory.Refused))
}

func (s *Server) writeRequests(w *metrics.Writer) {
	w.Family("redoubt_api_requests_total", metrics.KindCounter, "Requests that the API has answered")
	for r, route := range routeNames {
		for m, method := range methodNames {
			for c, code := range codeNames {
				n := s.sum(func(loop *counters) *metrics.Counter { return &loop.requests[r][m][c] })
				if n > 0 { // most of them never are
					w.Sample(n, "route", route, "method", method, "code", code)
				}
			}
		}
	}
	w.Family("redoubt_api_refused_total", metrics.KindCounter, "Requests that broke HTTP or came too late, by the status they were answered with")
	for i, status := range refusals {
		code := "other"
		if status != 0 {
			code = strconv.Itoa(status)
		}
		w.Sample(s.sum(func(loop *counters) *metrics.Counter { return &loop.refused[i] }), "code", code)
	}
	w.Family("redoubt_api_seconds", metrics.KindHistogram, "From a whole request to its answer in the system's hands")
	var reads, writes []*metrics.Histogram
	for _, loop := range s.counters {
		reads, writes = append(reads, &loop.reads), append(writes, &loop.writes)
	}
	w.Histogram([]string{"kind", "read"}, reads...)
	w.Histogram([]string{"kind", "write"}, writes...)
}

// sum adds up the loops' counters.
func (s *Server) sum(of func(*counters) *metrics.Counter) float64 {
	n := uint64(0)
	for _, loop := range s.counters {
		n += of(loop).Value()
	}
	return float64(n)
}
