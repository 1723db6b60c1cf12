package jsonc

import (
	"bytes"
	"fmt"
	"strings"
)

// Sample is an object with all fields of its table, their defaults or examples,
// and their help as comments. Parse takes it, and does so too when // at the
// beginning of lines is taken away.
func Sample(title string, fields []Field) []byte {
	var s sample
	for line := range strings.Lines(title) {
		s.b.WriteString("// " + line)
	}
	s.b.WriteString("\n{\n")
	s.fields(fields, "", "  ")
	s.b.WriteString("}\n")
	return s.b.Bytes()
}

type sample struct{ b bytes.Buffer }

// helpColumn is where help begins, if there is room.
const helpColumn = 46

// line writes one: the comment mark, if any, the indent, the text, and help.
func (s *sample) line(mark, indent, text, help string) {
	line := mark + indent + text
	if mark != "" { // in the place of blanks, so that columns stay
		line = indent[:2] + mark + indent[2:] + text
	}
	if help != "" {
		line = fmt.Sprintf("%-*s // %s", helpColumn-1, line, help)
	}
	s.b.WriteString(line + "\n")
}

func (s *sample) fields(fields []Field, mark, indent string) {
	for _, f := range fields {
		name := fmt.Sprintf("%q: ", f.Name)
		if f.Inner == nil {
			text := f.Example
			if text == "" {
				text = f.Default
			}
			s.line(mark, indent, name+text+",", f.Help)
			continue
		}
		inner := mark
		if f.Hide {
			inner = "//"
		}
		if f.Shape == One {
			s.line(inner, indent, name+"{", f.Help)
			s.fields(f.Inner(), inner, indent+"  ")
			s.line(inner, indent, "},", "")
			continue
		}
		opens, closes, first := "[", "],", "{"
		if f.Shape == Named {
			opens, closes, first = "{", "},", fmt.Sprintf("%q: {", f.Example)
		}
		s.line(mark, indent, name+opens, f.Help)
		s.line(inner, indent+"  ", first, "")
		s.fields(f.Inner(), inner, indent+"    ")
		s.line(inner, indent+"  ", "},", "")
		s.line(mark, indent, closes, "")
	}
}
