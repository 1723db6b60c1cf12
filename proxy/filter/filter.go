// Package filter decides who is let in: by the client's address, by how many
// connections it has and how fast it asks, and by a request's method, path and
// header fields.
//
// A [Filter] is compiled from [Options] and never changes but for its counters
// and the clients' rates, so all loops share one. A [Rule] is each single thing
// for which a request may be refused; it counts its refusals.
package filter

import (
	"net/netip"
	"regexp"
	"time"

	"github.com/gaissmai/bart"

	"redoubt/netloop/http1"
)

// Options say who is refused.
type Options struct {
	// Networks are client addresses. ::ffff:192.0.2.0/120 is 192.0.2.0/24.
	Networks []netip.Prefix

	// Methods are compared exactly, with case.
	Methods []string

	// Paths begin with a slash. '*' at the end stands for any rest, also an empty
	// one; without it the whole path is meant. They are compared, with case, with
	// a request's path as it was sent and as servers may read it: with escapes
	// decoded, "." and ".." resolved, slashes in a row as one, backslashes as
	// slashes or not, and with or without parameters (";" and what follows it in
	// a segment). Escapes in Paths are decoded, too.
	Paths []string

	// Headers refuse a request if any field of a name has a value that matches.
	Headers []Header

	// Connections is how many a client may have open; 0: any number.
	Connections int

	// Rate is how fast a client may ask; zero: at any rate. It takes 16 MB,
	// however many clients there are.
	Rate Rate

	// Answer is the status of a refusal, 400 to 599, or CloseSilently; 0: 403.
	// Instead of a status, who has too many connections or asks too fast gets 429.
	Answer int

	// DryRun counts who would be refused, and lets everybody in.
	DryRun bool
}

// CloseSilently as Options.Answer has connections closed without a word.
const CloseSilently = -1

// Header says which values of a field are refused.
type Header struct {
	Name  string         // in whatever case
	Match *regexp.Regexp // anywhere in a value
}

// Rate is how fast one client may ask.
type Rate struct {
	Requests float64 // a second, up to a million
	Burst    int     // how many at once after a pause; 0: those of a second, at least 1
}

// A Filter judges requests. It is safe for many goroutines at once.
type Filter struct {
	rules    []*Rule // all there are, in order of judgement
	networks *bart.Table[*Rule]
	rate     *Rule    // nil: no limit
	limiter  *limiter // the clients' rates, maybe shared with the filter before
	methods  map[string]*Rule
	paths    paths
	headers  []header

	connections *Rule // nil: no limit
	most        int   // connections of a client

	answer int
	dry    bool
}

// New compiles options. before is the filter whose place this one takes when a
// configuration is loaded anew, or nil: rules that are in both go on counting,
// and the clients' rates go on if the rate is the same. The error is an *Error.
func New(o Options, before *Filter) (*Filter, error) {
	b := builder{known: map[string]*Rule{}, taken: map[string]*Rule{}}
	var running *limiter
	if before != nil {
		for _, r := range before.rules {
			b.known[r.name] = r
		}
		running = before.limiter
	}
	f, err := b.build(o, running)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rules are all that may refuse, in the order in which they are asked. The
// slice must not be changed.
func (f *Filter) Rules() []*Rule { return f.rules }

// Verdict is what becomes of a request. The zero value lets it in.
type Verdict struct {
	Rule       *Rule         // for which it is refused, or would be
	Status     int           // to answer, or CloseSilently
	RetryAfter time.Duration // how long the client has to wait, if it asks too fast
	Dry        bool          // let it in all the same
}

// Check judges a request by the first rule that refuses it: connections,
// networks, rate, methods, paths, headers. What is let in or refused by what
// follows the rate counts as asked; what is refused before that does not.
//
// In a dry run every kind is asked, as all of them would be let in: each counts
// what it would refuse, were it alone, and the verdict names the first.
//
// client is the address that counts; an invalid one is that of a client like any
// other. conns is what Conns.Add said when the connection was opened: so those
// opened above the limit are refused, and not the client's older ones with
// them. now is a monotonic time, from 0 on.
//
// Nothing is allocated.
func (f *Filter) Check(client netip.Addr, conns int, r *http1.Request, now time.Duration) (v Verdict) {
	if f.connections != nil && conns > f.most && f.refuse(&v, f.connections, 0) {
		return v
	}
	if f.networks != nil {
		if rule, ok := f.networks.Lookup(client.Unmap()); ok && f.refuse(&v, rule, 0) {
			return v
		}
	}
	if f.rate != nil {
		if wait := f.limiter.take(keyOf(client), now); wait > 0 && f.refuse(&v, f.rate, wait) {
			return v
		}
	}
	if rule := f.methods[string(r.Method())]; rule != nil && f.refuse(&v, rule, 0) {
		return v
	}
	if rule := f.paths.find(r.Path()); rule != nil && f.refuse(&v, rule, 0) {
		return v
	}
	for i := range f.headers {
		if f.headers[i].in(r) && f.refuse(&v, f.headers[i].rule, 0) {
			return v
		}
	}
	return v
}

// refuse counts a rule that refuses a request, and tells whether that settles
// it.
func (f *Filter) refuse(v *Verdict, rule *Rule, wait time.Duration) (settled bool) {
	if f.dry {
		rule.dry.Add(1)
	} else {
		rule.hits.Add(1)
	}
	if v.Rule == nil {
		*v = Verdict{Rule: rule, Status: f.answer, RetryAfter: wait, Dry: f.dry}
		if f.answer != CloseSilently && (rule == f.rate || rule == f.connections) {
			v.Status = 429
		}
	}
	return !f.dry
}
