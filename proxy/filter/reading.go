package filter

import "bytes"

// A path is not read in one way by all servers. All of them decode escapes once,
// resolve "." and "..", and take slashes in a row for one, if only where files
// are looked up; but what ".." takes away depends on the order:
//
//	/a%2fb/../.git    /a/.git if %2f separates segments, else /.git
//	/.git//../x       /x if two slashes are one beforehand, else /.git/x
//
// As it is not known what server will read the path, a rule for any of these
// readings counts. Where nothing is taken away, or there is neither an escape nor
// an empty segment, the first is enough.
type reading struct {
	opaque bool // %2f is part of a segment
	empty  bool // between two slashes is a segment
}

var readings = [...]reading{{}, {empty: true}, {opaque: true}, {opaque: true, empty: true}}

// isPlain tells whether all readings of a path are the path itself.
func isPlain(path []byte) bool {
	return len(path) == 0 || path[0] != '/' ||
		!isAmbiguous(path) && !bytes.Contains(path, []byte("/."))
}

// isAmbiguous tells whether the readings of a path may differ.
func isAmbiguous(path []byte) bool {
	return bytes.IndexByte(path, '%') >= 0 || bytes.Contains(path, []byte("//"))
}

// read appends a path, which begins with a slash, to dst as the server reads
// it, and tells whether there was a "..". It is never longer than the path.
func (as reading) read(dst, path []byte) (read []byte, up bool) {
	b := append(dst, path...)[len(dst):]
	if !as.opaque {
		b = decode(b)
	}
	if !as.empty {
		b = squeeze(b)
	}
	b, up = resolve(b, as.opaque)
	if as.opaque {
		b = decode(b)
	}
	return squeeze(b), up
}

// decode replaces, in place, %xx by the byte that it stands for. A % without two
// digits stays.
func decode(b []byte) []byte {
	to := bytes.IndexByte(b, '%')
	if to < 0 {
		return b
	}
	for i := to; i < len(b); i++ {
		c := b[i]
		if c == '%' && i+2 < len(b) {
			if high, low := digit(b[i+1]), digit(b[i+2]); high|low < 16 {
				c = high<<4 | low
				i += 2
			}
		}
		b[to] = c
		to++
	}
	return b[:to]
}

// digit is the value of a hexadecimal digit; 255: it is none.
func digit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10
	}
	return 255
}

// squeeze makes, in place, slashes in a row one.
func squeeze(b []byte) []byte {
	to := bytes.Index(b, []byte("//"))
	if to < 0 {
		return b
	}
	for _, c := range b[to:] {
		if c != '/' || to == 0 || b[to-1] != '/' {
			b[to] = c
			to++
		}
	}
	return b[:to]
}

// resolve drops, in place, each segment "." and each ".." with the one before
// (RFC 3986, 5.2.4), and tells whether there was a "..". escaped: %2e is a dot.
func resolve(b []byte, escaped bool) (resolved []byte, up bool) {
	to := 0
	for i := 0; i < len(b); { // from one slash to the next
		end := i + 1
		for end < len(b) && b[end] != '/' {
			end++
		}
		switch dots(b[i+1:end], escaped) {
		case 0:
			to += copy(b[to:], b[i:end])
			i = end
			continue
		case 2:
			up = true
			to = max(0, bytes.LastIndexByte(b[:to], '/'))
		}
		if end == len(b) { // what is left is a folder
			b[to] = '/'
			to++
		}
		i = end
	}
	return b[:to], up
}

// dots is 1 of ".", 2 of "..", and 0 of any other segment.
func dots(segment []byte, escaped bool) (n int) {
	for len(segment) > 0 {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case escaped && len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}
