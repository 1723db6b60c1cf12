package accesslog

import (
	"fmt"
	"strconv"
	"time"
)

// format appends an entry's line.
type format func(b []byte, c *clock, e *Entry) []byte

func formatOf(name string) (format, error) {
	switch name {
	case "", "json":
		return appendJSONLine, nil
	case "combined":
		return appendCombinedLine, nil
	}
	return nil, fmt.Errorf("access log: no format %q: use json or combined", name)
}

// clock keeps the second that was formatted last: the next line is mostly of
// the same.
type clock struct {
	second int64
	text   []byte
}

// at is the second of a time in the layout, which is always the same, and the
// nanoseconds beyond it.
func (c *clock) at(unixNano int64, layout string) (text []byte, rest int64) {
	second := unixNano / 1e9
	rest = unixNano - second*1e9
	if rest < 0 {
		second, rest = second-1, rest+1e9
	}
	if second != c.second || len(c.text) == 0 {
		c.second = second
		c.text = time.Unix(second, 0).UTC().AppendFormat(c.text[:0], layout)
	}
	return c.text, rest
}

func appendJSONLine(b []byte, c *clock, e *Entry) []byte {
	second, rest := c.at(e.Time, "2006-01-02T15:04:05")
	b = append(append(b, `{"time":"`...), second...)
	b = appendMicros(append(b, '.'), rest/1000)
	b = append(b, `Z","client":"`...)
	b = appendAddr(b, e)
	b = appendJSON(b, `","method":"`, e.Method, MaxText)
	b = appendJSON(b, `","target":"`, e.Target, MaxTarget)
	b = appendJSON(b, `","host":"`, e.Host, MaxText)
	b = appendInt(b, `","version":"1.`, int64(e.Minor))
	b = appendInt(b, `","status":`, int64(e.Status))
	b = appendInt(b, `,"in":`, e.In)
	b = appendInt(b, `,"out":`, e.Out)
	b = appendSeconds(b, `,"duration":`, max(e.Duration, 0))
	b = appendSeconds(b, `,"filter":`, e.Filter)
	b = appendSeconds(b, `,"wait":`, e.Wait)
	if e.Rewrite >= 0 {
		b = appendSeconds(b, `,"rewrite":`, e.Rewrite)
		b = appendInt(b, `,"matches":`, e.Matches)
	}
	b = appendMore(b, `,"route":"`, bytesOf(e.Route))
	b = appendMore(b, `,"upstream":"`, bytesOf(e.Upstream))
	b = appendMore(b, `,"rule":"`, bytesOf(e.Rule))
	b = appendMore(b, `,"error":"`, bytesOf(e.Error))
	if e.Dry {
		b = append(b, `,"dry":true`...)
	}
	b = appendMore(b, `,"referer":"`, e.Referer)
	b = appendMore(b, `,"agent":"`, e.UserAgent)
	b = appendMore(b, `,"id":"`, e.RequestID)
	return append(b, '}', '\n')
}

func appendCombinedLine(b []byte, c *clock, e *Entry) []byte {
	if !e.Client.IsValid() {
		b = append(b, '-')
	}
	b = appendAddr(b, e)
	second, _ := c.at(e.Time, "02/Jan/2006:15:04:05 +0000")
	b = append(append(b, " - - ["...), second...)
	b = append(b, `] "`...)
	if len(e.Method) == 0 && len(e.Target) == 0 {
		b = append(b, '-')
	} else {
		b = appendText(b, e.Method, MaxText, escapeCombined)
		b = appendText(append(b, ' '), e.Target, MaxTarget, escapeCombined)
		b = appendInt(b, " HTTP/1.", int64(e.Minor))
	}
	b = appendInt(b, `" `, int64(e.Status))
	b = appendInt(b, " ", e.Out)
	for _, text := range [...][]byte{e.Referer, e.UserAgent} {
		b = append(b, ` "`...)
		if len(text) == 0 {
			b = append(b, '-')
		}
		b = append(appendText(b, text, MaxText, escapeCombined), '"')
	}
	return append(b, '\n')
}

// appendAddr leaves out the zone: a client may have said it.
func appendAddr(b []byte, e *Entry) []byte {
	if !e.Client.IsValid() {
		return b
	}
	return e.Client.Unmap().WithZone("").AppendTo(b)
}

func appendJSON(b []byte, key string, text []byte, most int) []byte {
	return appendText(append(b, key...), text, most, escapeJSON)
}

// appendMore writes a field if it has a text.
func appendMore(b []byte, key string, text []byte) []byte {
	if len(text) == 0 {
		return b
	}
	return append(appendJSON(b, key, text, MaxText), '"')
}

func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

// appendSeconds writes a field with a duration to the microsecond, if there is
// one.
func appendSeconds(b []byte, key string, d time.Duration) []byte {
	if d < 0 {
		return b
	}
	micros := int64(d / time.Microsecond)
	return appendMicros(append(appendInt(b, key, micros/1e6), '.'), micros%1e6)
}

// appendMicros writes six digits.
func appendMicros(b []byte, n int64) []byte {
	var digits [6]byte
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = '0' + byte(n%10)
		n /= 10
	}
	return append(b, digits[:]...)
}
