package data

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"redoubt/store"
)

// How long strings may be, in code points. A place's length is unlimited.
const (
	maxEmail   = 100
	maxName    = 50
	maxCountry = 50
	maxCity    = 50
)

// maxDepth is how many arrays and objects the value of an unknown field may
// nest.
const maxDepth = 32

// Error says what is wrong with a record, and where.
type Error struct {
	Field  string // the known field that is wrong; empty if the fault lies elsewhere
	Reason string
	Offset int // in bytes from the start of what was read
}

func (e *Error) Error() string {
	s := e.Reason + " at offset " + strconv.Itoa(e.Offset)
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	return s
}

// Reader reads users, locations and visits from JSON. Its zero value is ready
// to use; it is for one goroutine at a time.
//
// It accepts what the rules of the API accept: known fields of the right type
// and in range, in any order; of a repeated one the last counts, though all
// are checked. Unknown fields may hold any valid JSON that nests at most 32
// arrays and objects, and are ignored. Field names may be written with
// escapes. Whether a field must or must not be there is the caller's to say:
// the struct's Has tells which ones were.
//
// The strings of the result are parts of the input, or, where they had
// escapes, of memory of the Reader: they are valid until the Reader's next
// call and while the input is unchanged. A warm Reader allocates nothing
// but errors, which are always of type *Error. After an error the struct
// holds nothing of use.
//
// Its inner methods all take the input and a position and return the position
// after what they read, or -1 with the fault in r.fault.
type Reader struct {
	scratch []byte // strings that had escapes, as they are without; see reset
	fault   Error  // set by whatever returned -1
}

// User reads a body that is one user and nothing else.
func (r *Reader) User(src []byte, u *store.User) error {
	return r.whole(src, r.user(src, space(src, 0), u))
}

// Location reads a body that is one location and nothing else.
func (r *Reader) Location(src []byte, l *store.Location) error {
	return r.whole(src, r.location(src, space(src, 0), l))
}

// Visit reads a body that is one visit and nothing else.
func (r *Reader) Visit(src []byte, v *store.Visit) error {
	return r.whole(src, r.visit(src, space(src, 0), v))
}

// whole ends a body: only white space may follow the record, which ended at i.
func (r *Reader) whole(src []byte, i int) error {
	if i >= 0 {
		if i = space(src, i); i == len(src) {
			return nil
		}
		r.fail(i, "expected nothing after the object")
	}
	fault := r.fault
	return &fault
}

// keepScratch is how many bytes of scratch a Reader keeps from one record to
// the next: long ones are rare.
const keepScratch = 64 << 10

// reset forgets the strings of the record before.
func (r *Reader) reset() {
	if cap(r.scratch) > keepScratch {
		r.scratch = nil
	}
	r.scratch = r.scratch[:0]
}

// user reads the user that starts at i.
func (r *Reader) user(src []byte, i int, u *store.User) int {
	*u = store.User{}
	r.reset()
	i, more := r.open(src, i)
	for more {
		var field store.Fields
		if field, i = userField(src, i); field == 0 {
			if field, i = r.field(users, src, i); i < 0 {
				return i
			}
		}
		i = space(src, i)
		switch field {
		case store.ID:
			u.ID, i = r.uint32(src, i)
		case store.Email:
			u.Email, i = r.text(src, i, maxEmail)
		case store.FirstName:
			u.FirstName, i = r.text(src, i, maxName)
		case store.LastName:
			u.LastName, i = r.text(src, i, maxName)
		case store.Gender:
			u.Gender, i = r.gender(src, i)
		case store.BirthDate:
			u.BirthDate, i = r.int32(src, i)
		default:
			i = r.skip(src, i, maxDepth)
		}
		if i < 0 {
			return r.blame(users, field)
		}
		u.Has |= field
		i, more = r.next(src, i)
	}
	return i
}

// location reads the location that starts at i.
func (r *Reader) location(src []byte, i int, l *store.Location) int {
	*l = store.Location{}
	r.reset()
	i, more := r.open(src, i)
	for more {
		var field store.Fields
		if field, i = locationField(src, i); field == 0 {
			if field, i = r.field(locations, src, i); i < 0 {
				return i
			}
		}
		i = space(src, i)
		switch field {
		case store.ID:
			l.ID, i = r.uint32(src, i)
		case store.Distance:
			l.Distance, i = r.uint32(src, i)
		case store.Place:
			l.Place, i = r.text(src, i, math.MaxInt)
		case store.Country:
			l.Country, i = r.text(src, i, maxCountry)
		case store.City:
			l.City, i = r.text(src, i, maxCity)
		default:
			i = r.skip(src, i, maxDepth)
		}
		if i < 0 {
			return r.blame(locations, field)
		}
		l.Has |= field
		i, more = r.next(src, i)
	}
	return i
}

