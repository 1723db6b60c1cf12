package phout

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// Columns of a line, from 0.
const (
	colTime = iota
	colTag
	colReal
	colConnect
	colSend
	colLatency
	colReceive
	colEvent
	colOut
	colIn
	colNet
	colProto
	columns
)

var columnNames = [columns]string{
	"time", "tag", "interval_real", "connect_time", "send_time", "latency", "receive_time", "interval_event",
	"size_out", "size_in", "net_code", "proto_code",
}

// SyntaxError says where a phout file is broken, and what should have stood
// there.
type SyntaxError struct {
	File   string // as the reader was told
	Line   int    // from 1
	Column int    // from 1; 0 where the line as a whole is wrong
	Want   string // what was expected
	Got    string // what was found, cut short
}

func (e *SyntaxError) Error() string {
	place := ""
	if e.Column > 0 {
		place = fmt.Sprintf(", column %d (%s)", e.Column, columnNames[e.Column-1])
	}
	return fmt.Sprintf("%s: line %d%s: want %s, got %s", e.File, e.Line, place, e.Want, e.Got)
}

// maxLine is the longest line that is read. Only the tag could make it long.
const maxLine = 1 << 16

// A Reader reads rows, one at a time. It is strict: what it takes, Append
// writes the same again, but for interval_event.
type Reader struct {
	// Numbered says that tags are TAG#N: Next parts them into Tag and Number,
	// and a tag without a number is an error. Otherwise tags stay whole, as a
	// '#' may be part of one.
	Numbered bool

	in   *bufio.Reader
	file string
	line int
	tag  string // of the row before: most tags repeat, and need no new string
	err  error  // sticky
}

// NewReader reads from r; file is the name used in errors.
func NewReader(r io.Reader, file string) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, maxLine), file: file}
}

// Next returns the next row. After the last it returns io.EOF, and for a broken
// line a *SyntaxError; both stay. Errors of the underlying reader are wrapped.
func (r *Reader) Next() (Row, error) {
	if r.err != nil {
		return Row{}, r.err
	}
	row, err := r.next()
	r.err = err
	return row, err
}

func (r *Reader) next() (Row, error) {
	line, err := r.in.ReadSlice('\n')
	if err == io.EOF && len(line) == 0 {
		return Row{}, io.EOF
	}
	r.line++
	switch {
	case err == bufio.ErrBufferFull:
		return Row{}, r.bad(0, fmt.Sprintf("a line of at most %d bytes", maxLine), quote(line))
	case err == io.EOF:
		return Row{}, r.bad(0, "a line that ends in a newline", "the end of the file after "+quote(line))
	case err != nil:
		return Row{}, fmt.Errorf("%s: line %d: %w", r.file, r.line, err)
	}
	return r.parse(line[:len(line)-1])
}

func (r *Reader) parse(line []byte) (Row, error) {
	if n := bytes.Count(line, []byte("\t")) + 1; n != columns {
		return Row{}, r.bad(0, fmt.Sprintf("%d columns parted by tabs", columns), fmt.Sprintf("%d in %s", n, quote(line)))
	}
	var row Row
	var numbers [columns]int64
	for col := range columns {
		var field []byte
		field, line, _ = bytes.Cut(line, []byte("\t"))
		ok := true
		switch col {
		case colTime:
			row.Sent, ok = unixTime(field)
		case colTag:
			row.Tag, row.Number, ok = r.parseTag(field)
		default:
			numbers[col], ok = number(field, most(col))
		}
		if !ok {
			return Row{}, r.bad(col+1, r.want(col), quote(field))
		}
	}
	// Four numbers of at most maxMicros do not overflow.
	sum := numbers[colConnect] + numbers[colSend] + numbers[colLatency] + numbers[colReceive]
	if numbers[colReal] != sum {
		return Row{}, r.bad(colReal+1, fmt.Sprintf("%d, the sum of columns %d to %d", sum, colConnect+1, colReceive+1),
			strconv.FormatInt(numbers[colReal], 10))
	}
	row.Connect = time.Duration(numbers[colConnect]) * time.Microsecond
	row.Send = time.Duration(numbers[colSend]) * time.Microsecond
	row.Latency = time.Duration(numbers[colLatency]) * time.Microsecond
	row.Receive = time.Duration(numbers[colReceive]) * time.Microsecond
	row.Event = time.Duration(numbers[colEvent]) * time.Microsecond
	row.Out, row.In = numbers[colOut], numbers[colIn]
	row.Net, row.Status = int(numbers[colNet]), int(numbers[colProto])
	return row, nil
}

// unixTime reads SECONDS.mmm as nanoseconds.
func unixTime(field []byte) (int64, bool) {
	point := len(field) - 4
	if point < 1 || field[point] != '.' {
		return 0, false
	}
	seconds, ok := number(field[:point], math.MaxInt64/int64(time.Second))
	if !ok {
		return 0, false
	}
	ms := seconds
	for _, c := range field[point+1:] {
		if c < '0' || c > '9' {
			return 0, false
		}
		ms = ms*10 + int64(c-'0')
	}
	if ms > math.MaxInt64/int64(time.Millisecond) {
		return 0, false
	}
	return ms * int64(time.Millisecond), true
}

// parseTag refuses a carriage return, which other readers take for a line end.
func (r *Reader) parseTag(field []byte) (tag string, n int64, ok bool) {
	if bytes.IndexByte(field, '\r') >= 0 {
		return "", 0, false
	}
	if r.Numbered {
		hash := bytes.LastIndexByte(field, '#')
		if hash < 0 {
			return "", 0, false
		}
		if n, ok = number(field[hash+1:], math.MaxInt64); !ok {
			return "", 0, false
		}
		field = field[:hash]
	}
	if r.tag != string(field) {
		r.tag = string(field)
	}
	return r.tag, n, true
}

// most is the largest number of a column.
func most(col int) int64 {
	switch col {
	case colOut, colIn:
		return math.MaxInt64
	case colNet, colProto:
		return math.MaxInt32
	}
	return maxMicros
}

// number reads digits, without leading zeros, of at most the value most.
func number(field []byte, most int64) (int64, bool) {
	if len(field) == 0 || len(field) > 19 || field[0] == '0' && len(field) > 1 {
		return 0, false
	}
	var n uint64 // 19 digits fit
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n <= uint64(most)
}

// want says what a column should have held.
func (r *Reader) want(col int) string {
	switch {
	case col == colTime:
		return "Unix seconds with three decimals"
	case col == colTag && r.Numbered:
		return "a tag with its number, TAG#N"
	case col == colTag:
		return "a tag without carriage returns"
	}
	return fmt.Sprintf("a whole number from 0 to %d", most(col))
}

func (r *Reader) bad(column int, want, got string) error {
	return &SyntaxError{File: r.file, Line: r.line, Column: column, Want: want, Got: got}
}

// quote shows the beginning of b.
func quote(b []byte) string {
	const shown = 60
	if len(b) > shown {
		return fmt.Sprintf("%q...", b[:shown])
	}
	return fmt.Sprintf("%q", b)
}
