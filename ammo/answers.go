package ammo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Answer is what a server is expected to say to one record.
type Answer struct {
	Method []byte
	Target []byte // path and query as in the request line
	Status int
	Body   []byte // JSON; empty where only the status matters
	Number int    // its line in the file, from 1
}

// Clone copies the answer's slices, so that it survives the reader's next one.
func (a Answer) Clone() Answer {
	a.Method, a.Target, a.Body = slices.Clone(a.Method), slices.Clone(a.Target), slices.Clone(a.Body)
	return a
}

// AnswersReader reads expected answers, a line each in the order of the ammo:
//
//	METHOD<tab>TARGET<tab>STATUS[<tab>JSON]
//
// It holds one line in memory and is not safe for concurrent use.
type AnswersReader struct {
	in     *bufio.Reader
	file   string
	max    int
	offset int64
	begin  int64 // where the line read last begins
	number int   // lines read
	buf    []byte
	err    error // sticky
}

// NewAnswersReader reads answers from r. file is the name used in errors; a
// line of more than max bytes is an error (0 means DefaultMaxRecord).
func NewAnswersReader(r io.Reader, file string, max int) *AnswersReader {
	if max <= 0 {
		max = DefaultMaxRecord
	}
	return &AnswersReader{in: bufio.NewReaderSize(r, 1<<16), file: file, max: max}
}

// Reset starts over on r, keeping the buffers.
func (a *AnswersReader) Reset(r io.Reader) {
	a.in.Reset(r)
	a.offset, a.begin, a.number, a.err = 0, 0, 0, nil
}

// Next returns the next answer, whose slices are valid until the following
// call. After the last it returns io.EOF, and for a broken line a *SyntaxError;
// both stay. Blank lines are skipped.
func (a *AnswersReader) Next() (Answer, error) {
	for a.err == nil {
		start := a.offset
		a.begin = start
		line, err := a.line()
		if err != nil {
			a.err = err
			break
		}
		a.number++
		if len(line) == 0 {
			continue
		}
		answer, err := a.parse(line, start)
		a.err = err
		return answer, err
	}
	return Answer{}, a.err
}

// line reads to the next newline or the end of the file; what it returns lies
// in buf.
func (a *AnswersReader) line() ([]byte, error) {
	a.buf = a.buf[:0]
	for {
		part, err := a.in.ReadSlice('\n')
		a.buf = append(a.buf, part...)
		a.offset += int64(len(part))
		if len(a.buf) > a.max {
			a.number++
			return nil, a.bad(a.offset-int64(len(a.buf)), fmt.Sprintf("a line of at most %d bytes", a.max), excerpt(a.buf))
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(a.buf) == 0:
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("%s: byte %d: %w", a.file, a.offset, err)
		}
		return bytes.TrimRight(a.buf, "\r\n"), nil
	}
}

func (a *AnswersReader) parse(line []byte, start int64) (Answer, error) {
	// Columns after the third are the JSON's own: tabs are white space there.
	columns := bytes.SplitN(line, []byte("\t"), 4)
	if len(columns) < 3 || len(columns[0]) == 0 || len(columns[1]) == 0 {
		return Answer{}, a.bad(start, "METHOD, TARGET and STATUS separated by tabs", excerpt(line))
	}
	answer := Answer{Method: columns[0], Target: columns[1], Number: a.number}
	status, err := strconv.ParseUint(string(columns[2]), 10, 10)
	if err != nil || status < 100 || status > 599 {
		return Answer{}, a.bad(start, "a status from 100 to 599", excerpt(columns[2]))
	}
	answer.Status = int(status)
	if len(columns) == 4 {
		answer.Body = columns[3]
	}
	if len(answer.Body) > 0 && !json.Valid(answer.Body) {
		return Answer{}, a.bad(start, "well-formed JSON in the fourth column", excerpt(answer.Body))
	}
	return answer, nil
}

func (a *AnswersReader) bad(offset int64, want, got string) error {
	return &SyntaxError{File: a.file, Record: a.number, Offset: offset, Want: want, Got: got}
}

// AnswersWriter writes what AnswersReader reads.
type AnswersWriter struct{ out *bufio.Writer }

// NewAnswersWriter writes answers to w through a buffer: Flush at the end.
func NewAnswersWriter(w io.Writer) *AnswersWriter {
	return &AnswersWriter{bufio.NewWriterSize(w, 1<<16)}
}

// Write adds one answer; an empty body leaves the fourth column out. It refuses
// what would not read back the same.
func (a *AnswersWriter) Write(method, target string, status int, body []byte) error {
	switch {
	case method == "" || target == "" || bytes.ContainsAny([]byte(method+target), "\t\r\n"):
		return fmt.Errorf("ammo: method %q and target %q do not fit in tab-separated columns", method, target)
	case status < 100 || status > 599:
		return fmt.Errorf("ammo: status %d is outside 100 to 599", status)
	case bytes.ContainsAny(body, "\r\n"):
		return errors.New("ammo: an answer's JSON must stand on one line")
	}
	line := append(append(append(a.out.AvailableBuffer(), method...), '\t'), target...)
	line = strconv.AppendInt(append(line, '\t'), int64(status), 10)
	a.out.Write(line)
	if len(body) > 0 {
		a.out.WriteByte('\t')
		a.out.Write(body)
	}
	return a.out.WriteByte('\n') // bufio keeps an earlier error
}

// Flush hands what is still buffered to the underlying writer.
func (a *AnswersWriter) Flush() error { return a.out.Flush() }
