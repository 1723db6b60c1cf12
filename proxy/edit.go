//go:build linux

package proxy

import (
	"bytes"
	"net/http"
	"time"

	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
	"redoubt/proxy/body"
	"redoubt/proxy/coding"
)

// edit is what becomes of an answer's body. Bodies in no coding are rewritten here
// (edit_plain.go), others by workers (edit_coded.go).
type edit struct {
	rules      *body.Rules    // of the route, if they cover the client
	subset     *body.Subset   // of them, those that run; nil: the body passes as it is
	accepts    coding.Accepts // what the client takes
	weak       bool           // the client has named a weak ETag
	private    bool           // others may be answered otherwise
	personal   bool           // others may, unless an ETag says that it is the same
	varies     bool           // what is answered depends on what codings the client takes
	weakens    bool           // it is not byte by byte what the server's ETag is for
	coding, to coding.Coding  // that it came in, and goes on in
	told       bool           // what it is coded in has been said

	streams bool         // its head does not wait for it
	due     bool         // the head waits for what can be said of the body
	head    []byte       // a block with the head that waits beyond its turn; else nil
	size    int          // of it
	plain   *body.Stream // of a body that is rewritten here
	step    int          // how much it gets at once
	rest    []byte       // a block with what it has not been fed yet; else nil
	from    int          // in it
	end     int          // of it
	ended   bool         // the body is whole with it
	lines   []byte       // ... and its trailers
	coded   *coded       // one that workers rewrite
	first   []byte       // what has come of one that they do not have yet

	key     body.Key
	learns  bool // the key's file is new, and what applies is to be remembered
	edited  bool
	spent   time.Duration
	matches int64
}

// editing finds out what will have to be known of a request when the answer comes.
func (x *exchange) editing(r *http1.Request) {
	e := &x.edit
	if rules := x.route.answers; rules != nil && rules.Covers(x.client) {
		e.rules = rules
		for _, f := range r.Fields() {
			switch f.Known() {
			case http1.AcceptEncoding:
				e.accepts.Add(r.Value(f))
			case http1.IfNoneMatch:
				e.weak = e.weak || bytes.Contains(r.Value(f), []byte("W/"))
			case http1.Authorization:
				e.private = true
			case http1.Cookie, http1.XForwardedProto:
				e.personal = true
			}
		}
	}
}

// decide finds out what becomes of an answer's body. Where it is false, something
// else has been done about the answer.
func (x *exchange) decide(k *link, r *http1.Response) bool {
	e := &x.edit
	status := r.Status()
	takes := takesAny(e.rules, r)
	if status == 206 && (takes || !r.Has(http1.ContentType) || isRanges(r.Get(http1.ContentType))) {
		return x.askForAll(k) // without a type, for it may have been left out (RFC 9110, 15.3.7)
	}
	e.varies = takes || status == 304 && e.weak
	if framing, _ := r.Framing(nil); x.ask != httpconn.Head && framing == http1.None || status == 204 || status == 304 {
		e.weakens = status == 304 && e.weak
		return true
	}
	if !takes || r.Has(http1.ContentRange) && !isUnsatisfied(r.Get(http1.ContentRange)) {
		return true
	}
	from, ok := codingOf(r.Elements(http1.ContentEncoding))
	if !ok {
		if e.rules.Pass {
			return true
		}
		x.refuseAnswer(k, 502, "the body has a coding that is not known")
		return false
	}
	e.coding, e.to = from, e.accepts.Answer(from)
	e.subset = e.rules.All()
	x.remember(r)
	if e.subset.Empty() && (from == coding.Identity || e.accepts.Takes(from)) {
		e.subset = nil
		return true
	}
	e.weakens = true
	return true
}

// refuseAnswer answers in place of a server whose answer, of which nothing has gone
// out yet, cannot. k is its connection, or nil.
func (x *exchange) refuseAnswer(k *link, status int, why string) {
	if k != nil {
		k.part()
		k.Close()
	}
	x.failure, x.answering, x.edit.due = why, false, false
	x.fail(status)
}

// askForAll drops a part of a body, which rules cannot be applied to, and asks for
// all of it. It is always false.
func (x *exchange) askForAll(k *link) bool {
	if x.all || !x.repeatable {
		x.refuseAnswer(k, 502, "the server answers with a part of what it was not asked for in parts")
		return false
	}
	x.all = true
	k.part()
	k.Close()
	clear(x.tried)
	x.tried = x.tried[:0]
	x.forward(x.readHead())
	return false
}

