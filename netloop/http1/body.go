package http1

import (
	"bytes"
	"math"
	"strconv"
)

// Body reads one message's body. The zero value is one of no body.
type Body struct {
	at        bodyState
	fault     Fault // found; stays
	digits    uint8 // of the chunk size under way
	line      uint16
	left      int64 // bytes to come of the chunk, or of a Sized body
	size      int64 // of the chunks before
	extension int64 // bytes of chunk extensions so far
	lines     lines
	trailers  []byte
}

type bodyState uint8

const (
	bodyEnd bodyState = iota
	sizedData
	allData

	chunkData
	chunkCR // after the data
	chunkLF

	// A chunk's line (RFC 9112, 7.1 and 7.1.1).
	chunkSize
	extensionBlank  // blanks: a semicolon must follow
	extensionBegin  // after the semicolon: blanks, then a name
	extensionName   //
	extensionEquals // blanks after a name: an equals sign or a semicolon must follow
	extensionValue  // after the equals sign: blanks, then a value
	extensionToken
	extensionQuoted
	extensionEscape // after a backslash
	extensionEnd    // after the closing quote
	chunkLineLF

	trailerLines
)

// freeExtensions is how many bytes of extensions a body may have; each byte of
// data allows one more. Signed uploads need under 100 bytes for 64 KB.
const freeExtensions = 16384

// Reset begins a body. size is that of a Sized one.
func (b *Body) Reset(kind Framing, size int64) {
	*b = Body{left: size}
	switch {
	case kind == Chunked:
		b.at = chunkSize
	case kind == UntilClose:
		b.at = allData
	case kind == Sized && size > 0:
		b.at = sizedData
	}
}

// Next takes in the next bytes: n of them are used up, and data, maybe empty,
// is the part of the body among those. done: the body has ended, and so have
// its trailers; what follows in[:n] is another message. n == 0, neither done
// nor at fault: more is needed, and in[n:] must come again before it. (Only a
// trailer section makes one wait so: it is used up as a whole.)
func (b *Body) Next(in []byte) (data []byte, n int, done bool, fault Fault) {
	switch b.at {
	case bodyEnd:
		return nil, 0, true, 0
	case allData:
		return in, len(in), false, 0
	case sizedData:
		n = int(min(b.left, int64(len(in))))
		b.left -= int64(n)
		if b.left == 0 {
			b.at = bodyEnd
		}
		return in[:n], n, b.left == 0, 0
	}
	if b.fault != 0 {
		return nil, 0, false, b.fault
	}
	for n < len(in) {
		switch b.at {
		case chunkData:
			size := int(min(b.left, int64(len(in)-n)))
			b.left -= int64(size)
			if b.left == 0 {
				b.at = chunkCR
			}
			return in[n : n+size], n + size, false, 0
		case trailerLines:
			size, fault := b.trailerLines(in[n:])
			b.fault = fault
			return nil, n + size, b.at == bodyEnd, fault
		}
		if fault := b.chunkByte(in[n]); fault != 0 {
			b.fault = fault
			return nil, n, false, fault
		}
		n++
	}
	return nil, n, false, 0
}

// chunkByte takes in a byte of what stands around data.
func (b *Body) chunkByte(c byte) Fault {
	switch b.at {
	case chunkCR:
		if c != '\r' {
			return BadChunkEnd
		}
		b.at = chunkLF
		return 0
	case chunkLF:
		if c != '\n' {
			return BadChunkEnd
		}
		b.at, b.digits, b.line, b.left = chunkSize, 0, 0, 0
		return 0
	}
	if b.line++; b.line > MaxChunkLine {
		return ChunkLineTooLong
	}
	switch b.at {
	case chunkSize:
		if class[c]&isHex != 0 {
			if b.digits == 16 || b.left > math.MaxInt64>>4 {
				return BadChunkSize
			}
			b.digits++
			b.left = b.left<<4 | int64(c&15+c>>6*9)
			return 0
		}
		if b.digits == 0 || c != ';' && c != '\r' && !isBlank(c) {
			return BadChunkSize
		}
	case chunkLineLF:
		if c != '\n' {
			return BadLineEnd
		}
		b.at = chunkData
		b.size += b.left
		if b.left == 0 {
			b.at = trailerLines
		}
		return 0
	}
	return b.extensionByte(c)
}

