package nginxconf

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Result is what became of a configuration.
type Result struct {
	Text  []byte // a configuration of the proxy, JSON with comments
	Notes []Note // what is missing from it, or done otherwise

	Rules int // of bodies, that there were
	Left  int // of these, how many could not be carried over everywhere
}

// Translate reads a configuration of nginx, with what it includes. Errors in it are
// *SyntaxError.
func Translate(file string) (*Result, error) {
	t := newTranslator(filepath.Dir(file))
	list, err := t.files.read(file, 0)
	if err != nil {
		return nil, err
	}
	return t.result(file, list)
}

// Parse is Translate for a text; name is what errors call it.
func Parse(name, text string) (*Result, error) {
	t := newTranslator(filepath.Dir(name))
	list, err := t.files.parse(name, text, 0)
	if err != nil {
		return nil, err
	}
	return t.result(name, list)
}

// translator holds what is known while a plan is made.
type translator struct {
	files    files
	notes    notes
	http     *level
	base     constants           // of http
	rules    map[*directive]bool // of bodies: whether one was left out somewhere
	met      map[*directive]bool // locations and servers that became routes
	left     map[*directive]string
	handled  map[*directive]bool
	harmless map[string]int // directives that make no difference, how many there are

	piece     bool // the file is what stands in a server
	rulesOnly bool // no proxy_pass was found: rules alone are carried over
	servers   []*server
	upstreams []*upstream
	plan      plan
}

func newTranslator(folder string) *translator {
	t := &translator{
		notes: notes{met: make(map[string]bool), said: make(map[string]*directive)}, rules: make(map[*directive]bool), met: make(map[*directive]bool),
		left: make(map[*directive]string), handled: make(map[*directive]bool), harmless: make(map[string]int),
	}
	t.files = files{main: folder, note: func(d *directive, text string) { t.notes.add(d, "%s", text) }}
	return t
}

// result makes the plan, and says what is not in it.
func (t *translator) result(name string, list []*directive) (*Result, error) {
	t.http, t.piece = newHTTP(list)
	t.base = ofHTTP(t.http)
	t.readUpstreams()
	t.readServers()
	if !slices.ContainsFunc(t.servers, func(s *server) bool { return len(s.locations) > 0 }) {
		t.rulesOnly = true
		t.readServers()
	}
	if !slices.ContainsFunc(t.servers, func(s *server) bool { return len(s.locations) > 0 }) {
		return nil, nothing(name, list)
	}
	t.listen()
	t.makeRoutes()
	if len(t.plan.routes) == 0 {
		return nil, t.nowhere(name)
	}
	t.limits()
	t.tellLeft()
	t.walk(list)
	r := &Result{Notes: t.notes.sorted(), Rules: len(t.rules)}
	for _, left := range t.rules {
		if left {
			r.Left++
		}
	}
	if len(t.harmless) > 0 {
		r.Notes = append(r.Notes, Note{Text: summary(t.harmless)})
	}
	r.Text = t.write(name, r.Notes)
	return r, nil
}

// nothing is why there is no result.
func nothing(name string, list []*directive) error {
	if len(list) == 0 {
		return &SyntaxError{name, 1, 1, "there is no directive in it: is it a configuration of nginx?"}
	}
	return &SyntaxError{list[0].file, list[0].line, 1, "neither a location with proxy_pass nor a rule for bodies (sub_filter, subs_filter, replace_filter): there is nothing that a proxy could do"}
}

// nowhere is the error of a configuration none of whose locations could be carried over.
func (t *translator) nowhere(name string) error {
	var reasons []error
	for _, n := range t.notes.sorted() {
		reasons = append(reasons, errors.New(n.String()))
	}
	return fmt.Errorf("%s: no location can be carried over:\n%w", name, errors.Join(reasons...))
}
