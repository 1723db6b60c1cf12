//go:build linux

package proxy

import (
	"bytes"
	"net/netip"
	"unsafe"

	"redoubt/netloop/http1"
	"redoubt/proxy/rewrite"
)

// describePeer makes ready what a server is told of whoever has connected.
func (x *exchange) describePeer() {
	x.lines = append(x.lines[:0], "X-Forwarded-For: "...)
	from := len(x.lines)
	x.lines = x.peer.AppendTo(x.lines)
	x.address = span{from, len(x.lines)}
	x.lines = append(x.lines, "\r\n"...)
	x.peerNode = span{len(x.lines), 0}
	if x.peer.Is6() {
		x.lines = append(append(append(x.lines, `"[`...), x.lines[from:x.address.to]...), `]"`...)
	} else {
		x.lines = append(x.lines, x.lines[from:x.address.to]...)
	}
	x.peerNode.to = len(x.lines)
}

// forwarded tells the server who has asked, for which host, and how (RFC 7239,
// and the names in use before it). What a peer says that is not trusted is
// replaced; a trusted one's is added to.
func (x *exchange) forwarded(out *http1.Segments, r *http1.Request, rules *rewrite.Rules) {
	line := x.worker.line[:0]
	if !rules.Owns(http1.XForwardedFor) {
		if x.trusted && r.Has(http1.XForwardedFor) {
			line = append(line, "X-Forwarded-For: "...)
			line = x.joinValues(line, r, http1.XForwardedFor)
			line = append(append(line, x.lines[x.address.from:x.address.to]...), "\r\n"...)
		} else {
			line = append(line, x.lines[:x.address.to+2]...)
		}
	}
	line = x.forwardedOne(line, r, rules, http1.XForwardedProto, "X-Forwarded-Proto: ", proto)
	line = x.forwardedOne(line, r, rules, http1.XForwardedHost, "X-Forwarded-Host: ", r.Authority())
	if !rules.Owns(http1.Forwarded) {
		line = append(line, "Forwarded: "...)
		if x.trusted {
			line = x.joinValues(line, r, http1.Forwarded)
		}
		line = append(append(line, "for="...), x.lines[x.peerNode.from:x.peerNode.to]...)
		if host := r.Authority(); len(host) > 0 {
			line = append(append(append(line, `;host="`...), host...), '"')
		}
		line = append(line, ";proto=http\r\n"...)
	}
	x.worker.line = line
	out.Put(line)
}

var proto = []byte("http")

// forwardedOne adds a field that a trusted peer's own wins over.
func (x *exchange) forwardedOne(line []byte, r *http1.Request, rules *rewrite.Rules, k http1.Known, name string, value []byte) []byte {
	if rules.Owns(k) {
		return line
	}
	if x.trusted && r.Has(k) {
		value = r.Get(k)
	}
	if len(value) == 0 {
		return line
	}
	return append(append(append(line, name...), value...), "\r\n"...)
}

// joinValues appends the values of all fields of a kind, each with a comma
// behind it.
func (x *exchange) joinValues(line []byte, r *http1.Request, k http1.Known) []byte {
	for _, f := range r.Fields() {
		if f.Known() == k && len(r.Value(f)) > 0 {
			line = append(append(line, r.Value(f)...), ", "...)
		}
	}
	return line
}

// lastElement takes the last element off a list.
func lastElement(list []byte) (rest, element []byte) {
	i := bytes.LastIndexByte(list, ',')
	return list[:max(i, 0)], bytes.Trim(list[i+1:], " \t")
}

// parseAddr reads an address, as it stands in X-Forwarded-For: also with a
// port, or in brackets.
func parseAddr(b []byte) (netip.Addr, bool) {
	// No copy: the string does not outlive the call, nor does the error that
	// would hold it.
	s := unsafe.String(unsafe.SliceData(b), len(b))
	a, err := netip.ParseAddr(s)
	if err != nil {
		if with, err := netip.ParseAddrPort(s); err == nil {
			return with.Addr().WithZone("").Unmap(), true
		}
		if n := len(s); n > 2 && s[0] == '[' && s[n-1] == ']' {
			if a, err = netip.ParseAddr(s[1 : n-1]); err == nil {
				return a.WithZone("").Unmap(), true
			}
		}
		return netip.Addr{}, false
	}
	return a.WithZone("").Unmap(), true
}
