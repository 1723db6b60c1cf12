package rewrite

import (
	"slices"

	"redoubt/netloop/http1"
)

// Rules are what Compile and Join make. They never change. Nil has no rules.
type Rules struct {
	fields []*field // that a rule names, in the order of compare
	lines  []line   // of set and add
	url    []rule

	// Nearly every field of a head is one that no rule names. These are asked
	// first.
	kinds uint64 // bits of the kinds of fields, known ones and Other, that rules name
	owned uint64 // bits of known fields that are gone
	sizes uint64 // how long names are, see sizeBit
}

// field is what is done to the fields of one name.
type field struct {
	name  string // in small letters
	host  bool   // of a request
	gone  bool   // removed or set
	rules []rule
}

// line is a line to be added.
type line struct {
	name  string
	value text
	text  []byte // all of it, if the value is constant
	host  bool   // see field
}

// Head is a head whose fields are looked at: an *http1.Request or an
// *http1.Response.
type Head interface {
	Fields() []http1.Field
	Name(http1.Field) []byte
	Value(http1.Field) []byte
	Line(http1.Field) []byte
}

// Field handles one field line of a head. True: its new line, if one takes its
// place, has been added to out. False: it stays as it is, and the caller adds
// it.
func (r *Rules) Field(out *http1.Segments, h Head, f http1.Field, v *Vars) bool {
	if r == nil || r.kinds>>f.Known()&1 == 0 {
		return false
	}
	name := h.Name(f)
	found := find(r, name)
	switch {
	case found == nil:
		return false
	case found.gone:
		return !found.host || r.SetsHost(v)
	}
	value, changed, ok := found.rewrite(v.room[:0], h.Value(f), v)
	v.keep(value)
	if changed && ok {
		out.Field(string(name), value)
	}
	return changed
}

// Added adds the lines of set and add.
func (r *Rules) Added(out *http1.Segments, v *Vars) {
	if r == nil {
		return
	}
	if len(r.fields) > 0 {
		v.searched = 0 // the head is done
	}
	for i := range r.lines {
		l := &r.lines[i]
		if l.text != nil {
			out.Put(l.text)
			continue
		}
		value := l.value.append(v.room[:0], nil, nil, v)
		v.keep(value)
		if len(value) <= maxText && (!l.host || isHost(value)) {
			out.Field(l.name, value)
		}
	}
}

// SetsHost tells whether Added adds a Host: a value with variables may be none.
func (r *Rules) SetsHost(v *Vars) bool {
	if r == nil {
		return false
	}
	for i := range r.lines {
		l := &r.lines[i]
		if !l.host {
			continue
		}
		if l.text != nil {
			return true
		}
		value := l.value.append(v.room[:0], nil, nil, v)
		v.keep(value)
		return isHost(value)
	}
	return false
}

// Owns tells whether the rules set or remove a known field. Then no other one
// of that name is to be added.
func (r *Rules) Owns(k http1.Known) bool { return r != nil && r.owned>>k&1 != 0 }

// OwnsName is Owns for any field, by its name in whatever case. A trailer of that
// name is to be dropped.
func (r *Rules) OwnsName(name string) bool {
	if r == nil {
		return false
	}
	f := find(r, name)
	return f != nil && f.gone
}

// Value applies the Headers rules for fields of a name to a value that stands
// elsewhere than in a head: that of a trailer, or a host. If any has matched,
// changed is true and the new value is appended to dst; ok is false, and out
// nil, if that value cannot be sent. A Host that would become no host stays as it is.
// value may not lie in dst's room.
func (r *Rules) Value(dst, name, value []byte, v *Vars) (out []byte, changed, ok bool) {
	if r == nil {
		return nil, false, true
	}
	f := find(r, name)
	if f == nil {
		return nil, false, true
	}
	from := len(dst)
	dst, changed, ok = f.rewrite(dst, value, v)
	v.searched = 0
	if !changed {
		return nil, false, true
	}
	if !ok || slices.ContainsFunc(dst[from:], func(c byte) bool { return !inValue(c) }) {
		return nil, true, false
	}
	return dst, true, true
}

