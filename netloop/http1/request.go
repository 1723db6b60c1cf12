package http1

import "bytes"

// Form is the form of a request's target (RFC 9112, 3.2).
type Form uint8

// The forms.
const (
	OriginForm    Form = iota // /path?query
	AbsoluteForm              // http://authority/path?query
	AuthorityForm             // host:port, of CONNECT
	AsteriskForm              // *, of OPTIONS
)

// Request reads the head of a request and holds what it says. The zero value
// is ready, and so is one after Reset.
type Request struct {
	form                    Form
	root                    [1]byte // the path where an absolute target has none
	method                  uint16  // its end; it begins where the head does
	target, targetEnd       uint16
	path, pathEnd           uint16
	query                   uint16 // its question mark; 0 without one
	authority, authorityEnd uint16 // of the target

	head
}

// Reset forgets everything, for the next request.
func (r *Request) Reset() {
	// All but the fields: nothing before their count is ever looked at.
	r.in, r.seen, r.lines, r.start, r.fault = nil, 0, lines{}, 0, 0
	r.codings, r.connection, r.begin, r.end = 0, 0, 0, 0
}

// Parse reads on in a request's head. in begins with the bytes of the last
// call, which may have moved, and has more. n > 0: the head is whole and n
// bytes long, with the empty lines before it, which are skipped (RFC 9112,
// 2.2). n == 0 without a fault: more is needed. An outcome stays until Reset.
func (r *Request) Parse(in []byte) (n int, fault Fault) {
	rest := r.resume(in)
	if rest == nil {
		return int(r.end), r.fault
	}
	if r.start < atFields {
		i, fault := r.startLine(rest)
		r.lines.pos = uint16(i)
		if fault != 0 || r.start < atFields {
			return r.stop(rest, fault)
		}
	}
	return r.fieldLines(rest)
}

// startLine reads on in the request line, and returns where it stopped.
func (r *Request) startLine(in []byte) (i int, fault Fault) {
	i = int(r.lines.pos)
	switch r.start {
	case atBegin, atEmptyLF:
		for i < len(in) {
			c := in[i]
			switch {
			case r.start == atEmptyLF && c == '\n':
				r.start = atBegin
			case r.start == atBegin && c == '\r':
				r.start = atEmptyLF
			case r.start == atEmptyLF || c == '\n':
				return i, BadLineEnd
			default:
				r.start = atMethod
			}
			if r.start == atMethod {
				break
			}
			i++
		}
		if r.start != atMethod {
			return i, 0
		}
		r.begin = uint16(i)
		fallthrough
	case atMethod:
		begin := int(r.begin)
		i = tokenEnd(in, i)
		switch {
		case i-begin > MaxMethod:
			return i, MethodTooLong
		case i == len(in):
			return i, 0
		case in[i] != ' ' || i == begin:
			return i, BadMethod
		}
		r.method, r.start = uint16(i), atTarget
		i++
		r.target = uint16(i)
		fallthrough
	case atTarget:
		longest := int(r.target) + MaxTarget
		i = targetEnd(in[:min(len(in), longest+1)], i)
		switch {
		case i > longest:
			return i, TargetTooLong
		case i == len(in):
			return i, 0
		case in[i] != ' ' || !r.readTarget(in[r.target:i]):
			return i, BadTarget
		}
		r.targetEnd, r.start = uint16(i), atVersion
		i++
		fallthrough
	case atVersion:
		from := int(r.targetEnd) + 1
		i, fault = r.version(in, from, i)
		if fault != 0 || i < from+versionSize {
			return i, fault
		}
		r.start = atStartCR
		fallthrough
	default:
		return r.startEnd(in, i, BadVersion)
	}
}

// readTarget takes the target apart and tells whether it may be one.
func (r *Request) readTarget(target []byte) bool {
	r.query, r.authority, r.authorityEnd = 0, 0, 0
	from := int(r.target)
	method := r.in[r.begin:r.method]
	path := 0
	switch {
	case len(target) == 0:
		return false
	case string(method) == "CONNECT":
		r.form = AuthorityForm
		r.path, r.pathEnd = 0, 0
		r.authority, r.authorityEnd = r.target, uint16(from+len(target))
		host, port, ok := SplitAuthority(target)
		return ok && len(host) > 0 && len(port) > 0
	case target[0] == '/':
		r.form = OriginForm
	case string(target) == "*":
		r.form = AsteriskForm
		r.path, r.pathEnd = r.target, r.target+1
		return string(method) == "OPTIONS"
	default:
		r.form = AbsoluteForm
		scheme := 0
		for _, s := range [...]string{"http://", "https://"} {
			if len(target) >= len(s) && bytes.EqualFold(target[:len(s)], []byte(s)) {
				scheme = len(s)
			}
		}
		if scheme == 0 {
			return false
		}
		path = scheme
		for path < len(target) && target[path] != '/' && target[path] != '?' {
			path++
		}
		r.authority, r.authorityEnd = uint16(from+scheme), uint16(from+path)
		if host, _, ok := SplitAuthority(target[scheme:path]); !ok || len(host) == 0 {
			return false
		}
	}
	r.path, r.pathEnd = uint16(from+path), uint16(from+len(target))
	if q := bytes.IndexByte(target[path:], '?'); q >= 0 {
		r.query = r.path + uint16(q)
		r.pathEnd = r.query
	}
	if r.path == r.pathEnd { // RFC 9112, 3.2.1 and 3.2.4
		r.root[0] = '/'
		if r.query == 0 && string(method) == "OPTIONS" {
			r.root[0] = '*'
		}
	}
	return true
}

// Method is the method, as it was written.
func (r *Request) Method() []byte { return r.in[r.begin:r.method] }

// Target is the whole target, as it was written.
func (r *Request) Target() []byte { return r.in[r.target:r.targetEnd] }

// Form is the target's form.
func (r *Request) Form() Form { return r.form }

// Path is the target's path, without the query. It is "/" for an absolute
// target without one, or "*" where such a target has no query either and the
// method is OPTIONS (RFC 9112, 3.2.4); of CONNECT it is empty.
func (r *Request) Path() []byte {
	if r.path == r.pathEnd && r.form == AbsoluteForm {
		return r.root[:]
	}
	return r.in[r.path:r.pathEnd]
}

// Query is what stands behind the target's first question mark.
func (r *Request) Query() []byte {
	if r.query == 0 {
		return nil
	}
	return r.in[r.query+1 : r.targetEnd]
}

// HasQuery tells whether there is a question mark.
func (r *Request) HasQuery() bool { return r.query != 0 }

// Authority is the host, with the port if one is given, that the request is
// for: the target's, or else that of Host.
func (r *Request) Authority() []byte {
	if r.authorityEnd > 0 {
		return r.in[r.authority:r.authorityEnd]
	}
	return r.Get(Host)
}

// ExpectContinue tells whether the client waits for 100 before it sends the
// body. It is false without a body, and in HTTP/1.0 (RFC 9110, 10.1.1).
func (r *Request) ExpectContinue() bool {
	kind, _ := r.framing()
	return r.connection&expectsContinue != 0 && r.minor > 0 && kind != None
}

// Framing is how the body's end is known, and the size of a Sized one, above
// 0: a Content-Length of 0 is None.
func (r *Request) Framing() (Framing, int64) { return r.framing() }
