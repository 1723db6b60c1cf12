package jsonc

import (
	"fmt"
	"slices"
	"strings"
)

// Field is one that an object may have: a line of its table.
type Field struct {
	Name    string
	Help    string // a line
	Default string // JSON that is read where the field is left out; "": nothing is
	Need    bool   // it cannot be left out
	Hint    string // what the error says behind its name where it is missing
	Read    func(v Value) error

	// What Sample shows: Example, or else Default; or the table of the object
	// that the field is, or of the objects that are in it.
	Example string
	Inner   func() []Field
	Shape   Shape
	Hide    bool // as a comment: the object, or what is in it
}

// Shape is how an inner table lies in its field.
type Shape uint8

const (
	One   Shape = iota // {...}
	List               // [{...}]
	Named              // {"name": {...}}, where Example is the name
)

// Fields reads an object by its table. what is the object in words: "a rule".
// Fields that are there are read in their order in the file, then come the
// defaults of the others in the table's.
func (v Value) Fields(what string, fields []Field) error {
	there := make([]bool, len(fields))
	err := v.Members(what, func(name string, at, v Value) error {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return at.Errorf("%s has no field %.40q; %s", what, name, Choose(name, names(fields)))
		}
		there[i] = true
		return fields[i].Read(v)
	})
	if err != nil {
		return err
	}
	for i, f := range fields {
		switch {
		case there[i]:
		case f.Need:
			return v.Errorf("%s needs %q%s", what, f.Name, f.Hint)
		case f.Default != "":
			d, err := Parse("default of "+f.Name, []byte(f.Default))
			if err == nil {
				err = f.Read(d)
			}
			if err != nil {
				panic(fmt.Sprintf("jsonc: the table is wrong: %v", err)) // no input can cause this
			}
		}
	}
	return nil
}

func names(fields []Field) []string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return all
}

// Choose tells whoever wrote name which names there are, and which one was
// likely meant.
func Choose(name string, known []string) string {
	const most = 20 // of thousands
	text := "there are none"
	if len(known) > 0 {
		text = "there are " + strings.Join(known[:min(len(known), most)], ", ")
	}
	if len(known) > most {
		text += fmt.Sprintf(" and %d more", len(known)-most)
	}
	best, least := "", 3 // two slips at most
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	if best != "" {
		text += fmt.Sprintf("; did you mean %q?", best)
	}
	return text
}

// distance is how many bytes must be put in, left out or replaced to make b of
// a; much more than that where lengths alone tell that it is not small.
func distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1) // distances of a[:i] to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0] // of a[:i] and b[:j]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				next = min(next, corner)
			} else {
				next = min(next, corner+1)
			}
			corner, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
