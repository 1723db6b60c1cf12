package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"redoubt/proxy/subst"
)

// rulesFile is a file of rules: JSON with comments and trailing commas.
type rulesFile struct {
	name    string
	text    []byte
	rules   []subst.Rule
	options subst.Options
	places  []map[string]hujson.Value // by rule: where its fields stand
}

// Bounds of a file. The parser is recursive: each level costs stack.
const (
	maxRulesFile  = 16 << 20
	maxRulesDepth = 32
)

// readRules reads a file. Its errors name file, line and column.
func readRules(name string) (*rulesFile, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	defer in.Close()
	f := &rulesFile{name: name}
	if f.text, err = io.ReadAll(io.LimitReader(in, maxRulesFile+1)); err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	if len(f.text) > maxRulesFile {
		return nil, fmt.Errorf("%s: more than %d MB: that is no file of rules", name, maxRulesFile>>20)
	}
	return f, f.parse()
}

func (f *rulesFile) parse() error {
	for at := 0; at < len(f.text); {
		r, n := utf8.DecodeRune(f.text[at:])
		if r == utf8.RuneError && n == 1 {
			return f.bad(at, "byte %#02x is no UTF-8", f.text[at])
		}
		at += n
	}
	if at := tooDeep(f.text, maxRulesDepth); at >= 0 {
		return f.bad(at, "more than %d lists and objects inside each other", maxRulesDepth)
	}
	v, err := hujson.Parse(f.text)
	if err != nil {
		return f.syntaxError(err)
	}
	switch v.Value.(type) {
	case *hujson.Array:
		return f.readList(v)
	case *hujson.Object:
		return f.readBody(v)
	}
	return f.wrong(v, "a list of rules, or a body object")
}

// readBody reads an object as body in the proxy's configuration. What is about
// HTTP is checked for its type only.
func (f *rulesFile) readBody(v hujson.Value) error {
	found := false
	err := f.readObject(v, "a body", []field{
		{"types", func(v hujson.Value) error {
			return f.readElements(v, func(v hujson.Value) error { _, err := f.readString(v); return err })
		}},
		{"match", func(v hujson.Value) error {
			text, err := f.readString(v)
			if err == nil {
				if f.options.Match, err = parseMatch(text); err != nil {
					err = f.bad(v.StartOffset, "match %v", err)
				}
			}
			return err
		}},
		{"hold", func(v hujson.Value) error {
			literal, ok := v.Value.(hujson.Literal)
			if !ok || literal.Kind() != '"' && literal.Kind() != '0' {
				return f.wrong(v, `a size such as "8k"`)
			}
			var err error
			if f.options.Hold, err = parseSize(literal.String()); err != nil {
				err = f.bad(v.StartOffset, "hold %v", err)
			}
			return err
		}},
		{"share", func(v hujson.Value) error {
			literal, ok := v.Value.(hujson.Literal)
			if share := literal.Float(); !ok || literal.Kind() != '0' || share < 0 || share > 100 {
				return f.wrong(v, "a percentage from 0 to 100")
			}
			return nil
		}},
		{"memory", func(v hujson.Value) error {
			if k := v.Value.Kind(); k != 't' && k != 'f' {
				return f.wrong(v, "true or false")
			}
			return nil
		}},
		{"rules", func(v hujson.Value) error { found = true; return f.readList(v) }},
	})
	if err == nil && !found {
		err = f.bad(v.StartOffset, `a body object needs "rules"`)
	}
	return err
}

func (f *rulesFile) readList(v hujson.Value) error {
	return f.readElements(v, f.readRule)
}

func (f *rulesFile) readRule(v hujson.Value) error {
	var r subst.Rule
	places := make(map[string]hujson.Value)
	text := func(name string, to *string) field {
		return field{name, func(v hujson.Value) (err error) {
			places[name] = v
			*to, err = f.readString(v)
			return err
		}}
	}
	if err := f.readObject(v, "a rule", []field{text("find", &r.Find), text("put", &r.Put), text("flags", &r.Flags)}); err != nil {
		return err
	}
	if _, ok := places["find"]; !ok {
		return f.bad(v.StartOffset, `a rule needs "find"`)
	}
	if _, ok := places["put"]; !ok {
		return f.bad(v.StartOffset, `a rule needs "put"; "" removes what was found`)
	}
	f.rules, f.places = append(f.rules, r), append(f.places, places)
	return nil
}

// field is one that an object may have.
type field struct {
	name string
	read func(hujson.Value) error
}

func (f *rulesFile) readObject(v hujson.Value, what string, fields []field) error {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return f.wrong(v, what+", {...}")
	}
	seen := make(map[string]bool)
	for _, m := range object.Members {
		name := m.Name.Value.(hujson.Literal).String()
		i := slices.IndexFunc(fields, func(known field) bool { return known.name == name })
		if i < 0 {
			var names []string
			for _, known := range fields {
				names = append(names, known.name)
			}
			return f.bad(m.Name.StartOffset, "%s has no field %q; there are %s", what, name, strings.Join(names, ", "))
		}
		if seen[name] {
			return f.bad(m.Name.StartOffset, "%q stands twice; leave one out", name)
		}
		seen[name] = true
		if err := fields[i].read(m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (f *rulesFile) readElements(v hujson.Value, read func(hujson.Value) error) error {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return f.wrong(v, "a list, [...]")
	}
	for _, element := range list.Elements {
		if err := read(element); err != nil {
			return err
		}
	}
	return nil
}

func (f *rulesFile) readString(v hujson.Value) (string, error) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return "", f.wrong(v, "a string")
	}
	return literal.String(), nil
}

func parseMatch(text string) (subst.Match, error) {
	switch text {
	case "longest":
		return subst.Longest, nil
	case "first":
		return subst.First, nil
	}
	return 0, fmt.Errorf("%q: it is longest or first", text)
}

// parseSize reads a number of bytes.
func parseSize(text string) (int, error) {
	digits, unit := text, 1
	if n := len(text) - 1; n > 0 {
		switch text[n] {
		case 'k', 'K':
			digits, unit = text[:n], 1<<10
		case 'm', 'M':
			digits, unit = text[:n], 1<<20
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n == 0 || n > uint64(math.MaxInt32/unit) {
		return 0, fmt.Errorf("%q: write bytes, or a size such as 8k or 1m, from 1 to 2047m", text)
	}
	return int(n) * unit, nil
}
