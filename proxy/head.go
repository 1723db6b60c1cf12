//go:build linux

package proxy

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"redoubt/netloop/http1"
	"redoubt/proxy/rewrite"
)

// Heads are made of views: lines that stay go out from where they were read, and
// new memory holds only what is new.

// Fields that end here, by Known: they are about one connection (RFC 9110,
// 7.6.1), frame the message, which is done anew, or are written anew. Host means
// nothing in an answer.
var (
	endsInRequest = known(http1.Connection, http1.KeepAlive, http1.ProxyConnection, http1.TE, http1.Upgrade,
		http1.TransferEncoding, http1.ContentLength, http1.Expect, http1.ProxyAuthorization, http1.ProxyAuthenticate,
		http1.XForwardedFor, http1.XForwardedProto, http1.XForwardedHost, http1.Forwarded)
	endsInAnswer = known(http1.Host, http1.Connection, http1.KeepAlive, http1.ProxyConnection, http1.TE, http1.Upgrade,
		http1.TransferEncoding, http1.ContentLength, http1.ProxyAuthenticate, http1.ProxyAuthorization)
)

func known(list ...http1.Known) (set [256]bool) {
	for _, k := range list {
		set[k] = true
	}
	return set
}

var (
	connectionUpgrade = []byte("Connection: Upgrade\r\n")
	connectionTE      = []byte("TE: trailers\r\nConnection: TE\r\n")
	continueLine      = []byte("Expect: 100-continue\r\n")
	chunkedLine       = []byte("Transfer-Encoding: chunked\r\n")
	via10, via11      = []byte("Via: 1.0 redoubt\r\n"), []byte("Via: 1.1 redoubt\r\n")
)

const plainText = "Content-Type: text/plain; charset=utf-8\r\n"

// statusText is the body of an answer of our own.
func statusText(status int) []byte {
	return []byte(strconv.Itoa(status) + " " + http.StatusText(status) + "\n")
}

// requestHead puts the head of a request together, as the server gets it, in
// w.up. It is false where a rule has made a target that is none.
func (w *worker) requestHead(x *exchange, r *http1.Request) bool {
	out := &w.up
	out.Reset()
	rules := x.route.Request
	v := x.vars(rules)
	if !w.requestLine(out, r, rules, v) {
		return false
	}
	host := false
	framing, size := r.Framing()
	counts := asksAboutTheWay(r.Method())
	named := namesFields(r.Elements(http1.Connection))
	for _, f := range r.Fields() {
		k := f.Known()
		switch {
		case endsInRequest[k],
			k == http1.Trailer && framing != http1.Chunked,
			named && k != http1.Host && isNamed(r.Elements(http1.Connection), r.Name(f)),
			k == http1.Host && r.Form() == http1.AbsoluteForm,
			k == http1.Other && (isRequestID(r.Name(f)) || isDisguised(r.Name(f), rules)):
			continue
		case x.dropsAsked(k):
			continue
		case counts && k == http1.Other && bytes.EqualFold(r.Name(f), []byte(maxForwardsName)):
			if n, err := strconv.ParseUint(string(r.Value(f)), 10, 32); err == nil && n > 0 {
				out.Field(maxForwardsName, strconv.AppendUint(nil, n-1, 10))
				continue
			}
		case k == http1.Host:
			host = true
		}
		if !rules.Field(out, r, f, v) {
			out.Raw(r.Line(f))
		}
	}
	if !host && !rules.SetsHost(v) {
		name := r.Authority()
		if len(name) == 0 {
			name = x.pool.origin.text
		}
		if other, changed, ok := rules.Value(w.line[:0], hostName, name, v); changed && ok {
			w.line, name = other, other
		}
		out.Field("Host", name)
	}
	x.forwarded(out, r, rules)
	if !rules.Owns(http1.Via) {
		out.Put(via(r.Minor()))
	}
	if !rules.OwnsName(requestIDName) {
		out.Field(requestIDName, x.notes.get(x.notes.id))
	}
	if x.edit.rules != nil && r.Has(http1.AcceptEncoding) && !rules.Owns(http1.AcceptEncoding) {
		w.line = append(w.line[:0], "Accept-Encoding: "...)
		if w.proxy.codings.Crowded() {
			w.line = append(w.line, "identity\r\n"...)
		} else {
			w.line = append(x.edit.accepts.Append(w.line), "\r\n"...)
		}
		out.Put(w.line)
	}
	rules.Added(out, v)
	switch {
	case len(x.upgrades) > 0:
		out.Field("Upgrade", x.upgrades)
		out.Put(connectionUpgrade)
	case acceptsTrailers(r):
		out.Put(connectionTE)
	}
	switch {
	case framing == http1.Chunked, x.asks.rules != nil:
		out.Put(chunkedLine)
	case framing == http1.Sized, r.ContentLength() == 0:
		out.ContentLength(size)
	}
	if r.ExpectContinue() {
		out.Put(continueLine)
	}
	out.EndHead()
	return true
}

func via(minor int) []byte {
	if minor == 0 {
		return via10
	}
	return via11
}

var hostName = []byte("Host")

const version = " HTTP/1.1\r\n"

// requestLine begins the head. The client's own line stays where it can.
func (w *worker) requestLine(out *http1.Segments, r *http1.Request, rules *rewrite.Rules, v *rewrite.Vars) bool {
	target := r.Target()
	if r.Form() == http1.AbsoluteForm {
		w.target = append(w.target[:0], r.Path()...)
		if r.HasQuery() {
			w.target = append(append(w.target, '?'), r.Query()...)
		}
		target = w.target
	}
	if rules != nil && target[0] == '/' {
		rewritten, changed, ok := rules.URL(w.rewritten[:0], target, v)
		if !ok {
			return false
		}
		if changed {
			w.rewritten = rewritten
			return out.RequestLine(r.Method(), rewritten)
		}
	}
	if n := len(r.Method()) + 1 + len(target); r.Form() != http1.AbsoluteForm {
		if head := r.Head(); len(head) > n+len(version) && string(head[n:n+len(version)]) == version {
			out.Raw(head[:n+len(version)])
			return true
		}
	}
	return out.RequestLine(r.Method(), target)
}

