package phout

import (
	"math"
	"strconv"
	"time"
)

// A Row is one shot. Connect, Send, Latency and Receive follow each other from
// Sent on. Negative values count as 0.
type Row struct {
	Sent                            int64  // Unix time in nanoseconds at which the shot, and so the first span, began
	Tag                             string // as the ammo has it
	Number                          int64  // of the shot; in the file only where shots are numbered
	Connect, Send, Latency, Receive time.Duration
	Event                           time.Duration // interval_event as it was read; Append writes the whole interval
	Out, In                         int64         // bytes
	Net                             int           // errno, 0 if all went well
	Status                          int           // of the answer, 0 without one
}

// Append appends the row's line with its newline to dst. numbered makes the tag
// TAG#N. Bytes that would break the line (tabs and line ends in a tag) become
// '_'. It allocates only where dst has to grow.
func (r *Row) Append(dst []byte, numbered bool) []byte {
	ms := max(r.Sent, 0) / int64(time.Millisecond)
	dst = strconv.AppendInt(dst, ms/1000, 10)
	rest := ms % 1000
	dst = append(dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10), '\t')

	dst = appendTag(dst, r.Tag)
	if numbered {
		dst = append(dst, '#')
		dst = strconv.AppendInt(dst, max(r.Number, 0), 10)
	}

	connected := after(0, r.Connect)
	sent := after(connected, r.Send)
	answered := after(sent, r.Latency)
	ended := after(answered, r.Receive)
	whole := micros(ended)
	dst = appendColumn(dst, whole)
	dst = appendColumn(dst, micros(connected))
	dst = appendColumn(dst, micros(sent)-micros(connected))
	dst = appendColumn(dst, micros(answered)-micros(sent))
	dst = appendColumn(dst, whole-micros(answered))
	dst = appendColumn(dst, whole)

	dst = appendColumn(dst, r.Out)
	dst = appendColumn(dst, r.In)
	dst = appendColumn(dst, int64(r.Net))
	dst = appendColumn(dst, int64(r.Status))
	return append(dst, '\n')
}

func appendColumn(dst []byte, n int64) []byte {
	return strconv.AppendInt(append(dst, '\t'), max(n, 0), 10)
}

func appendTag(dst []byte, tag string) []byte {
	start := len(dst)
	dst = append(dst, tag...)
	for i, c := range dst[start:] {
		if c == '\t' || c == '\n' || c == '\r' {
			dst[start+i] = '_'
		}
	}
	return dst
}

// maxMicros is how many whole microseconds a Duration can hold.
const maxMicros = math.MaxInt64 / int64(time.Microsecond)

// after is the instant a span after t, or the last there is.
func after(t, span time.Duration) time.Duration {
	const last = time.Duration(maxMicros) * time.Microsecond
	return t + min(max(span, 0), last-t)
}

// micros rounds to whole microseconds, half up.
func micros(t time.Duration) int64 {
	const us = time.Microsecond
	return int64(t/us + (t%us+us/2)/us)
}
