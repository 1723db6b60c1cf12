//go:build linux

package proxy

import (
	"redoubt/netloop/http1"
	"redoubt/proxy/rewrite"
)

// notes are what must be known of a request when its head has gone: for the
// access log, and for what rules put into heads.
type notes struct {
	text []byte
	id   span // the request's, always there

	method, target, path, host, referer, agent, client span
	minor                                              int
}

type span struct{ from, to int }

func (n *notes) add(b []byte) span {
	from := len(n.text)
	n.text = append(n.text, b...)
	return span{from, len(n.text)}
}

func (n *notes) get(s span) []byte { return n.text[s.from:s.to] }

// take notes what the plan may ask for.
func (n *notes) take(x *exchange, r *http1.Request) {
	n.minor = r.Minor()
	n.method, n.target, n.path = n.add(r.Method()), n.add(r.Target()), n.add(r.Path())
	n.host = n.add(r.Authority())
	n.referer, n.agent = n.add(r.Get(http1.Referer)), n.add(r.Get(http1.UserAgent))
	from := len(n.text)
	n.text = x.client.AppendTo(n.text)
	n.client = span{from, len(n.text)}
}

// identity is the request's: the one it came with, if the peer is trusted and
// it is one, else a new one.
func (n *notes) identity(x *exchange, r *http1.Request) {
	if x.trusted {
		if given, ok := r.Find(requestIDName); ok && isID(given) {
			n.id = n.add(given)
			return
		}
	}
	const digits = "0123456789abcdef"
	number := x.worker.nextID()
	var id [16]byte
	for i := range id {
		id[i] = digits[number>>(60-4*i)&15]
	}
	n.id = n.add(id[:])
}

const (
	requestIDName = "X-Request-ID"
	longestID     = 128
)

// isID tells whether what somebody calls a request's id may stand in heads and
// logs.
func isID(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return 0 < len(b) && len(b) <= longestID
}

// vars are the variables of rules, valid until the next call.
func (x *exchange) vars(rules *rewrite.Rules) *rewrite.Vars {
	v := &x.worker.vars
	if rules != nil {
		n := &x.notes
		v.Client, v.Host, v.Path, v.RequestID = n.get(n.client), n.get(n.host), n.get(n.path), n.get(n.id)
		v.Upstream = x.pool.origin.text
	}
	return v
}
