//go:build linux

package proxy

import (
	"bytes"

	"redoubt/netloop/http1"
	"redoubt/proxy/coding"
)

// What the heads of messages have to say otherwise where bodies are rewritten.

// dropsAsked tells whether a request's field has to go because of what becomes of
// bodies: of a part of a body nothing can be told by rules, and of one that is rewritten
// much is not true any more.
func (x *exchange) dropsAsked(k http1.Known) bool {
	switch k {
	case http1.AcceptEncoding:
		return x.edit.rules != nil
	case http1.Range, http1.IfRange:
		return x.all || x.edit.rules != nil && !x.repeatable
	case http1.ContentEncoding, http1.ContentMD5, http1.Digest, http1.ContentDigest, http1.ReprDigest:
		return x.asks.rules != nil
	}
	return false
}

var varyCodings = []byte("Vary: Accept-Encoding\r\n")

// namesCodings tells that an answer says that it varies by the client's codings, or by
// everything.
func namesCodings(r *http1.Response) bool {
	for name := range r.Elements(http1.Vary) {
		if string(name) == "*" || bytes.EqualFold(name, []byte("Accept-Encoding")) {
			return true
		}
	}
	return false
}

// changes tells whether a field is not what it was where a body is rewritten.
func (e *edit) changes(k http1.Known) bool {
	if !e.weakens {
		return false
	}
	switch k {
	case http1.ETag:
		return true
	case http1.ContentEncoding, http1.AcceptRanges, http1.ContentMD5, http1.Digest, http1.ContentDigest, http1.ReprDigest:
		return e.subset != nil
	}
	return false
}

// editedField puts what becomes of such a field. It is false for one that stays.
func (w *worker) editedField(out *http1.Segments, x *exchange, r *http1.Response, f http1.Field) bool {
	e := &x.edit
	value := r.Value(f)
	switch f.Known() {
	case http1.ETag:
		if len(value) == 0 || value[0] != '"' || x.route.Response.Owns(http1.ETag) {
			return false
		}
		if x.route.Response.Field(out, r, f, x.vars(x.route.Response)) { // a rule knows better
			return true
		}
		w.line = append(append(append(w.line[:0], "ETag: W/"...), value...), "\r\n"...)
		out.Put(w.line)
	case http1.ContentEncoding:
		if e.coding == e.to && e.coding != coding.Identity {
			return false
		}
		if e.to != coding.Identity && !e.told {
			e.told = true
			out.Field("Content-Encoding", []byte(e.to.String()))
		}
	}
	return true
}
