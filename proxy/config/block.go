package config

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"

	"redoubt/internal/jsonc"
	"redoubt/netloop/http1"
	"redoubt/proxy/filter"
	"redoubt/proxy/pattern"
)

// answer reads the status of a refusal, or "close".
func answer(to *int) read {
	return func(v jsonc.Value) error {
		const want = `a status from 400 to 599, or "close"`
		if v.Kind() == '"' {
			word, _ := v.Text()
			if word != "close" {
				return v.Errorf("want %s, got %.40q", want, word)
			}
			*to = filter.CloseSilently
			return nil
		}
		n, err := v.Int(400, 599)
		if err != nil {
			return v.Wrong(want)
		}
		*to = int(n)
		return nil
	}
}

// methods reads those that are refused.
func methods(to *[]string) read {
	return each(func(text string, v jsonc.Value) error {
		if at := notToken(text); at >= 0 || len(text) > http1.MaxMethod {
			return v.ErrorfAt(at, "%.80q is no method; write its name as it is sent, such as TRACE", text)
		}
		*to = append(*to, text)
		return nil
	})
}

// paths reads patterns of those that are refused.
func paths(to *[]string) read {
	return func(v jsonc.Value) error {
		return v.Elements(func(_ int, v jsonc.Value) error {
			var path string
			if err := pathPattern(&path, false)(v); err != nil {
				return err
			}
			*to = append(*to, path)
			return nil
		})
	}
}

// notToken is where a text has something that is not in names of methods and
// fields; -1 if it is such a name.
func notToken(text string) int {
	for i := range len(text) {
		if !http1.IsToken(text[i : i+1]) {
			return i
		}
	}
	if text == "" {
		return 0
	}
	return -1
}

// headerReading is one of block.headers.
type headerReading struct{ filter.Header }

func (h *headerReading) fields() []jsonc.Field {
	return []jsonc.Field{
		{Name: "name", Need: true, Example: `"User-Agent"`, Help: "of the field", Read: func(v jsonc.Value) error {
			name, err := v.Text()
			if at := notToken(name); err == nil && at >= 0 {
				err = v.ErrorfAt(at, "%.80q is no name of a field; write one such as User-Agent", name)
			}
			h.Name = name
			return err
		}},
		{Name: "match", Need: true, Example: `"(?i)badbot"`, Help: "an expression of Go's syntax", Read: func(v jsonc.Value) error {
			find, err := v.Text()
			if err != nil {
				return err
			}
			if h.Match, err = regexp.Compile(find); err != nil {
				return badPattern(v, find, err)
			}
			return nil
		}},
	}
}

// badPattern says what is wrong with an expression, and where.
func badPattern(v jsonc.Value, find string, err error) error {
	at, reason := pattern.Fault(find, syntax.Perl, err)
	return v.ErrorfAt(at, "match: %s", pattern.WithoutFlags(reason))
}

func (r *reader) readHeaders(v jsonc.Value) error {
	return v.Elements(func(_ int, v jsonc.Value) error {
		var h headerReading
		err := v.Fields("a header", h.fields())
		r.block.Headers = append(r.block.Headers, h.Header)
		return err
	})
}

// rateReading is block.rate.
type rateReading struct {
	per      string
	requests float64
	burst    int
}

// Bounds of a rate. It is counted in nanoseconds.
const (
	leastRate = 0.001 // one in some 17 minutes
	mostRate  = 1_000_000
	mostBurst = 1_000_000
)

func (rate *rateReading) fields() []jsonc.Field {
	want := fmt.Sprintf("a number of requests a second from %v to %d, or 0 for no limit", leastRate, mostRate)
	return []jsonc.Field{
		{Name: "per", Default: `"client"`, Help: "by address; IPv6 by /64", Read: oneOf(&rate.per, "client")},
		{Name: "requests", Default: `0`, Help: "a second; 0: no limit", Read: func(v jsonc.Value) (err error) {
			rate.requests, err = v.Float(0, mostRate, want)
			if err == nil && rate.requests != 0 && rate.requests < leastRate {
				err = v.Wrong(want)
			}
			return err
		}},
		{Name: "burst", Default: `0`, Help: "at once; 0: those of one second", Read: count(&rate.burst, mostBurst)},
	}
}

func (r *reader) readRate(v jsonc.Value) error {
	var rate rateReading
	if err := v.Fields(`"rate"`, rate.fields()); err != nil {
		return err
	}
	if rate.burst > 0 && rate.requests == 0 {
		return v.Errorf(`"burst" limits nothing without "requests", those let in a second`)
	}
	if seconds := float64(rate.burst) / rate.requests; seconds > maxTime.Seconds() {
		return v.Errorf(`at %v a second %d take over a year; make "burst" smaller`, rate.requests, rate.burst)
	}
	if rate.burst == 0 {
		rate.burst = int(max(1, math.Ceil(rate.requests)))
	}
	if rate.requests > 0 {
		r.block.Rate = filter.Rate{Requests: rate.requests, Burst: rate.burst}
	}
	return nil
}

// blocks tells whether there is anybody to be refused.
func (r *reader) blocks() bool {
	b := &r.block
	return len(b.Networks)+len(b.Methods)+len(b.Paths)+len(b.Headers) > 0 || b.Connections > 0 || b.Rate.Requests > 0
}