// visit reads the visit that starts at i.
func (r *Reader) visit(src []byte, i int, v *store.Visit) int {
	*v = store.Visit{}
	r.reset()
	i, more := r.open(src, i)
	for more {
		var field store.Fields
		if field, i = visitField(src, i); field == 0 {
			if field, i = r.field(visits, src, i); i < 0 {
				return i
			}
		}
		i = space(src, i)
		switch field {
		case store.ID:
			v.ID, i = r.uint32(src, i)
		case store.AtLocation:
			v.Location, i = r.uint32(src, i)
		case store.ByUser:
			v.User, i = r.uint32(src, i)
		case store.VisitedAt:
			v.VisitedAt, i = r.int32(src, i)
		case store.Mark:
			v.Mark, i = r.mark(src, i)
		default:
			i = r.skip(src, i, maxDepth)
		}
		if i < 0 {
			return r.blame(visits, field)
		}
		v.Has |= field
		i, more = r.next(src, i)
	}
	return i
}

// open enters the object at i. If it has a first field, more is true and the
// position that field's name; otherwise it is the position after the object.
func (r *Reader) open(src []byte, i int) (pos int, more bool) {
	if i >= len(src) || src[i] != '{' {
		return r.fail(i, "expected an object"), false
	}
	i = space(src, i+1)
	if i < len(src) && src[i] == '}' {
		return i + 1, false
	}
	return i, true
}

// field reads a name that is unknown, has escapes or is not followed by a
// colon at once, and the colon. The field is 0 for an unknown name.
func (r *Reader) field(k kind, src []byte, i int) (store.Fields, int) {
	name, i := r.key(src, i)
	for _, f := range fieldNames[k] {
		if string(name) == f.name {
			return f.field, i
		}
	}
	return 0, i
}

// key reads a field's name and the colon. The name is valid until the next
// call of any method.
func (r *Reader) key(src []byte, i int) ([]byte, int) {
	if i >= len(src) || src[i] != '"' {
		return nil, r.fail(i, "expected a field's name")
	}
	kept := len(r.scratch)
	name, i := r.chars(src, i+1)
	r.scratch = r.scratch[:kept]
	if i < 0 {
		return nil, i
	}
	if i = space(src, i); i >= len(src) || src[i] != ':' {
		return nil, r.fail(i, "expected a colon after the field's name")
	}
	return name, i + 1
}

// next goes on after a field's value, which ended at i or failed (-1), as
// open does.
func (r *Reader) next(src []byte, i int) (pos int, more bool) {
	if i < 0 {
		return i, false
	}
	if i = space(src, i); i < len(src) {
		switch src[i] {
		case ',':
			return space(src, i+1), true
		case '}':
			return i + 1, false
		}
	}
	return r.fail(i, "expected a comma or the object's end"), false
}

func (r *Reader) uint32(src []byte, i int) (uint32, int) {
	v, i := r.integer(src, i, 0, math.MaxUint32)
	return uint32(v), i
}

func (r *Reader) int32(src []byte, i int) (int32, int) {
	v, i := r.integer(src, i, math.MinInt32, math.MaxInt32)
	return int32(v), i
}

func (r *Reader) mark(src []byte, i int) (uint8, int) {
	v, i := r.integer(src, i, 0, 5)
	return uint8(v), i
}

// integer reads a value of the form -?(0|[1-9][0-9]*) between low and high.
// JSON numbers of other forms, 1.0 and 1e2 among them, are refused.
func (r *Reader) integer(src []byte, i int, low, high int64) (int64, int) {
	start := i
	minus := i < len(src) && src[i] == '-'
	if minus {
		i++
	}
	first := i
	var v int64
	if len(src)-i >= 8 {
		head, n := leadingDigits(binary.LittleEndian.Uint64(src[i:]))
		v, i = int64(head), i+n
	}
	for i < len(src) && src[i]-'0' <= 9 {
		v = v*10 + int64(src[i]-'0') // may overflow, but not within ten digits
		i++
	}
	switch n := i - first; {
	case n == 0 || n > 1 && src[first] == '0':
		return 0, r.fail(start, "expected an integer")
	case i < len(src) && (src[i] == '.' || src[i]|0x20 == 'e'):
		return 0, r.fail(start, "expected an integer, without fraction or exponent")
	case n > 10: // more digits than any field's bounds have
		return 0, r.fail(start, "out of range")
	}
	if minus {
		v = -v
	}
	if v < low || v > high {
		return 0, r.fail(start, "out of range")
	}
	return v, i
}

func (r *Reader) gender(src []byte, i int) (byte, int) {
	if len(src)-i >= 3 {
		// Fast path: the two are written without escapes.
		switch string(src[i : i+3]) {
		case `"m"`:
			return 'm', i + 3
		case `"f"`:
			return 'f', i + 3
		}
	}
	start := i
	s, i := r.text(src, i, math.MaxInt)
	if i < 0 {
		return 0, i
	}
	if len(s) != 1 || s[0] != 'm' && s[0] != 'f' {
		return 0, r.fail(start, "must be m or f")
	}
	return s[0], i
}

