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
	Offset int64  // where its size line begins in the file, in bytes
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

// head is the request's header lines, without the request line.
func (r Record) head() []byte {
	head, _, _ := bytes.Cut(r.Bytes, []byte("\r\n\r\n"))
	_, head, _ = bytes.Cut(head, []byte("\r\n"))
	return head
}

// closes reports whether the record asks for its connection to be closed after
// the answer: Connection: close, or HTTP/1.0 without keep-alive.
func (r Record) closes() bool {
	for line := range bytes.SplitSeq(r.head(), []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if !bytes.EqualFold(name, []byte("Connection")) {
			continue
		}
		for option := range bytes.SplitSeq(value, []byte(",")) {
			switch option = bytes.TrimSpace(option); {
			case bytes.EqualFold(option, []byte("close")):
				return true
			case bytes.EqualFold(option, []byte("keep-alive")):
				return false
			}
		}
	}
	return bytes.HasSuffix(r.Line(), []byte(" HTTP/1.0"))
}

// SyntaxError says where an ammo or answers file is broken, and what should
// have stood there.
type SyntaxError struct {
	File   string // as the reader was told
	Record int    // the record (ammo) or line (answers) it happened in, from 1
	Offset int64  // where in the file, in bytes from its start
	Want   string // what was expected
	Got    string // what was found, cut short
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: record %d, byte %d: want %s, got %s", e.File, e.Record, e.Offset, e.Want, e.Got)
}

// excerpt quotes the beginning of b for an error's text.
func excerpt(b []byte) string {
	const most = 60
	if len(b) > most {
		return fmt.Sprintf("%q...", b[:most])
	}
	return fmt.Sprintf("%q", b)
}
