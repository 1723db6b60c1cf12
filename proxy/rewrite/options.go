package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"redoubt/netloop/http1"
)

// Options are the rules as they are written.
type Options struct {
	Remove  []string // names of fields
	Set     []Field  // instead of all fields of that name
	Add     []Field  // besides those
	Headers []Rule   // on the values of fields
	URL     []Rule   // on the target's path and query; requests only
}

// Field is a field to be set or added. Its value may use variables.
type Field struct{ Name, Value string }

// Rule replaces what an expression matches. Rules on the target have no name.
type Rule struct {
	Name  string // of the fields
	Find  string // what is looked for
	Put   string // what is put in its place
	Flags string // letters in any order: g replaces every match, not only the first, i ignores case, l takes Find as literal text
}

// Side is whose head the rules are for.
type Side uint8

// The sides.
const (
	Request Side = iota
	Response
)

// Error says what is wrong with one text of Options.
type Error struct {
	Part   string // "remove", "set", "add", "headers" or "url"
	Index  int    // in that list, from 0
	Key    string // "name", "value", "find", "put" or "flags"
	Offset int    // in bytes, in that text; -1 if unknown
	Reason string // with the way out
}

// Error counts from 1.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s %d: %s: %s", e.Part, e.Index+1, e.Key, e.Reason)
	}
	return fmt.Sprintf("%s %d: %s, at byte %d: %s", e.Part, e.Index+1, e.Key, e.Offset, e.Reason)
}

// Compile understands rules. Its errors are *Error, the first one of the first
// list in the order of Options.
//
// No rule may name Connection, Keep-Alive, Proxy-Connection, TE, Trailer,
// Transfer-Encoding, Content-Length, Upgrade or Expect: whoever writes the
// message decides about them.
func Compile(o Options, side Side) (*Rules, error) {
	c := compiler{side: side, rules: new(Rules)}
	if err := c.all(&o); err != nil {
		return nil, err
	}
	c.rules.index()
	return c.rules, nil
}

type compiler struct {
	side  Side
	rules *Rules
}

func (c *compiler) all(o *Options) error {
	for i, name := range o.Remove {
		f, bad := c.field(name)
		if bad == nil && f.host {
			bad = &Error{Key: "name", Offset: -1, Reason: "a request needs its Host; set it to another value instead"}
		}
		if bad != nil {
			return bad.at("remove", i)
		}
		f.gone = true
	}
	for i := range o.Set {
		if bad := c.set(o.Set[:i], &o.Set[i]); bad != nil {
			return bad.at("set", i)
		}
	}
	for i := range o.Add {
		f, bad := c.field(o.Add[i].Name)
		if bad == nil && f.host {
			bad = &Error{Key: "name", Offset: -1, Reason: "a request has one Host; set it instead"}
		}
		if bad == nil {
			bad = c.line(f, &o.Add[i])
		}
		if bad != nil {
			return bad.at("add", i)
		}
	}
	for i := range o.Headers {
		f, bad := c.field(o.Headers[i].Name)
		if bad != nil {
			return bad.at("headers", i)
		}
		r, bad := parseRule(&o.Headers[i], inValue)
		if bad != nil {
			return bad.at("headers", i)
		}
		f.rules = append(f.rules, r)
	}
	for i := range o.URL {
		r, bad := c.url(&o.URL[i])
		if bad != nil {
			return bad.at("url", i)
		}
		c.rules.url = append(c.rules.url, r)
	}
	return nil
}

func (e *Error) at(part string, i int) *Error {
	e.Part, e.Index = part, i
	return e
}

// set takes in a field to be set; before are those that came before it.
func (c *compiler) set(before []Field, to *Field) *Error {
	f, bad := c.field(to.Name)
	if bad != nil {
		return bad
	}
	if slices.ContainsFunc(before, func(b Field) bool { return strings.EqualFold(b.Name, to.Name) }) {
		return &Error{Key: "name", Offset: -1, Reason: fmt.Sprintf("%s is set twice; leave one out, or add it", to.Name)}
	}
	f.gone = true
	return c.line(f, to)
}

// line takes in a line to be added.
func (c *compiler) line(f *field, from *Field) *Error {
	value, bad := parseText(from.Value, grammar{legal: inValue, groups: noGroups})
	if bad != nil {
		bad.Key = "value"
		return bad
	}
	l := line{name: from.Name, value: value, host: f.host}
	if text, constant := value.constant(); constant {
		if f.host && !isHost(text) {
			return &Error{Key: "value", Offset: -1, Reason: fmt.Sprintf("%.80q is no host; write a name or an address, and a port if it needs one", text)}
		}
		l.text = fmt.Appendf(nil, "%s: %s\r\n", from.Name, text)
	}
	c.rules.lines = append(c.rules.lines, l)
	return nil
}

func (c *compiler) url(from *Rule) (rule, *Error) {
	switch {
	case c.side == Response:
		return rule{}, &Error{Key: "find", Offset: -1, Reason: "an answer has no target; move the rule to the request"}
	case from.Name != "":
		return rule{}, &Error{Key: "name", Offset: 0, Reason: "a rule on the target names no field; leave it out, or move the rule to headers"}
	}
	return parseRule(from, inTarget)
}

// field is what is known about the fields of a name, so far.
func (c *compiler) field(name string) (*field, *Error) {
	if name == "" {
		return nil, &Error{Key: "name", Offset: -1, Reason: "the name of a field is missing"}
	}
	for i := range len(name) {
		if !http1.IsToken(name[i : i+1]) {
			return nil, &Error{Key: "name", Offset: i,
				Reason: fmt.Sprintf("%q cannot be in the name of a field; letters, digits and any of !#$%%&'*+-.^_`|~ can", name[i:i+1])}
		}
	}
	k := http1.KnownField(name)
	switch k {
	case http1.Connection, http1.KeepAlive, http1.ProxyConnection, http1.TE, http1.Trailer, http1.TransferEncoding, http1.ContentLength,
		http1.Upgrade, http1.Expect:
		return nil, &Error{Key: "name", Offset: 0,
			Reason: fmt.Sprintf("%v frames the body or belongs to the connection, and the proxy takes care of it; leave the rule out", k)}
	}
	f := c.rules.field(strings.ToLower(name))
	f.host = k == http1.Host && c.side == Request
	return f, nil
}

// inValue and inTarget are what http1 takes in values and in targets.
func inValue(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }

func inTarget(c byte) bool { return c > ' ' && c < 0x7f && c != '#' }

func isHost(b []byte) bool {
	host, _, ok := http1.SplitAuthority(b)
	return ok && len(host) > 0
}
