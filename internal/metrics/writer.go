package metrics

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ContentType is what a Writer writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Kind of a family of samples.
type Kind string

// The kinds there are.
const (
	KindCounter   Kind = "counter" // only grows; its name ends in _total
	KindGauge     Kind = "gauge"
	KindHistogram Kind = "histogram"
)

// Writer writes families of samples, one after the other: Family, then all its
// samples. Each line is a Write of its own, so what is written to should have a
// buffer.
//
// Labels are pairs of name and value. A value must never come from a client:
// there is no end to what clients can say, and each value is a series more.
type Writer struct {
	out    io.Writer
	family string
	line   []byte
	err    error
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Err is the first error of writing. Nothing is written after it.
func (w *Writer) Err() error { return w.err }

// Family begins a family. help is a sentence without a full stop.
func (w *Writer) Family(name string, kind Kind, help string) {
	w.family = name
	w.line = append(append(w.line[:0], "# HELP "...), name...)
	w.line = appendEscaped(append(w.line, ' '), help, false)
	w.line = append(append(w.line, "\n# TYPE "...), name...)
	w.line = append(append(w.line, ' '), kind...)
	w.flush()
}

// Sample writes a sample of the family.
func (w *Writer) Sample(value float64, labels ...string) {
	w.begin("", labels)
	w.end(value)
}

// Histogram writes a sample of a family of histograms: the sum of several, as
// each loop has one.
func (w *Writer) Histogram(labels []string, hs ...*Histogram) {
	var counts [buckets]uint64
	var nanoseconds uint64
	for _, h := range hs {
		for i := range counts {
			counts[i] += h.buckets[i].Value()
		}
		nanoseconds += h.sum.Value()
	}
	var n uint64
	for i, count := range counts {
		n += count
		le := math.Inf(1)
		if i < len(bounds) {
			le = bounds[i].Seconds()
		}
		w.begin("_bucket", labels, "le", string(appendValue(nil, le)))
		w.end(float64(n))
	}
	w.begin("_sum", labels)
	w.end(float64(nanoseconds) / 1e9)
	w.begin("_count", labels)
	w.end(float64(n))
}

// begin begins a sample's line.
func (w *Writer) begin(suffix string, labels []string, more ...string) {
	if w.family == "" || len(labels)%2 != 0 {
		panic(fmt.Sprintf("metrics: a sample of family %q with %d names and values of labels", w.family, len(labels)))
	}
	w.line = append(append(w.line[:0], w.family...), suffix...)
	sign := byte('{')
	for _, pairs := range [][]string{labels, more} {
		for i := 0; i < len(pairs); i += 2 {
			w.line = append(append(w.line, sign), pairs[i]...)
			w.line = append(appendEscaped(append(w.line, `="`...), pairs[i+1], true), '"')
			sign = ','
		}
	}
	if sign == ',' {
		w.line = append(w.line, '}')
	}
}

func (w *Writer) end(value float64) {
	w.line = appendValue(append(w.line, ' '), value)
	w.flush()
}

func (w *Writer) flush() {
	w.line = append(w.line, '\n')
	if w.err == nil {
		_, w.err = w.out.Write(w.line)
	}
}

// appendValue writes most numbers as people do: 1000000, not 1e+06.
func appendValue(b []byte, v float64) []byte {
	form := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-9 || a >= 1e15) {
		form = 'g'
	}
	return strconv.AppendFloat(b, v, form, -1, 64)
}

// appendEscaped has text stay on its line, and within its quotes if it has any.
func appendEscaped(b []byte, text string, quoted bool) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\\':
			b = append(b, `\\`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '"' && quoted:
			b = append(b, `\"`...)
		default:
			b = append(b, c)
		}
	}
	return b
}