// takesAny tells whether rules are for a body by its Content-Type. There should be one
// type; where there are more, whoever gets the body may go by any of them.
func takesAny(rules *body.Rules, r interface {
	Fields() []http1.Field
	Value(http1.Field) []byte
}) bool {
	none := true
	for _, f := range r.Fields() {
		if f.Known() != http1.ContentType {
			continue
		}
		for kind, rest, more := r.Value(f), []byte(nil), true; more; kind = rest {
			if kind, rest, more = bytes.Cut(kind, []byte(",")); rules.Takes(kind) {
				return true
			}
		}
		none = false
	}
	return none && rules.Takes(nil)
}

// isUnsatisfied tells that a Content-Range is that of an answer which says that there is no
// such range: its body is whole (RFC 9110, 14.4).
func isUnsatisfied(r []byte) bool { return bytes.Contains(r, []byte("*/")) }

func isRanges(kind []byte) bool {
	const ranges = "multipart/byteranges"
	return len(kind) >= len(ranges) && bytes.EqualFold(kind[:len(ranges)], []byte(ranges))
}

// codingOf is the coding of a body, by the elements of Content-Encoding; false if it is
// not known, or there are several.
func codingOf(elements func(func([]byte) bool)) (from coding.Coding, ok bool) {
	for name := range elements {
		c, known := coding.Parse(name)
		switch {
		case !known, c != coding.Identity && from != coding.Identity:
			return coding.Identity, false
		case c != coding.Identity:
			from = c
		}
	}
	return from, true
}

// remember finds out which rules apply to a file that has been seen before, or sees
// to it that it is known next time. Only what anybody would be answered counts.
func (x *exchange) remember(r *http1.Response) {
	w, e := x.worker, &x.edit
	if !e.rules.Memory || x.plan != w.plan || r.Status() != 200 || e.private || r.Has(http1.SetCookie) || !variesByCoding(r) {
		return
	}
	if x.ask != httpconn.Head && string(x.notes.get(x.notes.method)) != "GET" {
		return
	}
	validator := r.Get(http1.ETag)
	if len(validator) < 2 || validator[0] != '"' {
		if validator = r.Get(http1.LastModified); e.personal || !isSettled(validator, r.Get(http1.Date)) {
			return
		}
	}
	e.key = w.memory.Key(e.rules, x.notes.get(x.notes.host), x.notes.get(x.notes.target), byte(e.coding), validator)
	w.counts.asked.Add(1)
	if known := w.memory.Get(e.key); known != nil {
		w.counts.known.Add(1)
		e.subset = known
		return
	}
	e.learns = x.ask != httpconn.Head
}

// variesByCoding tells that an answer varies by nothing, or by the client's codings.
func variesByCoding(r *http1.Response) bool {
	for name := range r.Elements(http1.Vary) {
		if !bytes.EqualFold(name, []byte("Accept-Encoding")) {
			return false
		}
	}
	return true
}

// settled is by how much a file must have been older than the answer for its time to
// tell one version from another (RFC 9110, 8.8.2.2).
const settled = time.Minute

func isSettled(modified, date []byte) bool {
	m, err := http.ParseTime(string(modified))
	if err != nil {
		return false
	}
	d, err := http.ParseTime(string(date))
	return err == nil && d.Sub(m) >= settled
}

// learn remembers which rules have won a match in a body that is whole.
func (x *exchange) learn(s *body.Stream) {
	e := &x.edit
	if !e.learns || x.plan != x.worker.plan {
		return
	}
	var room [4]uint64
	if sub := e.rules.Subset(s.Won(room[:0])); sub != nil {
		sub.Prepare()
		x.worker.memory.Put(e.key, sub)
	}
}

// endEdit ends what there is of an edit when its exchange does.
func (x *exchange) endEdit() {
	e := &x.edit
	for _, plain := range []**body.Stream{&e.plain, &x.asks.plain} {
		if *plain != nil {
			e.matches += (*plain).Close()
			*plain = nil
		}
	}
	for _, c := range []**coded{&e.coded, &x.asks.coded} {
		if *c != nil {
			(*c).leave()
			*c = nil
		}
	}
	for _, block := range []*[]byte{&e.head, &e.rest} {
		if *block != nil {
			x.worker.loop.Memory().Put(*block)
			*block = nil
		}
	}
}
