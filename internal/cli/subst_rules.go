package cli

import (
	"fmt"

	"redoubt/internal/jsonc"
	"redoubt/proxy/subst"
)

// rulesFile is a file of rules: JSON with comments and trailing commas.
type rulesFile struct {
	rules   []subst.Rule
	options subst.Options
	places  []map[string]jsonc.Value // by rule: its fields as they stand in the file
}

// readRules reads a file. Its errors name file, line and column.
func readRules(name string) (*rulesFile, error) {
	text, err := jsonc.Read(name)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	f := new(rulesFile)
	return f, f.parse(name, text)
}

func (f *rulesFile) parse(name string, text []byte) error {
	v, err := jsonc.Parse(name, text)
	if err != nil {
		return err
	}
	switch v.Kind() {
	case '[':
		return v.Elements(f.readRule)
	case '{':
		return f.readBody(v)
	}
	return v.Wrong("a list of rules, or a body object")
}

// readBody reads an object as body in the proxy's configuration. What is about
// HTTP is checked for its type only.
func (f *rulesFile) readBody(v jsonc.Value) error {
	found := false
	err := v.Fields("a body", []jsonc.Field{
		{Name: "types", Read: func(v jsonc.Value) error {
			return v.Elements(func(_ int, v jsonc.Value) error { _, err := v.Text(); return err })
		}},
		{Name: "match", Read: func(v jsonc.Value) error {
			text, err := v.Text()
			if err == nil {
				if f.options.Match, err = parseMatch(text); err != nil {
					err = v.Errorf("match %v", err)
				}
			}
			return err
		}},
		{Name: "hold", Read: func(v jsonc.Value) error {
			hold, err := v.Size("hold", 1, maxSize)
			f.options.Hold = int(hold)
			return err
		}},
		{Name: "share", Read: func(v jsonc.Value) error {
			_, err := v.Float(0, 100, "a percentage from 0 to 100")
			return err
		}},
		{Name: "memory", Read: func(v jsonc.Value) error { _, err := v.Bool(); return err }},
		{Name: "codings", Read: func(v jsonc.Value) error { _, err := v.Text(); return err }},
		{Name: "rules", Read: func(v jsonc.Value) error { found = true; return v.Elements(f.readRule) }},
	})
	if err == nil && !found {
		err = v.Errorf(`a body object needs "rules"`)
	}
	return err
}

func (f *rulesFile) readRule(_ int, v jsonc.Value) error {
	var r subst.Rule
	places := make(map[string]jsonc.Value)
	text := func(to *string) func(jsonc.Value) error {
		return func(v jsonc.Value) (err error) {
			*to, err = v.Text()
			return err
		}
	}
	fields := []jsonc.Field{
		{Name: "find", Read: text(&r.Find), Need: true},
		{Name: "put", Read: text(&r.Put), Need: true, Hint: `; "" removes what was found`},
		{Name: "flags", Read: text(&r.Flags)},
	}
	for i := range fields {
		read := fields[i].Read
		fields[i].Read = func(v jsonc.Value) error {
			places[fields[i].Name] = v
			return read(v)
		}
	}
	if err := v.Fields("a rule", fields); err != nil {
		return err
	}
	f.rules, f.places = append(f.rules, r), append(f.places, places)
	return nil
}

// ruleError finds the place of a rule's error in the file.
func (f *rulesFile) ruleError(e *subst.RuleError) error {
	return f.places[e.Rule][e.Part].ErrorfAt(e.Offset, "rule %d, %s: %s", e.Rule+1, e.Part, e.Reason)
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

// maxSize is the most that a size may be, so that it fits in an int anywhere.
const maxSize = 2047 << 20

// parseSize reads a number of bytes.
func parseSize(text string) (int, error) {
	n, err := jsonc.ParseSize(text, 1, maxSize)
	return int(n), err
}
