package coding

import "bytes"

// Accepts is which codings a client takes (RFC 9110, 12.5.3). The zero value is one that
// has not said, and gets none.
type Accepts struct {
	said  uint8 // a bit for each coding that was named
	zero  uint8 // ... with a weight of 0
	any   bool  // * takes those that were not named
	order [len(names)]Coding
	q     [len(names)]uint16 // thousandths
	anyQ  uint16
	n     int
}

// Add takes the value of an Accept-Encoding field. What cannot be understood is left
// out, and so are codings that are not known here.
func (a *Accepts) Add(value []byte) {
	for len(value) > 0 {
		var element []byte
		element, value, _ = bytes.Cut(value, []byte(","))
		name, parameter, _ := bytes.Cut(element, []byte(";"))
		name = bytes.TrimSpace(name)
		q, ok := weight(parameter)
		if !ok || len(name) == 0 {
			continue
		}
		if string(name) == "*" {
			a.any, a.anyQ = q > 0, q
			continue
		}
		c, known := Parse(name)
		if !known || a.said>>c&1 != 0 {
			continue
		}
		a.said |= 1 << c
		if q == 0 {
			a.zero |= 1 << c
		}
		a.order[a.n], a.q[a.n] = c, q
		a.n++
	}
}

// weight reads ";q=0.5" behind its semicolon, in thousandths; 1 where there is none.
func weight(parameter []byte) (q uint16, ok bool) {
	parameter = bytes.TrimSpace(parameter)
	if len(parameter) == 0 {
		return 1000, true
	}
	name, text, found := bytes.Cut(parameter, []byte("="))
	if !found || !bytes.EqualFold(bytes.TrimSpace(name), []byte("q")) {
		return 0, false
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > len("0.000") || text[0] != '0' && text[0] != '1' || len(text) > 1 && text[1] != '.' {
		return 0, false
	}
	unit := uint16(1000)
	for i, c := range text {
		switch {
		case i == 1:
			continue
		case c < '0' || c > '9':
			return 0, false
		}
		q += uint16(c-'0') * unit
		unit /= 10
	}
	return q, q <= 1000
}

// Takes tells whether the client takes a coding. It always takes a body without one:
// there is no other way to answer it.
func (a *Accepts) Takes(c Coding) bool {
	if c == Identity {
		return true
	}
	if a.said>>c&1 != 0 {
		return a.zero>>c&1 == 0
	}
	return a.any
}

// Append appends the codings that a server may choose from: those that the client takes
// and that are known here, in its order, with its weights.
func (a *Accepts) Append(b []byte) []byte {
	from := len(b)
	add := func(c Coding, q uint16) {
		if len(b) > from {
			b = append(b, ", "...)
		}
		b = append(b, names[c]...)
		if q < 1000 {
			b = append(b, ";q=0"...)
			if q > 0 {
				b = append(b, '.', '0'+byte(q/100), '0'+byte(q/10%10), '0'+byte(q%10))
			}
		}
	}
	for i := range a.n {
		if a.q[i] > 0 || a.order[i] == Identity {
			add(a.order[i], a.q[i])
		}
	}
	if a.any {
		for _, c := range [...]Coding{Gzip, Brotli, Zstd, Deflate} {
			if a.said>>c&1 == 0 {
				add(c, a.anyQ)
			}
		}
	}
	if len(b) == from {
		add(Identity, 1000)
	}
	return b
}

// Answer is what a body that has come in a coding goes on in: gzip, if the client takes
// it, for that costs least; else the same coding; else none.
func (a *Accepts) Answer(from Coding) Coding {
	switch {
	case from == Identity:
		return Identity
	case a.Takes(Gzip):
		return Gzip
	case a.Takes(from):
		return from
	}
	return Identity
}
