package filter

import (
	"bytes"
	"regexp"

	"redoubt/netloop/http1"
)

// header is a Header, compiled.
type header struct {
	known http1.Known
	name  []byte
	match *regexp.Regexp
	needs *needle // nil: not known
	rule  *Rule
}

// in tells whether the request has a field of the name with a value that
// matches.
func (h *header) in(r *http1.Request) bool {
	if h.known != http1.Other && !r.Has(h.known) {
		return false
	}
	for _, f := range r.Fields() {
		if f.Known() != h.known {
			continue
		}
		// EqualFold folds more than ASCII, but both names are tokens.
		if h.known == http1.Other && !bytes.EqualFold(r.Name(f), h.name) {
			continue
		}
		value := r.Value(f)
		if (h.needs == nil || h.needs.in(value)) && h.match.Match(value) {
			return true
		}
	}
	return false
}
