package ammo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// DefaultMaxRecord is the longest record a reader takes unless told otherwise:
// 16 MB.
const DefaultMaxRecord = 16 << 20

const (
	maxSizeLine = 4096    // a size line with its tag
	firstRead   = 1 << 16 // a record's buffer grows from here as bytes arrive, so that a lying size costs nothing
)

// PhantomReader reads Yandex.Tank's request-style ammo:
//
//	SIZE TAG\n
//	<SIZE bytes of request>
//	SIZE TAG\n
//	...
//
// The tag is optional and may hold anything but line ends. Blank lines between
// records are skipped. A size of 0 ends the file early (guns start again from
// the beginning). All SIZE bytes belong to the request, also those beyond its
// Content-Length.
//
// It holds one record in memory and is not safe for concurrent use.
type PhantomReader struct {
	in     *bufio.Reader
	file   string
	max    int
	offset int64 // of the next byte to read
	number int   // records read
	tag    []byte
	buf    []byte
	err    error // sticky
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
	p.offset, p.number, p.err = 0, 0, nil
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
	digits, tag := line, []byte(nil)
	if blank := bytes.IndexAny(line, " \t"); blank >= 0 {
		digits, tag = line[:blank], line[blank:]
	}
	size, err := strconv.ParseUint(string(digits), 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && size > uint64(p.max):
		return Record{}, p.bad(start, fmt.Sprintf("a record of at most %d bytes", p.max), excerpt(digits))
	case err != nil:
		return Record{}, p.bad(start, "a size line \"SIZE TAG\"", excerpt(line))
	case size == 0:
		return Record{}, io.EOF
	}
	p.tag = append(p.tag[:0], bytes.TrimSpace(tag)...)
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
		trimmed := bytes.TrimSpace(line)
		switch {
		case err == io.EOF && len(trimmed) == 0:
			return nil, start, io.EOF
		case err == io.EOF && string(trimmed) == "0": // a last line without its end
			return trimmed, start, nil
		case err == io.EOF:
			return nil, start, p.bad(start, "a size line that ends in a newline", "the end of the file after "+excerpt(line))
		case err != nil:
			return nil, start, fmt.Errorf("%s: byte %d: %w", p.file, p.offset, err)
		case len(trimmed) > 0:
			return trimmed, start, nil
		}
	}
}

// fill reads a record's bytes into buf.
func (p *PhantomReader) fill(size int) error {
	p.buf = p.buf[:0]
	for len(p.buf) < size {
		have := len(p.buf)
		if have == cap(p.buf) {
			grown := make([]byte, have, min(size, max(2*have, firstRead)))
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
			return fmt.Errorf("%s: byte %d: %w", p.file, p.offset, err)
		}
	}
	return nil
}

func (p *PhantomReader) bad(offset int64, want, got string) error {
	return &SyntaxError{File: p.file, Record: p.number + 1, Offset: offset, Want: want, Got: got}
}

// PhantomWriter writes what PhantomReader reads.
type PhantomWriter struct{ out *bufio.Writer }

// NewPhantomWriter writes records to w through a buffer: Flush at the end.
func NewPhantomWriter(w io.Writer) *PhantomWriter {
	return &PhantomWriter{bufio.NewWriterSize(w, 1<<16)}
}

// Write adds one record. It refuses what would not read back the same: an
// empty request (size 0 ends a file) and a tag with line ends, with white
// space around it or too long for a size line.
func (p *PhantomWriter) Write(tag string, request []byte) error {
	const room = maxSizeLine - 32 // the size and the line's end
	if len(request) == 0 {
		return errors.New("ammo: an empty request would end the file")
	}
	if bytes.ContainsAny([]byte(tag), "\r\n") || len(bytes.TrimSpace([]byte(tag))) != len(tag) || len(tag) > room {
		return fmt.Errorf("ammo: the tag %.60q would not read back", tag)
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
