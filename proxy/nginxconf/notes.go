package nginxconf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Note says what of a directive could not be carried over, or what is otherwise
// here, and what can be done.
type Note struct {
	File      string
	Line      int
	Directive string
	Text      string

	order int
}

func (n Note) String() string {
	if n.Line == 0 {
		return n.Text
	}
	return fmt.Sprintf("%s:%d: %s: %s", n.File, n.Line, n.Directive, n.Text)
}

// notes collects them. A directive of an outer level is met in each level inside,
// but told once.
type notes struct {
	list []Note
	met  map[string]bool
	said map[string]*directive // by text, those of once: the first in the files
}

func (n *notes) add(d *directive, format string, args ...any) {
	note := Note{File: d.file, Line: d.line, Directive: d.String(), Text: fmt.Sprintf(format, args...), order: d.order}
	if key := fmt.Sprint(d.order, note.Text); !n.met[key] {
		n.met[key] = true
		n.list = append(n.list, note)
	}
}

// once is for what need not be told of every directive, but of the first.
func (n *notes) once(d *directive, text string) {
	if first := n.said[text]; first == nil || d.order < first.order {
		n.said[text] = d
	}
}

// sorted is all of them, in the order of the files.
func (n *notes) sorted() []Note {
	for text, d := range n.said {
		n.add(d, "%s", text)
	}
	slices.SortStableFunc(n.list, func(a, b Note) int {
		return cmp.Or(a.order-b.order, strings.Compare(a.Text, b.Text))
	})
	return n.list
}

// summary names directives that make no difference here.
func summary(harmless map[string]int) string {
	var names []string
	for name, count := range harmless {
		if count > 1 {
			name = fmt.Sprintf("%s (%d)", name, count)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return "no difference here: " + strings.Join(names, ", ")
}
