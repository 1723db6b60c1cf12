// Package accesslog writes a line for each request, off the threads of those
// who serve them.
//
//	sink, one a loop ── full buffers ──→ log's goroutine ──→ file
//	        ↑──────────── empty ones ──────────┘
//
// A [Sink] belongs to one thread. Put formats a line into the sink's buffer, and
// hands a full one on; it takes no lock, never waits, and allocates only until
// there are as many buffers as there may be. If none is empty, because the disk
// is slower than requests are, the line is dropped and counted. A buffer holds
// whole lines, and each goes to the file, opened to append, in one write.
//
// Where writing fails, the rest stays and is tried again every second: lines
// that came to lie in memory are written late rather than lost, what comes
// meanwhile is dropped once memory is full, and no line is ever torn, but by a
// file that takes half of one and never another byte.
//
// # JSON
//
// An object a line, with these keys in this order:
//
//	time        "2026-11-30T23:26:15.123456Z", UTC
//	client      address
//	method target host
//	version     "1.1"
//	status      number
//	in out      bytes of body, from and to the client
//	duration    seconds, of the whole exchange
//	filter      seconds spent in the filter             if there was one
//	wait        seconds until the upstream's first byte if there was one
//	route upstream rule error                           if not empty
//	dry         true                                    if a rule would have blocked
//	referer agent id                                    if not empty
//
// Texts are as they came, but for quotes, backslashes, control characters
// (those of Unicode too, and its line and paragraph separators), which are
// escaped. A byte that is not UTF-8 becomes \u00xx with its value: nothing is
// lost, and the whole is always valid JSON on one line.
//
// # Combined
//
// As Apache and nginx have it, times in UTC:
//
//	203.0.113.9 - - [30/Nov/2026:23:26:15 +0000] "GET /a HTTP/1.1" 200 512 "referer" "agent"
//
// In texts a quote, a backslash and every byte that is not printable ASCII
// becomes \xHH.
//
// # Long texts
//
// A text that takes more than [MaxText] bytes in its line ([MaxTarget] for the
// target) is cut, and then ends in three dots.
package accesslog
