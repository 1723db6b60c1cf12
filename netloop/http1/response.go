package http1

// Response reads the head of an answer and holds what it says. The zero value
// is ready, and so is one after Reset.
type Response struct {
	status            uint16
	reason, reasonEnd uint16

	head
}

// Reset forgets everything, for the next answer.
func (r *Response) Reset() {
	r.in, r.seen, r.lines, r.start, r.fault = nil, 0, lines{}, 0, 0
	r.codings, r.connection, r.end = 0, 0, 0
}

// Parse reads on in an answer's head, as Request.Parse does. No empty lines
// may stand before it. The space before an empty reason may be missing.
func (r *Response) Parse(in []byte) (n int, fault Fault) {
	rest := r.resume(in)
	if rest == nil {
		return int(r.end), r.fault
	}
	r.answer = true
	if r.start < atFields {
		i, fault := r.startLine(rest)
		r.lines.pos = uint16(i)
		if fault != 0 || r.start < atFields {
			return r.stop(rest, fault)
		}
	}
	return r.fieldLines(rest)
}

const statusSize = len(" 200")

// startLine reads on in the status line, and returns where it stopped.
func (r *Response) startLine(in []byte) (i int, fault Fault) {
	i = int(r.lines.pos)
	switch r.start {
	case atBegin:
		i, fault = r.version(in, 0, i)
		if fault != 0 || i < versionSize {
			return i, fault
		}
		r.start = atStatus
		fallthrough
	case atStatus:
		const end = versionSize + statusSize
		for ; i < len(in) && i < end; i++ {
			first := i == versionSize
			if first && in[i] != ' ' || !first && class[in[i]]&isDigit == 0 || i == versionSize+1 && in[i] == '0' {
				return i, BadStatusLine
			}
		}
		if i == len(in) { // and see what follows the status
			return i, 0
		}
		d := in[end-3 : end]
		r.status = uint16(d[0]-'0')*100 + uint16(d[1]-'0')*10 + uint16(d[2]-'0')
		r.start, r.reason, r.reasonEnd = atStartCR, uint16(i), uint16(i)
		if in[i] != ' ' {
			return r.startEnd(in, i, BadStatusLine)
		}
		i++
		r.start, r.reason = atReason, uint16(i)
		fallthrough
	case atReason:
		i = valueEnd(in, i)
		if i == len(in) {
			return i, 0
		}
		r.start, r.reasonEnd = atStartCR, uint16(i)
		fallthrough
	default:
		return r.startEnd(in, i, BadStatusLine)
	}
}

// Status is the status, 100 to 999.
func (r *Response) Status() int { return int(r.status) }

// Reason is the text behind the status.
func (r *Response) Reason() []byte { return r.in[r.reason:r.reasonEnd] }

// Framing is how the body's end is known when the answer is one to the method,
// and the size of a Sized one, above 0 (RFC 9112, 6.3).
func (r *Response) Framing(method []byte) (Framing, int64) {
	switch {
	case string(method) == "HEAD", r.status < 200, r.status == 204, r.status == 304,
		string(method) == "CONNECT" && r.status < 300:
		return None, 0
	case r.Chunked(), r.Has(ContentLength):
		return r.framing()
	}
	return UntilClose, 0
}
