package http1

import "bytes"

// Field is where a field line stands in its head. The head's Name, Value and
// Line turn it into bytes.
//
//	bits 0..15   offset of the name
//	bits 16..31  offset of the value
//	bits 32..47  length of the value
//	bits 48..55  length of the name; 255: up to the colon
//	bits 56..63  which field it is
//
// It is one word, not a struct: a struct of 8 bytes is put together in memory
// and read back at once, which stalls for as long as a short line takes.
type Field uint64

func newField(name, nameSize, value, size int, known Known) Field {
	return Field(name) | Field(value)<<16 | Field(size)<<32 | Field(min(nameSize, 255))<<48 | Field(known)<<56
}

func (f Field) name() int     { return int(uint16(f)) }
func (f Field) value() int    { return int(uint16(f >> 16)) }
func (f Field) valueEnd() int { return f.value() + int(uint16(f>>32)) }
func (f Field) nameSize() int { return int(uint8(f >> 48)) }

// Known is which field it is.
func (f Field) Known() Known { return Known(f >> 56) }

// Fields are the head's, in order.
func (h *head) Fields() []Field { return h.fields[:h.lines.count] }

// Name is the field's name as it was written.
func (h *head) Name(f Field) []byte {
	name := h.in[f.name():f.value()]
	if f.nameSize() < 255 {
		return name[:f.nameSize()]
	}
	return name[:bytes.IndexByte(name, ':')]
}

// Value is the field's value, without white space around it.
func (h *head) Value(f Field) []byte { return h.in[f.value():f.valueEnd()] }

// Line is the whole field line with its CRLF. Lines that follow each other do
// so in memory.
func (h *head) Line(f Field) []byte {
	end := f.valueEnd()
	return h.in[f.name() : end+bytes.IndexByte(h.in[end:], '\n')+1]
}

// Has tells whether a field is there.
func (h *head) Has(k Known) bool { return h.seen>>k&1 != 0 }

// Get is the value of the first such field; nil if there is none. Of Other
// there never is one: see Find.
func (h *head) Get(k Known) []byte {
	if h.Has(k) {
		for _, f := range h.Fields() {
			if f.Known() == k {
				return h.Value(f)
			}
		}
	}
	return nil
}

// Find is the value of the first field of a name, in whatever case, and
// whether there is one.
func (h *head) Find(name string) (value []byte, ok bool) {
	if k := KnownField(name); k != Other {
		return h.Get(k), h.Has(k)
	}
	for _, f := range h.Fields() {
		// EqualFold folds more than ASCII, but a field's name is a token.
		if f.Known() == Other && bytes.EqualFold(h.Name(f), []byte(name)) {
			return h.Value(f), true
		}
	}
	return nil, false
}

// Elements are the elements of the lists in all fields of a kind, in order,
// without empty ones. Commas in quoted strings separate, too.
func (h *head) Elements(k Known) func(yield func(element []byte) bool) {
	return func(yield func([]byte) bool) { h.elements(k, yield) }
}

func (h *head) elements(k Known, yield func([]byte) bool) {
	if !h.Has(k) {
		return
	}
	for _, f := range h.Fields() {
		if f.Known() != k {
			continue
		}
		for element, rest := cutElement(h.Value(f)); len(element) > 0; element, rest = cutElement(rest) {
			if !yield(element) {
				return
			}
		}
	}
}
