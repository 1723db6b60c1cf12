package coding

import "github.com/klauspost/compress/zstd"

// Verdict is what Inspect finds.
type Verdict uint8

// What the beginning of a body tells.
const (
	NeedMore Verdict = iota // too little of it is there
	Fine
	Wrong // it is not in that coding
)

const deflateWindow = 32 << 10

// Inspect looks at the beginning of a body, so that it can still be refused. window is
// how far back, in bytes, the coding looks; 0: not known.
func Inspect(c Coding, first []byte) (window int64, v Verdict) {
	if len(first) == 0 {
		return 0, NeedMore
	}
	switch c {
	case Gzip:
		switch { // RFC 1952, 2.3.1
		case first[0] != 0x1f, len(first) > 1 && first[1] != 0x8b, len(first) > 2 && first[2] != 8:
			return 0, Wrong
		case len(first) < 3:
			return 0, NeedMore
		}
		return deflateWindow, Fine
	case Deflate: // see isZlib
		if first[0]>>1&3 == 3 { // a kind of block that there is not; in zlib these bits are 0
			return 0, Wrong
		}
		return deflateWindow, Fine
	case Brotli:
		return inspectBrotli(first)
	case Zstd:
		return inspectZstd(first)
	}
	return 0, Fine
}

// inspectBrotli reads WBITS (RFC 7932, 9.1).
func inspectBrotli(first []byte) (int64, Verdict) {
	bits := 0
	switch b := first[0]; {
	case b&1 == 0:
		bits = 16
	case b>>1&7 != 0:
		bits = 17 + int(b>>1&7)
	case b>>4&7 == 0:
		bits = 17
	case b>>4&7 == 1: // large windows, which no decoder here reads
		return 1 << 30, Fine
	default:
		bits = 8 + int(b>>4&7)
	}
	return 1<<bits - 16, Fine
}

// inspectZstd reads the header of a frame (RFC 8878, 3.1.1.1). One that is to be skipped
// tells nothing: then the decoder bounds what follows it.
func inspectZstd(first []byte) (int64, Verdict) {
	const magic, skippable = "\x28\xb5\x2f\xfd", "\x2a\x4d\x18" // behind a byte from 0x50 to 0x5f
	switch n := min(len(first), 4); {
	case string(first[:n]) == magic[:n]:
	case first[0]>>4 == 5 && string(first[1:n]) == skippable[:n-1]:
		if n == 4 {
			return 0, Fine
		}
	default:
		return 0, Wrong
	}
	var h zstd.Header
	switch err := h.Decode(first); {
	case err != nil && len(first) < zstd.HeaderMaxSize:
		return 0, NeedMore
	case err != nil:
		return 0, Wrong
	case h.SingleSegment:
		return int64(min(h.FrameContentSize, 1<<62)), Fine
	}
	return int64(min(h.WindowSize, 1<<62)), Fine
}

// isZlib tells whether what is called deflate has a header of zlib (RFC 1950, 2.2).
func isZlib(first []byte) bool {
	return len(first) >= 2 && first[0]&15 == 8 && first[0]>>4 <= 7 && (uint(first[0])<<8|uint(first[1]))%31 == 0 && first[1]&0x20 == 0
}
