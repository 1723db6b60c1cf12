package jsonc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// Kind is what a value is, by the byte that it begins with: n f t " 0 { or [.
func (v Value) Kind() byte { return byte(v.json.Value.Kind()) }

// Wrong is the error of a value that is something else than what is wanted.
func (v Value) Wrong(want string) error {
	got := map[byte]string{'{': "an object", '[': "a list", '"': "a string", 'n': "null"}[v.Kind()]
	if got == "" {
		got = fmt.Sprintf("%.40s", v.json.Value.(hujson.Literal))
	}
	return v.Errorf("want %s, got %s", want, got)
}

// Text reads a string.
func (v Value) Text() (string, error) {
	if v.Kind() != '"' {
		return "", v.Wrong("a string")
	}
	return v.json.Value.(hujson.Literal).String(), nil
}

// Bool reads true or false.
func (v Value) Bool() (bool, error) {
	if k := v.Kind(); k != 't' && k != 'f' {
		return false, v.Wrong("true or false")
	}
	return v.Kind() == 't', nil
}

// Int reads a whole number between two.
func (v Value) Int(least, most int64) (int64, error) {
	if v.Kind() == '0' {
		n, err := strconv.ParseInt(string(v.json.Value.(hujson.Literal)), 10, 64)
		if err == nil && n >= least && n <= most {
			return n, nil
		}
	}
	return 0, v.Wrong(fmt.Sprintf("a whole number from %d to %d", least, most))
}

// Float reads a number between two; what is the words for those.
func (v Value) Float(least, most float64, what string) (float64, error) {
	if v.Kind() == '0' {
		x, err := strconv.ParseFloat(string(v.json.Value.(hujson.Literal)), 64)
		if err == nil && x >= least && x <= most {
			return x, nil
		}
	}
	return 0, v.Wrong(what)
}

// Duration reads a time such as "10s", between two.
func (v Value) Duration(least, most time.Duration) (time.Duration, error) {
	const want = `a duration such as "10s", "500ms" or "1h"`
	text, err := v.Text()
	if err != nil {
		return 0, v.Wrong(want)
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, v.Errorf("want %s, got %.40q", want, text)
	case d < least || d > most:
		return 0, v.Errorf("want a duration from %s to %s, got %.40q", short(least), short(most), text)
	}
	return d, nil
}

// short is a duration without the minutes and seconds that are none.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Size reads a number of bytes between two, written as a number or such as "8k".
// Errors begin with what.
func (v Value) Size(what string, least, most int64) (int64, error) {
	if k := v.Kind(); k != '"' && k != '0' {
		return 0, v.Wrong(`a size such as "8k"`)
	}
	n, err := ParseSize(v.json.Value.(hujson.Literal).String(), least, most)
	if err != nil {
		return 0, v.Errorf("%s %v", what, err)
	}
	return n, nil
}

const sizeUnits = "kmg" // each 1,024 times the one before

// ParseSize reads a number of bytes between two, alone or with k, m or g.
func ParseSize(text string, least, most int64) (int64, error) {
	digits, shift := text, 0
	if n := len(text) - 1; n > 0 {
		if unit := strings.IndexByte(sizeUnits, text[n]|0x20); unit >= 0 {
			digits, shift = text[:n], 10*(unit+1)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > uint64(math.MaxInt64)>>shift || int64(n<<shift) < least || int64(n<<shift) > most {
		return 0, fmt.Errorf("%.40q: write bytes, or a size such as 8k or 1m, from %s to %s", text, sizeText(least), sizeText(most))
	}
	return int64(n << shift), nil
}

// sizeText is a size in the largest unit that gives a whole number.
func sizeText(n int64) string {
	unit := ""
	for i := 0; i < len(sizeUnits) && n >= 1<<10 && n%(1<<10) == 0; i++ {
		n >>= 10
		unit = sizeUnits[i : i+1]
	}
	return fmt.Sprint(n, unit)
}

// Elements reads each value of a list.
func (v Value) Elements(read func(i int, v Value) error) error {
	list, ok := v.json.Value.(*hujson.Array)
	if !ok {
		return v.Wrong("a list, [...]")
	}
	for i, element := range list.Elements {
		if err := read(i, Value{v.file, element}); err != nil {
			return err
		}
	}
	return nil
}

// Members reads an object as pairs of a name and a value. Names are at places
// of their own; none stands twice. what is the object in words.
func (v Value) Members(what string, read func(name string, at, v Value) error) error {
	object, ok := v.json.Value.(*hujson.Object)
	if !ok {
		return v.Wrong(what + ", {...}")
	}
	seen := make(map[string]bool, len(object.Members))
	for _, m := range object.Members {
		at := Value{v.file, m.Name}
		name := m.Name.Value.(hujson.Literal).String()
		if seen[name] {
			return at.Errorf("%.40q stands twice; leave one out", name)
		}
		seen[name] = true
		if err := read(name, at, Value{v.file, m.Value}); err != nil {
			return err
		}
	}
	return nil
}
