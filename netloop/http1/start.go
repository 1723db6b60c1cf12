package http1

import "encoding/binary"

// startState is where reading a start line stopped.
type startState uint8

const (
	atBegin startState = iota
	atEmptyLF
	atMethod
	atTarget
	atVersion
	atStatus
	atReason
	atStartCR
	atStartLF
	atFields
)

const versionSize = len("HTTP/1.1")

// version reads the version that stands at from, of which the bytes before i
// are read. It returns where it stopped: from+versionSize when done.
func (h *head) version(in []byte, from, i int) (int, Fault) {
	// Fast path - all there, and the usual one.
	if i == from && len(in)-i >= versionSize && binary.LittleEndian.Uint64(in[i:]) == usualVersion {
		h.minor = 1
		return i + versionSize, 0
	}
	for ; i < len(in) && i < from+versionSize; i++ {
		pattern := "HTTP/0.0"[i-from]
		if pattern == '0' && class[in[i]]&isDigit == 0 || pattern != '0' && in[i] != pattern {
			return i, BadVersion
		}
	}
	if i == from+versionSize {
		if in[from+5] != '1' {
			return i, UnsupportedVersion
		}
		h.minor = min(in[from+7]-'0', 1)
	}
	return i, 0
}

const usualVersion = 'H' | 'T'<<8 | 'T'<<16 | 'P'<<24 | '/'<<32 | '1'<<40 | '.'<<48 | '1'<<56

// startEnd reads the CRLF of a start line from i on, and returns where it
// stopped.
func (h *head) startEnd(in []byte, i int, fault Fault) (int, Fault) {
	if h.start == atStartCR && i < len(in) {
		if in[i] != '\r' {
			if in[i] == '\n' {
				fault = BadLineEnd
			}
			return i, fault
		}
		h.start = atStartLF
		i++
	}
	if h.start == atStartLF && i < len(in) {
		if in[i] != '\n' {
			return i, BadLineEnd
		}
		h.start = atFields
		i++
	}
	return i, 0
}
