package filter

import "bytes"

// A path is not read in one way by all servers. All of them decode escapes once,
// resolve "." and "..", and take slashes in a row for one, if only where files
// are looked up; but what ".." takes away depends on the order:
//
//	/a%2fb/../.git    /a/.git if %2f separates segments, else /.git
//	/.git//../x       /x if two slashes are one beforehand, else /.git/x
//
// Some servers take \ for a slash (IIS), and some cut parameters from segments,
// which are what follows a semicolon (Tomcat, Jetty, Spring):
//
//	/x\..\.git        /.git if \ separates segments
//	/x/..;a/.git      /.git without parameters
//
// As it is not known what server will read the path, a rule for any of these
// readings counts. A reading is the set of what makes it another than the first.
type reading uint8

const (
	opaque  reading = 1 << iota // %2f and %5c are part of a segment
	empty                       // between two slashes is a segment
	slashed                     // \ is a slash
	cut                         // parameters are cut before anything else is done: only / ends them
	recut                       // they are cut later: %3b begins them, too, and any slash ends them

	readings = cut | recut // how many there are: none has these two
)

// isPlain tells whether all readings of a path are the path itself.
func isPlain(path []byte) bool {
	return len(path) == 0 || path[0] != '/' ||
		bytes.IndexByte(path, '%') < 0 && bytes.IndexByte(path, ';') < 0 && bytes.IndexByte(path, '\\') < 0 &&
			!bytes.Contains(path, []byte("//")) && !bytes.Contains(path, []byte("/."))
}

// kind is what readings may differ about: a bit, or a set of them.
type kind uint8

const (
	slash kind = 1 << iota // and the end of the path
	backslash
	semicolon
	escapedSlash // these three in the order of those
	escapedBackslash
	escapedSemicolon
)

const (
	anyBackslash = backslash | escapedBackslash
	anySemicolon = semicolon | escapedSemicolon
	anyEscaped   = escapedSlash | escapedBackslash | escapedSemicolon
)

// target is a path, taken apart as far as all readings are the same.
type target struct {
	decoded  []byte
	marks    []mark // of all kinds, in order, but for the slash at the start
	kinds    kind   // that are in marks
	touching bool   // two of them stand side by side

	segments []segment // room of read
}

type mark struct {
	at   uint16
	kind kind
}

type segment struct{ from, end uint16 }

// parse takes apart a path, which begins with a slash, into the room of t. Targets
// are values so that their room may lie on the stack.
func (t target) parse(path []byte) target {
	for i := 0; i < len(path); {
		c, n := unescape(path[i:])
		if k := kindOf(c); k != 0 && i > 0 {
			if n > 1 {
				k *= escapedSlash
			}
			at := uint16(len(t.decoded))
			t.kinds |= k
			t.touching = t.touching || len(t.marks) > 0 && t.marks[len(t.marks)-1].at == at-1
			t.marks = append(t.marks, mark{at, k})
		}
		t.decoded = append(t.decoded, c)
		i += n
	}
	t.marks = append(t.marks, mark{uint16(len(t.decoded)), slash})
	return t
}

func kindOf(c byte) kind {
	switch c {
	case '/':
		return slash
	case '\\':
		return backslash
	case ';':
		return semicolon
	}
	return 0
}

// alike are the readings' differences that make none here.
func (t target) alike() (same reading) {
	if t.kinds&anyEscaped == 0 {
		same |= opaque
	}
	if !t.touching {
		same |= empty
	}
	if t.kinds&anyBackslash == 0 {
		same |= slashed
	}
	if t.kinds&anySemicolon == 0 {
		same |= cut | recut
	}
	return same
}

// read appends the path as a server reads it to dst, so much of it that there is
// more than enough, and tells whether there was a "..".
func (t target) read(dst []byte, as reading, enough int) (read []byte, up bool) {
	separates, begins, ends := as.kinds()
	t.segments = t.segments[:0]
	from, parameters := 1, 0
	for i, m := range t.marks {
		at := int(m.at)
		if m.kind&separates == 0 || parameters > 0 && m.kind&ends == 0 {
			if m.kind&begins != 0 && parameters == 0 {
				parameters = at
			}
			continue
		}
		end := at
		if parameters > 0 {
			end = parameters
		}
		s := t.decoded[from:end]
		dots := string(s) == "." || string(s) == ".."
		if dots && len(s) == 2 {
			up = true
			t.segments = t.segments[:max(0, len(t.segments)-1)]
		}
		if dots {
			end = from // if it is the last, what is left is a folder
		}
		if i == len(t.marks)-1 || !dots && (end > from || as&empty != 0) {
			t.segments = append(t.segments, segment{uint16(from), uint16(end)})
		}
		from, parameters = at+1, 0
	}
	return t.join(dst, enough), up
}

// kinds are which separate segments, and which begin and end parameters.
func (as reading) kinds() (separates, begins, ends kind) {
	separates = slash
	if as&slashed != 0 {
		separates |= backslash
	}
	if as&opaque == 0 {
		separates |= separates * escapedSlash
	}
	switch {
	case as&cut != 0:
		return separates, semicolon, slash
	case as&recut != 0:
		return separates, anySemicolon, separates
	}
	return separates, 0, 0
}

// join appends the segments, and makes slashes in a row one.
func (t target) join(dst []byte, enough int) []byte {
	begin, last := len(dst), byte(0)
	for _, s := range t.segments {
		if last != '/' {
			dst, last = append(dst, '/'), '/'
		}
		for _, c := range t.decoded[s.from:s.end] {
			if len(dst)-begin > enough {
				return dst
			}
			if c != '/' || last != '/' {
				dst, last = append(dst, c), c
			}
		}
	}
	return dst
}

// decode replaces %xx by the byte that it stands for. A % without two digits
// stays.
func decode(text string) string {
	var b []byte
	for in := []byte(text); len(in) > 0; {
		c, n := unescape(in)
		b = append(b, c)
		in = in[n:]
	}
	return string(b)
}

// unescape is the first byte of a text, and how many bytes stand for it.
func unescape(in []byte) (c byte, n int) {
	if in[0] == '%' && len(in) >= 3 {
		if high, low := digit(in[1]), digit(in[2]); high|low < 16 {
			return high<<4 | low, 3
		}
	}
	return in[0], 1
}

// digit is the value of a hexadecimal digit; 255: it is none.
func digit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10
	}
	return 255
}
