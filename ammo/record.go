package ammo

import (
	"bytes"
	"fmt"
)

// Record is one request of an ammo file.
type Record struct {
	Tag    []byte // groups requests in reports; may be empty
	Bytes  []byte // what goes over the wire, to the last byte
	Number int    // its place in the file, from 1
	Offset int64  // where its size line begins in the file's text, in bytes
}

// AppendTo copies the record's slices into buf and returns a record that
// points there, together with the longer buf. It survives the reader's next
// record.
func (r Record) AppendTo(buf []byte) (Record, []byte) {
	from := len(buf)
	buf = append(append(buf, r.Tag...), r.Bytes...)
	mid := from + len(r.Tag)
	r.Tag, r.Bytes = buf[from:mid:mid], buf[mid:len(buf):len(buf)]
	return r, buf
}

// Line is the request line without its line end: everything up to the first.
func (r Record) Line() []byte {
	line, _, _ := bytes.Cut(r.Bytes, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// MethodTarget splits the request line at its first and last space. Both are
// empty if it has not the shape METHOD TARGET VERSION.
func (r Record) MethodTarget() (method, target []byte) {
	line := r.Line()
	first, last := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ' ')
	if first <= 0 || last <= first+1 {
		return nil, nil
	}
	return line[:first], line[first+1 : last]
}

// Body is what follows the head, including any bytes beyond Content-Length.
func (r Record) Body() []byte {
	_, body, _ := bytes.Cut(r.Bytes, []byte("\r\n\r\n"))
	return body
}

// Closes reports whether the record asks for its connection to be closed after
// the answer: Connection names close, or it is HTTP/1.0 and Connection does not
// name keep-alive. It walks the head and allocates nothing; heads whose lines
// end in a bare LF are understood too.
func (r Record) Closes() bool {
	keeps := false
	rest := r.Bytes
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		rest = rest[end+1:]
		if len(rest) == 0 || rest[0] == '\r' || rest[0] == '\n' {
			break // the head ends
		}
		if rest[0]|0x20 != 'c' { // most lines
			continue
		}
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		if !bytes.EqualFold(name, []byte("Connection")) {
			continue
		}
		for more := true; more; {
			var option []byte
			option, value, more = bytes.Cut(value, []byte(","))
			option = bytes.TrimSpace(option)
			if bytes.EqualFold(option, []byte("close")) {
				return true // whatever else is said
			}
			keeps = keeps || bytes.EqualFold(option, []byte("keep-alive"))
		}
	}
	return !keeps && bytes.HasSuffix(r.Line(), []byte(" HTTP/1.0"))
}

// SyntaxError says where an ammo or answers file is broken, and what should
// have stood there.
type SyntaxError struct {
	File     string // as the reader was told
	Record   int    // the record (ammo) or line (answers) it happened in, from 1
	Offset   int64  // where in the file, in bytes from its start
	Unpacked bool   // Offset counts the unpacked text of a gzip file
	Want     string // what was expected
	Got      string // what was found, cut short
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: record %d, %s: want %s, got %s", e.File, e.Record, place(e.Offset, e.Unpacked), e.Want, e.Got)
}

// place names a byte of a file for an error's text.
func place(offset int64, unpacked bool) string {
	if unpacked {
		return fmt.Sprintf("byte %d of the unpacked text", offset)
	}
	return fmt.Sprintf("byte %d", offset)
}

// excerpt quotes the beginning of b for an error's text.
func excerpt(b []byte) string {
	const most = 60
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
