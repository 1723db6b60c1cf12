package handlers

import "bytes"

// kind is one of the three kinds of record.
type kind uint8

const (
	users kind = iota
	locations
	visits
)

// part is what a path asks for.
type part uint8

const (
	record    part = iota // /users/1
	newRecord             // /users/new
	visitsOf              // /users/1/visits
	averageOf             // /locations/1/avg
)

// route is a path that the API knows.
type route struct {
	kind kind
	part part
	id   uint32
}

var prefixes = [...][]byte{users: []byte("/users/"), locations: []byte("/locations/"), visits: []byte("/visits/")}

// parsePath tells what a path asks for. It is taken as it was sent: escapes, a
// slash at the end or a zero in front of an id make another path, which the
// API does not know.
func parsePath(path []byte) (r route, known bool) {
	for k, prefix := range prefixes {
		if !bytes.HasPrefix(path, prefix) {
			continue
		}
		r.kind = kind(k)
		rest := path[len(prefix):]
		if string(rest) == "new" {
			r.part = newRecord
			return r, true
		}
		var tail []byte
		if r.id, tail, known = parseID(rest); !known {
			return r, false
		}
		switch {
		case len(tail) == 0:
			return r, true
		case r.kind == users && string(tail) == "/visits":
			r.part = visitsOf
			return r, true
		case r.kind == locations && string(tail) == "/avg":
			r.part = averageOf
			return r, true
		}
		return r, false
	}
	return r, false
}

// parseID reads an id in canonical decimal, up to 4294967295, from the start
// of b.
func parseID(b []byte) (id uint32, tail []byte, ok bool) {
	var n uint64
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + uint64(b[i]-'0')
		if n > 1<<32-1 {
			return 0, nil, false
		}
	}
	if i == 0 || i > 1 && b[0] == '0' {
		return 0, nil, false
	}
	return uint32(n), b[i:], true
}
