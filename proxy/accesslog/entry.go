package accesslog

import (
	"net/netip"
	"time"
	"unsafe"
)

// Entry is what a line tells of a request. Texts may hold any bytes.
type Entry struct {
	Time   int64      // nanoseconds since 1970
	Client netip.Addr // the zero one: unknown

	Method, Target, Host []byte // empty where the request was not understood
	Minor                int    // of HTTP/1.x
	Status               int
	In, Out              int64 // bytes of body

	Duration time.Duration // of the whole exchange
	Filter   time.Duration // spent in the filter; negative: there was none
	Wait     time.Duration // until the upstream's first byte; negative: there was none

	Rewrite time.Duration // spent in rewriting bodies; negative: none was
	Matches int64         // ... that were replaced in them

	Route, Upstream string
	Rule            string // that decided
	Dry             bool   // ... or would have
	Error           string

	Referer, UserAgent, RequestID []byte
}

const (
	// MaxText is how many bytes a text may take in its line.
	MaxText = 4 << 10
	// MaxTarget is the same for the target: what is allowed of one fits.
	MaxTarget = 12 << 10
	// maxFixed is more than all of a line that is not text.
	maxFixed = 1 << 10
	texts    = 9 // of MaxText
	// maxLine is more than any line takes.
	maxLine = maxFixed + MaxTarget + texts*MaxText
)

// bound is more than the entry's line takes: no byte of a text takes more than
// six.
func (e *Entry) bound() int {
	short := len(e.Method) + len(e.Host) + len(e.Route) + len(e.Upstream) + len(e.Rule) + len(e.Error) +
		len(e.Referer) + len(e.UserAgent) + len(e.RequestID)
	return maxFixed + min(6*len(e.Target), MaxTarget) + min(6*short, texts*MaxText)
}

// bytesOf is s as bytes, which must only be read.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