// text reads a value that is a string of at most limit code points.
func (r *Reader) text(src []byte, i int, limit int) ([]byte, int) {
	if i >= len(src) || src[i] != '"' {
		return nil, r.fail(i, "expected a string")
	}
	start := i
	s, i := r.chars(src, i+1)
	if i >= 0 && len(s) > limit && utf8.RuneCount(s) > limit {
		return nil, r.fail(start, "too long")
	}
	return s, i
}

// chars reads a string whose opening quote ended at i.
func (r *Reader) chars(src []byte, i int) ([]byte, int) {
	end := plain(src, i)
	if end < len(src) && src[end] == '"' {
		return src[i:end:end], end + 1 // Fast path: nothing to unescape.
	}
	return r.unescape(src, i, end)
}

// unescape is chars for strings that have escapes, or faults. The bytes from
// i to end are known to be plain.
func (r *Reader) unescape(src []byte, i, end int) ([]byte, int) {
	from := len(r.scratch)
	for {
		r.scratch = append(r.scratch, src[i:end]...)
		if end == len(src) {
			return nil, r.fail(end, "a string without end")
		}
		switch c := src[end]; {
		case c == '"':
			return r.scratch[from:len(r.scratch):len(r.scratch)], end + 1
		case c == '\\':
			char, n := escape(src[end:])
			if n == 0 {
				return nil, r.fail(end, "a bad escape in a string")
			}
			r.scratch = utf8.AppendRune(r.scratch, char)
			i = end + n
		case c < 0x20:
			return nil, r.fail(end, "a control character in a string")
		default:
			return nil, r.fail(end, "bad UTF-8 in a string")
		}
		end = plain(src, i)
	}
}

// escape returns the character that the escape at the start of b stands for,
// and the escape's length: 12 for a pair of surrogates, 0 if it is invalid or
// a surrogate alone.
func escape(b []byte) (char rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		char = hex4(b[2:])
		switch {
		case char < 0 || char >= 0xDC00 && char <= 0xDFFF:
			return 0, 0
		case char < 0xD800 || char > 0xDBFF:
			return char, 6
		}
		if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
			return 0, 0
		}
		if low := hex4(b[8:]); low >= 0xDC00 && low <= 0xDFFF {
			return 0x10000 + (char-0xD800)<<10 + low - 0xDC00, 12
		}
	}
	return 0, 0
}

// skip reads a value of any kind that nests at most depth arrays and objects,
// and forgets it.
func (r *Reader) skip(src []byte, i, depth int) int {
	if i >= len(src) {
		return r.fail(i, "expected a value")
	}
	switch c := src[i]; {
	case c == '"':
		kept := len(r.scratch)
		_, i = r.chars(src, i+1)
		r.scratch = r.scratch[:kept]
		return i
	case c == '{' || c == '[':
		if depth == 0 {
			return r.fail(i, "arrays and objects nested too deep")
		}
		if c == '[' {
			return r.skipArray(src, i, depth-1)
		}
		return r.skipObject(src, i, depth-1)
	case c == '-' || c-'0' <= 9:
		if i = number(src, i); i < 0 {
			return r.fail(-1-i, "a malformed number")
		}
		return i
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(src)-i >= len(word) && string(src[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return r.fail(i, "expected a value")
}

// skipObject skips the object at i, whose values nest at most depth.
func (r *Reader) skipObject(src []byte, i, depth int) int {
	i, more := r.open(src, i)
	for more {
		if _, i = r.key(src, i); i < 0 {
			return i
		}
		i, more = r.next(src, r.skip(src, space(src, i), depth))
	}
	return i
}

// skipArray skips the array at i, whose elements nest at most depth.
func (r *Reader) skipArray(src []byte, i, depth int) int {
	i = space(src, i+1)
	if i < len(src) && src[i] == ']' {
		return i + 1
	}
	for {
		if i = r.skip(src, i, depth); i < 0 {
			return i
		}
		if i = space(src, i); i < len(src) && src[i] == ']' {
			return i + 1
		}
		if i >= len(src) || src[i] != ',' {
			return r.fail(i, "expected a comma or the array's end")
		}
		i = space(src, i+1)
	}
}

// fail notes a fault and returns -1.
func (r *Reader) fail(offset int, reason string) int {
	r.fault = Error{Reason: reason, Offset: offset}
	return -1
}

// blame notes whose value was at fault and returns -1.
func (r *Reader) blame(k kind, field store.Fields) int {
	for _, f := range fieldNames[k] {
		if field == f.field {
			r.fault.Field = f.name
		}
	}
	return -1
}
