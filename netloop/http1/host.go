package http1

import "bytes"

// SplitAuthority splits uri-host [":" port] (RFC 9110, 7.2) and tells whether
// it is one: a name, an IPv4 address or an IPv6 address in brackets, which stay.
// The host may be empty, and so may the port, with or without its colon. It
// takes no user information, and nothing over MaxHost.
func SplitAuthority(b []byte) (host, port []byte, ok bool) {
	if len(b) > MaxHost {
		return nil, nil, false
	}
	i := 0
	if len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 || !isIPv6(b[1:end]) {
			return nil, nil, false
		}
		i = end + 1
	} else {
		for i < len(b) && class[b[i]]&inRegName != 0 {
			if b[i] == '%' && (len(b)-i < 3 || !all(b[i+1:i+3], isHex)) {
				return nil, nil, false
			}
			i++
		}
	}
	host = b[:i]
	if i == len(b) {
		return host, nil, true
	}
	port = b[i+1:]
	return host, port, b[i] == ':' && all(port, isDigit)
}

// isIPv6 knows the addresses of RFC 4291, 2.2, without a zone.
func isIPv6(b []byte) bool {
	groups, gap := 0, false
	if bytes.HasPrefix(b, []byte("::")) {
		b, gap = b[2:], true
	}
	for len(b) > 0 {
		n := 0
		for n < len(b) && class[b[n]]&isHex != 0 {
			n++
		}
		if n < len(b) && b[n] == '.' { // the last 32 bits as IPv4
			groups += 2
			return isIPv4(b) && fills(groups, gap)
		}
		if n == 0 || n > 4 {
			return false
		}
		groups++
		b = b[n:]
		switch {
		case len(b) == 0:
		case b[0] != ':' || len(b) == 1:
			return false
		case b[1] != ':':
			b = b[1:]
		case gap:
			return false
		default:
			b, gap = b[2:], true
		}
	}
	return fills(groups, gap)
}

// fills tells whether so many groups are an address. A gap stands for at least
// one more.
func fills(groups int, gap bool) bool { return gap && groups < 8 || !gap && groups == 8 }

func isIPv4(b []byte) bool {
	for part := range 4 {
		n, value := 0, 0
		for n < len(b) && n < 3 && class[b[n]]&isDigit != 0 {
			value = value*10 + int(b[n]-'0')
			n++
		}
		if n == 0 || value > 255 || n > 1 && b[0] == '0' {
			return false
		}
		b = b[n:]
		if part < 3 {
			if len(b) == 0 || b[0] != '.' {
				return false
			}
			b = b[1:]
		}
	}
	return len(b) == 0
}
