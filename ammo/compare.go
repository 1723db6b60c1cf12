package ammo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsoniter "github.com/json-iterator/go"
)

// numbersAsText keeps every digit: a float64 would make 2.571430000000000001
// equal to 2.57143.
var numbersAsText = jsoniter.Config{UseNumber: true}.Froze()

// CompareJSON compares two JSON texts by value and returns "" if they are
// equal, or else the first difference with its place, such as
// `$.visits[2].mark: got 3, want 4`.
//
// Numbers compare by exact value (4.0 equals 4, and 1e2 equals 100), objects
// without regard to the order of their keys but with no key missing or extra,
// lists in order. A repeated key, bytes after the value, bad UTF-8 and lone
// surrogates are differences, also where both texts have them.
func CompareJSON(got, want []byte) string {
	g, why := parseJSON(got)
	if why != "" {
		return "got " + why
	}
	w, why := parseJSON(want)
	if why != "" {
		return "want " + why
	}
	return differ("$", g, w)
}

// checkJSON returns "" if text is one JSON value that CompareJSON would take,
// or else what is wrong with it.
func checkJSON(text []byte) string {
	_, why := parseJSON(text)
	return why
}

// parseJSON builds maps, slices, strings, json.Numbers, bools and nil.
func parseJSON(text []byte) (value any, why string) {
	// json-iterator is built for speed on good input: it takes control
	// characters in strings, malformed numbers and more. The standard
	// library's validator holds to the letter of RFC 8259, but for UTF-8.
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, "no JSON at all"
	case !json.Valid(text):
		return nil, "malformed JSON: " + whyInvalid(text)
	case !utf8.Valid(text):
		return nil, "JSON with bad UTF-8"
	case loneSurrogate(text):
		return nil, "JSON with a lone surrogate"
	}
	iter := jsoniter.ParseBytes(numbersAsText, text)
	value, why = readValue(iter, "$")
	if why == "" && iter.Error != nil {
		// The end of the text is io.EOF only for a bare number, which is fine.
		if _, number := value.(json.Number); !number {
			why = "unreadable JSON: " + iter.Error.Error()
		}
	}
	return value, why
}

func whyInvalid(text []byte) string {
	var ignored any
	if err := json.Unmarshal(text, &ignored); err != nil {
		return err.Error()
	}
	return "unknown reason"
}

// readValue reads the next value; path is its place, for the reason why not.
func readValue(iter *jsoniter.Iterator, path string) (value any, why string) {
	switch iter.WhatIsNext() {
	case jsoniter.ObjectValue:
		object := make(map[string]any)
		iter.ReadMapCB(func(iter *jsoniter.Iterator, key string) bool {
			if _, twice := object[key]; twice {
				why = fmt.Sprintf("the key %q twice in %s", key, path)
				return false
			}
			object[key], why = readValue(iter, path+"."+key)
			return why == ""
		})
		return object, why
	case jsoniter.ArrayValue:
		list := []any{}
		iter.ReadArrayCB(func(iter *jsoniter.Iterator) bool {
			var item any
			item, why = readValue(iter, fmt.Sprintf("%s[%d]", path, len(list)))
			list = append(list, item)
			return why == ""
		})
		return list, why
	case jsoniter.StringValue:
		return iter.ReadString(), ""
	case jsoniter.NumberValue:
		return iter.ReadNumber(), ""
	case jsoniter.BoolValue:
		return iter.ReadBool(), ""
	case jsoniter.NilValue:
		iter.ReadNil()
		return nil, ""
	default:
		return nil, "unreadable JSON at " + path
	}
}

// differ returns the first difference between two parsed values, or "".
func differ(path string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, has := g[key]
			if !has {
				return fmt.Sprintf("%s: the key %q is missing", path, key)
			}
			if d := differ(path+"."+key, value, w[key]); d != "" {
				return d
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, has := w[key]; !has {
				return fmt.Sprintf("%s: the key %q is too much", path, key)
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range min(len(g), len(w)) {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), g[i], w[i]); d != "" {
				return d
			}
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s: got %d items, want %d", path, len(g), len(w))
		}
		return ""
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(string(g), string(w)) {
			return ""
		}
	default: // string, bool, nil
		if got == want {
			return ""
		}
	}
	return fmt.Sprintf("%s: got %s, want %s", path, brief(got), brief(want))
}

// brief shows a value in a difference.
func brief(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return strconv.Quote(cut(v, 120))
	case nil:
		return "null"
	default:
		return cut(fmt.Sprint(v), 120)
	}
}

// sameNumber compares two JSON numbers by exact value. It never builds the
// number: 1e999999999 costs no more than 1.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	signA, digitsA, expA, okA := normalize(a)
	signB, digitsB, expB, okB := normalize(b)
	return okA && okB && signA == signB && digitsA == digitsB && expA == expB
}

// normalize writes a JSON number as sign, digits without zeros at either end,
// and the power of ten the last digit stands for. Zero has no digits and no
// sign. It fails on exponents beyond any use.
func normalize(number string) (negative bool, digits string, exponent int64, ok bool) {
	number, negative = strings.CutPrefix(number, "-")
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		n, err := strconv.ParseInt(number[e+1:], 10, 62)
		if err != nil {
			return false, "", 0, false
		}
		number, exponent = number[:e], n
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += int64(len(digits)-len(trimmed)) - int64(len(fraction))
	if trimmed == "" {
		return false, "", 0, true
	}
	return negative, trimmed, exponent, true
}
