package ammo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// DefaultMaxRecord is the longest record a reader takes unless told otherwise:
// 16 MB.
const DefaultMaxRecord = 16 << 20

const (
	maxSizeLine = 4096    // a size line with its tag
	firstRead   = 1 << 16 // a record's buffer doubles from here as bytes arrive, so that a lying size costs nothing
)

// PhantomReader reads Yandex.Tank's request-style ammo:
//
//	SIZE TAG\n
//	<SIZE bytes of request>
//	SIZE TAG\n
//	...
//
// The fields of a size line are separated by blanks or tabs (any white space of
// ASCII). The tag is the second and may be missing; it may hold any bytes but
// these. What follows it is ignored, as Tank does. Blank lines between records
// are skipped. A size of 0 ends the file early (guns start again from the
// beginning). All SIZE bytes belong to the request, also those beyond its
// Content-Length.
//
// It holds one record in memory and is not safe for concurrent use.
type PhantomReader struct {
	in       *bufio.Reader
	file     string
	max      int
	unpacked bool  // what r gives is unpacked from the file: offsets are not the file's
	offset   int64 // of the next byte to read
	number   int   // records read
	tag      []byte
	buf      []byte
	err      error // sticky
}

// NewPhantomReader reads records from r. file is the name used in errors; a
// record of more than max bytes is an error (0 means DefaultMaxRecord).
func NewPhantomReader(r io.Reader, file string, max int) *PhantomReader {
	if max <= 0 {
		max = DefaultMaxRecord
	}
	return &PhantomReader{in: bufio.NewReaderSize(r, 1<<16), file: file, max: max}
}

// Reset starts over on r, keeping the buffers. It is what a gun calls to
// rewind: r is then the same file at its beginning.
func (p *PhantomReader) Reset(r io.Reader) {
	p.in.Reset(r)
	p.unpacked, p.offset, p.number, p.err = false, 0, 0, nil
}

// Next returns the next record, whose slices are valid until the following
// call. After the last it returns io.EOF, and for a broken file a *SyntaxError;
// both stay. Errors of the underlying reader are wrapped.
func (p *PhantomReader) Next() (Record, error) {
	if p.err != nil {
		return Record{}, p.err
	}
	r, err := p.next()
	p.err = err
	return r, err
}

func (p *PhantomReader) next() (Record, error) {
	line, start, err := p.sizeLine()
	if err != nil {
		return Record{}, err
	}
	digits, rest := field(line)
	tag, _ := field(rest)
	size, err := strconv.ParseUint(string(digits), 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && size > uint64(p.max):
		return Record{}, p.bad(start, fmt.Sprintf("a record of at most %d bytes", p.max), excerpt(digits))
	case err != nil:
		return Record{}, p.bad(start, "a size line \"SIZE TAG\"", excerpt(line))
	case size == 0:
		return Record{}, io.EOF
	}
	p.tag = append(p.tag[:0], tag...)
	if err := p.fill(int(size)); err != nil {
		return Record{}, err
	}
	p.number++
	return Record{Tag: p.tag, Bytes: p.buf, Number: p.number, Offset: start}, nil
}

// sizeLine skips blank lines and returns the next other one without its line
// end, and where it began. It lies in the bufio's buffer.
func (p *PhantomReader) sizeLine() (line []byte, start int64, err error) {
	for {
		start = p.offset
		line, err = p.in.ReadSlice('\n')
		p.offset += int64(len(line))
		if len(line) > maxSizeLine {
			return nil, start, p.bad(start, fmt.Sprintf("a size line of at most %d bytes", maxSizeLine), excerpt(line))
		}
		first, _ := field(line)
		switch {
		case err != nil && err != io.EOF:
			return nil, start, p.failed(err)
		case len(first) == 0 && err == io.EOF:
			return nil, start, io.EOF
		case len(first) == 0:
			continue
		case err == io.EOF && string(first) != "0": // nothing need follow a 0, not even a line end
			return nil, start, p.bad(start, "a size line that ends in a newline", "the end of the file after "+excerpt(line))
		}
		return bytes.TrimRight(line, "\r\n"), start, nil
	}
}

// field splits off the first field of a line: there is none if it is empty.
func field(line []byte) (first, rest []byte) {
	from := 0
	for from < len(line) && isBlank(line[from]) {
		from++
	}
	to := from
	for to < len(line) && !isBlank(line[to]) {
		to++
	}
	return line[from:to], line[to:]
}

// isBlank takes the white space of ASCII only: that of Unicode would be found
// inside the bytes of tags in other encodings.
func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// fill reads a record's bytes into buf.
func (p *PhantomReader) fill(size int) error {
	p.buf = p.buf[:0]
	for len(p.buf) < size {
		have := len(p.buf)
		if have == cap(p.buf) {
			grown := make([]byte, have, min(max(2*have, firstRead), p.max))
			copy(grown, p.buf)
			p.buf = grown
		}
		p.buf = p.buf[:min(size, cap(p.buf))]
		n, err := io.ReadFull(p.in, p.buf[have:])
		p.buf = p.buf[:have+n]
		p.offset += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return p.bad(p.offset, fmt.Sprintf("%d bytes of request", size),
				fmt.Sprintf("the end of the file after %d", len(p.buf)))
		}
		if err != nil {
			return p.failed(err)
		}
	}
	return nil
}

func (p *PhantomReader) bad(offset int64, want, got string) error {
	return &SyntaxError{File: p.file, Record: p.number + 1, Offset: offset, Unpacked: p.unpacked, Want: want, Got: got}
}

// failed says where the underlying reader has failed.
func (p *PhantomReader) failed(err error) error {
	if broken, ok := errors.AsType[*damage](err); ok {
		return p.bad(p.offset, "sound gzip data", broken.what)
	}
	return fmt.Errorf("%s: %s: %w", p.file, place(p.offset, p.unpacked), err)
}

// PhantomWriter writes what PhantomReader reads.
type PhantomWriter struct{ out *bufio.Writer }

// NewPhantomWriter writes records to w through a buffer: Flush at the end.
func NewPhantomWriter(w io.Writer) *PhantomWriter {
	return &PhantomWriter{bufio.NewWriterSize(w, 1<<16)}
}

// Write adds one record; an empty tag is left out. It refuses what would not
// read back the same: an empty request (size 0 ends a file) and a tag that
// holds white space or is too long for a size line.
func (p *PhantomWriter) Write(tag string, request []byte) error {
	const room = maxSizeLine - 32 // the size and the line's end
	if len(request) == 0 {
		return errors.New("ammo: an empty request would end the file")
	}
	if len(tag) > room || strings.ContainsAny(tag, " \t\n\v\f\r") {
		return fmt.Errorf("ammo: the tag %.60q would not read back: want no white space and at most %d bytes", tag, room)
	}
	line := strconv.AppendInt(p.out.AvailableBuffer(), int64(len(request)), 10)
	if tag != "" {
		line = append(append(line, ' '), tag...)
	}
	p.out.Write(append(line, '\n')) // bufio keeps the first error for Flush
	_, err := p.out.Write(request)
	if request[len(request)-1] != '\n' {
		err = p.out.WriteByte('\n') // a blank line to readers, a line end to people
	}
	return err
}

// Flush hands what is still buffered to the underlying writer.
func (p *PhantomWriter) Flush() error { return p.out.Flush() }
