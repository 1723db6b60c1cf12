package schedule

import (
	"fmt"
	"strings"
)

// A shape is one of the words a plan is made of, with its arguments.
type shape struct {
	name    string
	args    []arg
	example string
}

// arg names an argument and tells how it is read and written.
type arg struct {
	name string
	kind kind
}

type kind int

const (
	aRate kind = iota
	aDuration
	aCount
)

// The shapes there are. Nothing changes them.
var (
	constShape = &shape{"const", []arg{{"RATE", aRate}, {"DURATION", aDuration}}, "const(100,30s)"}
	lineShape  = &shape{"line", []arg{{"FROM", aRate}, {"TO", aRate}, {"DURATION", aDuration}}, "line(1,600,20s)"}
	stepShape  = &shape{"step", []arg{{"FROM", aRate}, {"TO", aRate}, {"INCREMENT", aRate}, {"DURATION", aDuration}}, "step(10,100,10,5s)"}
	pauseShape = &shape{"pause", []arg{{"DURATION", aDuration}}, "pause(5s)"}
	floodShape = &shape{"flood", []arg{{"CONNECTIONS", aCount}, {"DURATION", aDuration}}, "flood(64,30s)"}

	shapes = [...]*shape{constShape, lineShape, stepShape, pauseShape, floodShape}
)

// params are the names of a shape's arguments.
func (s *shape) params(separator string) string {
	names := make([]string, len(s.args))
	for i, a := range s.args {
		names[i] = a.name
	}
	return strings.Join(names, separator)
}

// usage says how a shape is written.
func (s *shape) usage() string {
	return fmt.Sprintf("%s takes %s, such as %s", s.name, s.params(", "), s.example)
}
