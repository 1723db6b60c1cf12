package coding

import "bytes"

// Coding is a content coding.
type Coding uint8

// The codings that are known.
const (
	Identity Coding = iota // none
	Gzip
	Deflate // zlib (RFC 1950), or what some servers send instead: deflate (RFC 1951) alone
	Brotli
	Zstd
)

var names = [...]string{Identity: "identity", Gzip: "gzip", Deflate: "deflate", Brotli: "br", Zstd: "zstd"}

// String is the coding's name in heads.
func (c Coding) String() string { return names[c] }

// Parse finds the coding of a name, in whatever case. "", "identity" and "none", which
// is none, but is said, are Identity. It is false for a name that is not known.
func Parse(name []byte) (Coding, bool) {
	for c := range names {
		if bytes.EqualFold(name, []byte(names[c])) {
			return Coding(c), true
		}
	}
	switch {
	case bytes.EqualFold(name, []byte("x-gzip")): // RFC 9110, 8.4.1.3
		return Gzip, true
	case len(name) == 0, bytes.EqualFold(name, []byte("none")):
		return Identity, true
	}
	return Identity, false
}