// extensionByte takes in a byte of a chunk's line behind its size.
func (b *Body) extensionByte(c byte) Fault {
	if c != '\r' {
		if b.extension++; b.extension > freeExtensions+b.size {
			return ChunkLineTooLong
		}
	}
	token := class[c]&inToken != 0
	next := b.at
	switch b.at {
	case chunkSize, extensionBlank, extensionName, extensionEquals, extensionToken, extensionEnd:
		mayEnd := b.at != extensionBlank && b.at != extensionEquals
		switch {
		case token && (b.at == extensionName || b.at == extensionToken):
		case c == ';':
			next = extensionBegin
		case c == '=' && (b.at == extensionName || b.at == extensionEquals):
			next = extensionValue
		case c == '\r' && mayEnd:
			next = chunkLineLF
		case isBlank(c) && (b.at == extensionName || b.at == extensionEquals):
			next = extensionEquals
		case isBlank(c):
			next = extensionBlank
		default:
			return BadChunkExtension
		}
	case extensionBegin, extensionValue:
		switch {
		case isBlank(c):
		case token && b.at == extensionBegin:
			next = extensionName
		case token:
			next = extensionToken
		case c == '"' && b.at == extensionValue:
			next = extensionQuoted
		default:
			return BadChunkExtension
		}
	case extensionQuoted:
		switch {
		case c == '"':
			next = extensionEnd
		case c == '\\':
			next = extensionEscape
		case class[c]&inQuoted == 0:
			return BadChunkExtension
		}
	case extensionEscape:
		if class[c]&inValue == 0 {
			return BadChunkExtension
		}
		next = extensionQuoted
	default:
		panic("http1: a chunk line in state " + strconv.Itoa(int(b.at)))
	}
	b.at = next
	return 0
}

// trailerLines reads on in the trailer section, and uses it up when it is
// whole.
func (b *Body) trailerLines(in []byte) (n int, fault Fault) {
	limited := in[:min(len(in), MaxHead)]
	for {
		f, s, fault := b.lines.next(limited)
		switch s {
		case theEnd:
			n = int(b.lines.pos)
			b.at, b.trailers = bodyEnd, in[:n-len("\r\n")]
			return n, 0
		case aField:
			if barredTrailers>>f.Known()&1 != 0 {
				return 0, FramingInTrailer
			}
		case aFault:
			return 0, fault
		case needMore:
			if len(limited) == MaxHead {
				return 0, HeadTooLong
			}
			return 0, 0
		}
	}
}

// barredTrailers would change what was decided by the head: where the message
// ends, whom it is for, how it is coded, what becomes of the connection (RFC
// 9110, 6.5.1).
const barredTrailers = 1<<ContentLength | 1<<TransferEncoding | 1<<Host | 1<<ContentEncoding |
	1<<Connection | 1<<Upgrade | 1<<Expect | 1<<TE | 1<<Trailer

// EOF says that the connection has ended, and asks whether the body has, too:
// otherwise it is cut short.
func (b *Body) EOF() (ok bool) {
	if b.at == allData {
		b.at = bodyEnd
	}
	return b.at == bodyEnd
}

// Trailers are the lines of the trailer section with their line ends, without
// the empty line: a view of what Next was given when the body ended.
func (b *Body) Trailers() []byte { return b.trailers }

// EachTrailer yields the names and values of the trailers.
func (b *Body) EachTrailer(yield func(name, value []byte) bool) {
	for rest := b.trailers; len(rest) > 0; {
		line := rest[:bytes.IndexByte(rest, '\n')+1]
		rest = rest[len(line):]
		colon := bytes.IndexByte(line, ':')
		if !yield(line[:colon], bytes.Trim(line[colon+1:], " \t\r\n")) {
			return
		}
	}
}
