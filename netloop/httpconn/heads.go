//go:build linux

package httpconn

import (
	"math"
	"strconv"

	"redoubt/netloop/http1"
)

// heads keeps the heads of a loop's answers ready to be sent: those of 200 by
// the body's length, the others' by status, as most have no body. A head is
// made when it is first asked for; its Date is written anew when it is asked
// for in another second than before.
//
// What is returned is valid until the next call.
type heads struct {
	fields string
	dated  bool
	second int64
	date   []byte // "Sun, 06 Nov 1994 08:49:37 GMT" of second

	byLength [2][readyLengths]readyHead // of 200; without and with Connection: close
	byStatus [2][readyStatuses]readyHead
	built    []byte // any other
}

type readyHead struct {
	bytes  []byte
	second int64 // of its Date
	dateAt int
}

const (
	readyLengths  = 1024
	firstStatus   = 200
	readyStatuses = 600 - firstStatus
)

func newHeads(fields string, dated bool) *heads {
	return &heads{fields: fields, dated: dated, second: math.MinInt64}
}

// get returns the head of an answer with these many bytes of body and with
// more field lines, if any.
func (h *heads) get(unix int64, status, length int, close bool, more string) []byte {
	if h.dated && unix != h.second {
		h.second = unix
		h.date = http1.AppendDate(h.date[:0], unix)
	}
	var ready *readyHead
	k := 0
	if close {
		k = 1
	}
	switch {
	case more != "":
	case status == 200 && length < readyLengths:
		ready = &h.byLength[k][length]
	case status != 200 && length == 0 && status >= firstStatus && status < firstStatus+readyStatuses:
		ready = &h.byStatus[k][status-firstStatus]
	}
	if ready == nil {
		h.built, _ = h.append(h.built[:0], status, length, close, more)
		return h.built
	}
	switch {
	case ready.bytes == nil:
		ready.bytes, ready.dateAt = h.append(nil, status, length, close, "")
		ready.second = h.second
	case ready.second != h.second:
		copy(ready.bytes[ready.dateAt:], h.date)
		ready.second = h.second
	}
	return ready.bytes
}

// append renders a head, and tells where its Date is.
func (h *heads) append(b []byte, status, length int, close bool, more string) ([]byte, int) {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http1.StatusText(status)...)
	b = append(b, "\r\n"...)
	b = append(b, h.fields...)
	b = append(b, more...)
	dateAt := 0
	if h.dated {
		b = append(b, "Date: "...)
		dateAt = len(b)
		b = append(append(b, h.date...), "\r\n"...)
	}
	if close {
		b = append(b, "Connection: close\r\n"...)
	} else {
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	if !bodiless(status) {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...), dateAt
}