// URL applies the rules on the target, path and query, to one in origin form.
// If any has matched, changed is true and the new target is appended to dst; ok
// is false, and out nil, if that is no target in origin form of at most
// http1.MaxTarget bytes, or a rule has too many matches. target may not lie in
// dst's room.
func (r *Rules) URL(dst, target []byte, v *Vars) (out []byte, changed, ok bool) {
	if r == nil || len(r.url) == 0 {
		return nil, false, true
	}
	from := len(dst)
	dst, changed, ok = replaceAll(r.url, dst, target, v)
	v.searched = 0
	if !changed {
		return nil, false, true
	}
	made := dst[from:]
	if !ok || len(made) == 0 || made[0] != '/' || len(made) > http1.MaxTarget ||
		slices.ContainsFunc(made, func(c byte) bool { return !inTarget(c) }) {
		return nil, true, false
	}
	return dst, true, true
}

// rewrite applies the rules to a value. ok is false if the result is too long or
// there are too many matches.
func (f *field) rewrite(dst, value []byte, v *Vars) (out []byte, changed, ok bool) {
	if f.host {
		v.searched = 0 // it is short and the only one: whatever came before it, it is done
	}
	from := len(dst)
	out, changed, ok = replaceAll(f.rules, dst, value, v)
	if f.host && changed && !(ok && isHost(out[from:])) {
		return out, false, true
	}
	return out, changed, ok
}

// Join makes rules of two sets, first the outer, then the inner ones. What the
// inner ones set or remove the outer ones do not add. Either may be nil.
func Join(outer, inner *Rules) *Rules {
	switch {
	case outer == nil:
		return inner
	case inner == nil:
		return outer
	}
	r := &Rules{url: slices.Concat(outer.url, inner.url)}
	for _, l := range outer.lines {
		if !inner.OwnsName(l.name) {
			r.lines = append(r.lines, l)
		}
	}
	r.lines = append(r.lines, inner.lines...)
	for _, from := range slices.Concat(outer.fields, inner.fields) {
		f := r.field(from.name)
		f.host = from.host
		f.gone = f.gone || from.gone
		f.rules = append(f.rules, from.rules...)
	}
	r.index()
	return r
}

// field is the field of a name in small letters, made if there is none.
func (r *Rules) field(name string) *field {
	i, found := search(r.fields, name)
	if !found {
		r.fields = slices.Insert(r.fields, i, &field{name: name})
	}
	return r.fields[i]
}

// index sets the bits, when all fields are there.
func (r *Rules) index() {
	for _, f := range r.fields {
		k := http1.KnownField(f.name)
		r.kinds |= 1 << k
		r.sizes |= sizeBit(len(f.name))
		if f.gone && k != http1.Other {
			r.owned |= 1 << k
		}
	}
}

// sizeBit is the bit of names that long.
func sizeBit(n int) uint64 { return 1 << min(n, 63) }

// find is the field of a name in whatever case, if a rule names it.
func find[T string | []byte](r *Rules, name T) *field {
	if r.sizes&sizeBit(len(name)) == 0 {
		return nil
	}
	if i, found := search(r.fields, name); found {
		return r.fields[i]
	}
	return nil
}

// search is where the field of a name is, or would be. It is here and not that
// of slices because names that go through a func value would be moved to the
// heap.
func search[T string | []byte](fields []*field, name T) (i int, found bool) {
	i, end := 0, len(fields)
	for i < end {
		middle := int(uint(i+end) / 2)
		switch d := compare(fields[middle].name, name); {
		case d == 0:
			return middle, true
		case d < 0:
			i = middle + 1
		default:
			end = middle
		}
	}
	return i, false
}

// compare orders names by length, then by their small letters.
func compare[T string | []byte](small string, name T) int {
	if d := len(small) - len(name); d != 0 {
		return d
	}
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if d := int(small[i]) - int(c); d != 0 {
			return d
		}
	}
	return 0
}