// namesFields tells whether a Connection field names others, besides the usual
// options.
func namesFields(elements func(func([]byte) bool)) bool {
	for e := range elements {
		if !bytes.EqualFold(e, []byte("keep-alive")) && !bytes.EqualFold(e, []byte("close")) {
			return true
		}
	}
	return false
}

func isNamed(elements func(func([]byte) bool), name []byte) bool {
	for e := range elements {
		if bytes.EqualFold(e, name) {
			return true
		}
	}
	return false
}

// isDisguised tells that a server which makes variables of fields (CGI, WSGI) would
// take this one for another that ends here or that the proxy sets: they have _ for -
// there.
func isDisguised(name []byte, rules *rewrite.Rules) bool {
	if bytes.IndexByte(name, '_') < 0 {
		return false
	}
	plain := string(bytes.ReplaceAll(name, []byte("_"), []byte("-")))
	k := http1.KnownField(plain)
	return endsInRequest[k] || strings.EqualFold(plain, requestIDName) || rules.OwnsName(plain)
}

func isRequestID(name []byte) bool {
	return len(name) == len(requestIDName) && bytes.EqualFold(name, []byte(requestIDName))
}

// acceptsTrailers tells whether a client has said so. Nothing else in TE goes
// beyond a connection (RFC 9110, 10.1.4).
func acceptsTrailers(r *http1.Request) bool {
	return r.Has(http1.TE) && isNamed(r.Elements(http1.TE), []byte("trailers"))
}

// answerLine begins the head of an answer. The server's own line stays where it
// can.
func (w *worker) answerLine(out *http1.Segments, r *http1.Response) {
	const to = len("HTTP/1.1 200 ")
	head, n := r.Head(), to+len(r.Reason())
	if len(head) > n+2 && r.Minor() == 1 && string(head[:9]) == "HTTP/1.1 " && head[to-1] == ' ' && head[n] == '\r' {
		out.Raw(head[:n+2])
		return
	}
	out.StatusLine(r.Status(), r.Reason())
}

// answerFields puts the fields in that stay, as rules want them.
func (w *worker) answerFields(out *http1.Segments, x *exchange, r *http1.Response) {
	rules := x.route.Response
	v := x.vars(rules)
	named := namesFields(r.Elements(http1.Connection))
	for _, f := range r.Fields() {
		k := f.Known()
		if endsInAnswer[k] || k == http1.Trailer && !r.Chunked() ||
			named && isNamed(r.Elements(http1.Connection), r.Name(f)) {
			continue
		}
		if x.edit.changes(k) && w.editedField(out, x, r, f) {
			continue
		}
		if !rules.Field(out, r, f, v) {
			out.Raw(r.Line(f))
		}
	}
	if x.edit.varies && !namesCodings(r) && !rules.Owns(http1.Vary) {
		out.Put(varyCodings)
	}
	rules.Added(out, v)
}

// answerOwn adds the proxy's own fields.
func (w *worker) answerOwn(out *http1.Segments, x *exchange, r *http1.Response) {
	rules := x.route.Response
	if !rules.Owns(http1.Via) {
		out.Put(via(r.Minor()))
	}
	if !r.Has(http1.Date) && !rules.Owns(http1.Date) {
		out.Field("Date", w.date())
	}
	if !rules.Owns(http1.ServerTiming) {
		line := append(w.line[:0], "Server-Timing: "...)
		if x.judged != 0 {
			line = append(line, "filter;dur="...)
			line = append(appendMilliseconds(line, x.judged-x.begin), ", "...)
		}
		line = append(line, "upstream;dur="...)
		line = append(appendMilliseconds(line, x.first-x.sent), "\r\n"...)
		w.line = line
		out.Put(line)
	}
}

// date is the value of Date for now.
func (w *worker) date() []byte {
	if now := w.loop.Unix(); now != w.dated || len(w.dateText) == 0 {
		w.dated, w.dateText = now, http1.AppendDate(w.dateText[:0], now)
	}
	return w.dateText
}

// appendMilliseconds writes a time with three decimals.
func appendMilliseconds(b []byte, d time.Duration) []byte {
	us := max(d.Microseconds(), 0)
	b = strconv.AppendInt(b, us/1000, 10)
	return append(b, '.', byte('0'+us/100%10), byte('0'+us/10%10), byte('0'+us%10))
}

// cleanTrailers are the lines of the trailers that may go on, and, where the body was
// edited, are still true; valid until the next call.
func (w *worker) cleanTrailers(t *http1.Body, rules *rewrite.Rules, edited bool) []byte {
	w.trailers = w.trailers[:0]
	t.EachTrailer(func(name, value []byte) bool {
		k := http1.KnownField(string(name))
		if edited && (k == http1.ContentMD5 || k == http1.Digest || k == http1.ContentDigest || k == http1.ReprDigest || k == http1.ETag) {
			return true
		}
		if !endsInAnswer[k] && !endsInRequest[k] && !isRequestID(name) && !rules.OwnsName(string(name)) {
			w.trailers = append(append(w.trailers, name...), ": "...)
			w.trailers = append(append(w.trailers, value...), "\r\n"...)
		}
		return true
	})
	return w.trailers
}
