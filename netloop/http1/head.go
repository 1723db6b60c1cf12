package http1

import "math"

// head is what a request's and an answer's have in common: first the reader's
// state, then the result. It holds no pointer but to the bytes read, and needs
// no set-up.
type head struct {
	in     []byte // as given last
	seen   uint64 // bits of known fields
	length int64  // Content-Length, if seen
	lines  lines
	start  startState
	fault  Fault // found; stays
	answer bool  // a Response's
	minor  uint8
	codings
	connection

	begin uint16 // of the start line: empty lines may stand before it
	end   uint16 // of the head, once it is whole

	fields [MaxFields]Field
}

// codings is what Transfer-Encoding has said so far.
type codings uint8

const (
	chunkedCoding codings = 1 << iota
	chunkedLast           // so far
	otherCoding
)

// connection is what Connection and Expect have said so far.
type connection uint8

const (
	saysClose connection = 1 << iota
	saysKeepAlive
	saysUpgrade
	expectsContinue
)

// resume begins a call of Parse: what is left to scan, or nil if the outcome
// is known already.
func (h *head) resume(in []byte) []byte {
	h.in = in
	if h.end > 0 || h.fault != 0 {
		return nil
	}
	return in[:min(len(in), MaxHead)]
}

// stop ends a call of Parse that did not reach the end of the head.
func (h *head) stop(in []byte, fault Fault) (int, Fault) {
	if fault == 0 && len(in) == MaxHead {
		fault = HeadTooLong
	}
	h.fault = fault
	return 0, fault
}

// fieldLines reads the field section.
func (h *head) fieldLines(in []byte) (n int, fault Fault) {
	for {
		f, s, fault := h.lines.next(in)
		switch s {
		case aField:
			h.fields[h.lines.count-1] = f
			k := f.Known()
			if k <= lastJudged && k != Other {
				fault = h.judge(f)
			}
			h.seen |= 1 << k &^ (1 << Other)
		case theEnd:
			if fault = h.judgeWhole(); fault == 0 {
				h.end = h.lines.pos
				return int(h.end), 0
			}
		case needMore:
			return h.stop(in, 0)
		}
		if fault != 0 {
			return h.stop(in, fault)
		}
	}
}

// judge looks at a field on which the message's meaning depends.
func (h *head) judge(f Field) Fault {
	value := h.Value(f)
	switch f.Known() {
	case Host:
		if h.answer {
			return 0
		}
		if h.Has(Host) {
			return HostTwice
		}
		if _, _, ok := SplitAuthority(value); !ok {
			return BadHost
		}
	case Connection:
		h.judgeConnection(value)
	case Expect:
		return h.judgeExpect(value)
	case ContentLength:
		var ok bool
		if h.length, ok = parseLength(value); !ok || h.Has(ContentLength) {
			return BadContentLength
		}
		if h.Has(TransferEncoding) {
			return LengthBesideCoding
		}
	case TransferEncoding:
		if h.minor == 0 {
			return TransferEncodingIn10
		}
		if h.Has(ContentLength) {
			return LengthBesideCoding
		}
		return h.judgeCodings(value)
	}
	return 0
}

// judgeWhole looks for what is missing at the end of a head.
func (h *head) judgeWhole() Fault {
	switch {
	case !h.answer && h.minor > 0 && !h.Has(Host):
		return HostMissing
	case !h.Has(TransferEncoding):
		return 0
	case h.codings&chunkedLast == 0:
		return BadTransferEncoding
	case h.codings&otherCoding != 0:
		return UnknownTransferCoding
	}
	return 0
}

// judgeConnection looks for the options that are known. Others, also
// malformed ones, are left to who asks for Elements.
func (h *head) judgeConnection(list []byte) {
	if foldEqual(list, "keep-alive") { // Fast path - as nearly everyone says it
		h.connection |= saysKeepAlive
		return
	}
	for option, rest := cutElement(list); len(option) > 0; option, rest = cutElement(rest) {
		switch {
		case foldEqual(option, "close"):
			h.connection |= saysClose
		case foldEqual(option, "keep-alive"):
			h.connection |= saysKeepAlive
		case foldEqual(option, "upgrade"):
			h.connection |= saysUpgrade
		}
	}
}

func (h *head) judgeExpect(list []byte) Fault {
	if h.answer {
		return 0
	}
	for expectation, rest := cutElement(list); len(expectation) > 0; expectation, rest = cutElement(rest) {
		if !foldEqual(expectation, "100-continue") {
			return UnsupportedExpectation
		}
		h.connection |= expectsContinue
	}
	return 0
}

// judgeCodings takes in one field of the list of codings (RFC 9112, 6.1, 7).
func (h *head) judgeCodings(list []byte) Fault {
	for coding, rest := cutElement(list); len(coding) > 0; coding, rest = cutElement(rest) {
		name, parameters := coding, []byte(nil)
		for i, c := range coding {
			if class[c]&inToken == 0 {
				name, parameters = coding[:i], coding[i:]
				break
			}
		}
		for len(parameters) > 0 && isBlank(parameters[0]) {
			parameters = parameters[1:]
		}
		chunked := foldEqual(name, "chunked")
		if len(name) == 0 || len(parameters) > 0 && (chunked || parameters[0] != ';') || chunked && h.codings&chunkedCoding != 0 {
			return BadTransferEncoding
		}
		if chunked {
			h.codings |= chunkedCoding | chunkedLast
		} else {
			h.codings = h.codings&^chunkedLast | otherCoding
		}
	}
	return 0
}

// parseLength reads 1*DIGIT. What is too large for an int64 is as good as the
// largest.
func parseLength(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || !all(digits, isDigit) {
		return 0, false
	}
	for _, c := range digits {
		d := int64(c - '0')
		if n > (math.MaxInt64-d)/10 {
			return math.MaxInt64, true
		}
		n = n*10 + d
	}
	return n, true
}

// Head is the whole head, without empty lines before it.
func (h *head) Head() []byte { return h.in[h.begin:h.end] }

// Rebase tells where the bytes given to Parse are now.
func (h *head) Rebase(in []byte) { h.in = in }

// Minor is the minor version: 0, or 1 for HTTP/1.1 and later.
func (h *head) Minor() int { return int(h.minor) }

// ContentLength is the number in Content-Length, or -1 without one. Larger
// numbers than an int64 holds are the largest that it holds.
func (h *head) ContentLength() int64 {
	if h.Has(ContentLength) {
		return h.length
	}
	return -1
}

// Chunked tells whether Transfer-Encoding says so.
func (h *head) Chunked() bool { return h.codings&chunkedLast != 0 }

// KeepAlive tells whether the connection may go on after this message (RFC
// 9112, 9.3).
func (h *head) KeepAlive() bool {
	return h.connection&saysClose == 0 && (h.minor > 0 || h.connection&saysKeepAlive != 0)
}

// Upgrade tells whether the message asks for, or agrees to, another protocol:
// one of Elements(Upgrade). In HTTP/1.0 that means nothing (RFC 9110, 7.8).
func (h *head) Upgrade() bool {
	return h.minor > 0 && h.connection&saysUpgrade != 0 && h.Has(Upgrade)
}

func (h *head) framing() (Framing, int64) {
	switch {
	case h.Chunked():
		return Chunked, 0
	case h.Has(ContentLength) && h.length > 0:
		return Sized, h.length
	}
	return None, 0
}
