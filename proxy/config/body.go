package config

import (
	"errors"
	"slices"

	"redoubt/internal/jsonc"
	"redoubt/proxy/body"
	"redoubt/proxy/rewrite"
	"redoubt/proxy/subst"
)

const maxHold = 64 << 20

// What holds where no level says anything. Of requests, types are those that forms
// and programs send.
var (
	answerTypes  = []string{"text/html"}
	requestTypes = []string{"text/*", "application/json", "application/x-www-form-urlencoded"}
)

// bodyReading is a body object as it is read. nil stands for what the next outer
// level has.
type bodyReading struct {
	types  []string
	match  *subst.Match
	hold   *int
	share  *float64
	memory *bool
	pass   *bool
	rules  []subst.Rule
	places []map[string]jsonc.Value // by rule: its fields as they stand in the file
}

// readBody reads the body object of a request or response.
func readBody(to **bodyReading) read {
	return func(v jsonc.Value) error {
		b := new(bodyReading)
		*to = b
		return v.Fields(`"body"`, b.fields(nil))
	}
}

// bodyField is it in a table.
func bodyField(to **bodyReading, types []string) jsonc.Field {
	return jsonc.Field{Name: "body", Help: "replace in bodies, as they pass", Hide: true, Read: readBody(to),
		Inner: func() []jsonc.Field { return new(bodyReading).fields(types) }}
}

// outerBody is that of the top level, which goes before the one in response.
func outerBody(to **bodyReading) jsonc.Field {
	f := bodyField(to, answerTypes)
	f.Help = `for all answers, before what "response" says of them`
	return f
}

// fields is the table of a body object. types are shown as its default.
func (b *bodyReading) fields(types []string) []jsonc.Field {
	return []jsonc.Field{
		{Name: "types", Example: quote(types), Help: `of those looked at; "*/*": any`, Read: func(v jsonc.Value) error {
			b.types = []string{}
			return each(func(text string, v jsonc.Value) error {
				if err := body.ParseType(text); err != nil {
					return v.Errorf("%v", err)
				}
				b.types = append(b.types, text)
				return nil
			})(v)
		}},
		{Name: "match", Example: `"longest"`, Help: "of matches at one place: longest, or first in the order of rules", Read: func(v jsonc.Value) error {
			var text string
			b.match = new(subst.Match)
			if err := oneOf(&text, "longest", "first")(v); err != nil {
				return err
			}
			if text == "first" {
				*b.match = subst.First
			}
			return nil
		}},
		{Name: "hold", Example: `"8k"`, Help: "the longest match; so much may have to be held back", Read: func(v jsonc.Value) error {
			hold, err := v.Size("hold", 1, maxHold)
			n := int(hold)
			b.hold = &n
			return err
		}},
		{Name: "share", Example: `100`, Help: "percentage of clients whose bodies are changed, always the same ones", Read: func(v jsonc.Value) (err error) {
			b.share = new(float64)
			*b.share, err = v.Float(0, 100, "a percentage from 0 to 100")
			return err
		}},
		{Name: "memory", Example: `true`, Help: "remember which rules match in a file, and leave out the others next time", Read: func(v jsonc.Value) error {
			b.memory = new(bool)
			return boolean(b.memory)(v)
		}},
		{Name: "codings", Example: `"decode"`, Help: "those in an unknown coding: decode answers 502, pass lets them through", Read: func(v jsonc.Value) error {
			var text string
			b.pass = new(bool)
			err := oneOf(&text, "decode", "pass")(v)
			*b.pass = text == "pass"
			return err
		}},
		{Name: "rules", Help: "in one pass over the body", Shape: jsonc.List, Hide: true,
			Inner: func() []jsonc.Field { return bodyRule(new(subst.Rule)) },
			Read:  func(v jsonc.Value) error { return v.Elements(b.readRule) }},
	}
}

// bodyRule is the table of a rule, with an example.
func bodyRule(to *subst.Rule) []jsonc.Field {
	fields := rule(&rewrite.Rule{}, `(https?:)?//(www\.)?origin\.example`, "$1//shop.example")
	for i, to := range []*string{&to.Find, &to.Put, &to.Flags} {
		fields[i].Read = text(to)
	}
	fields[1].Help = "$1 $& $$"
	return fields
}

func (b *bodyReading) readRule(_ int, v jsonc.Value) error {
	var r subst.Rule
	table, places := bodyRule(&r), make(map[string]jsonc.Value)
	noting(table, places)
	err := v.Fields("a rule", table)
	b.rules, b.places = append(b.rules, r), append(b.places, places)
	return err
}

// joinLevels is what holds for a route, from the outermost level to its own, any of
// which may be nil. It is nil if there are no rules.
func (r *reader) joinLevels(name string, types []string, levels ...*bodyReading) (*body.Options, error) {
	o := &body.Options{Name: name, Types: types, Share: 100, Memory: true}
	var places []map[string]jsonc.Value
	for _, b := range levels {
		if b == nil {
			continue
		}
		if b.types != nil {
			o.Types = b.types
		}
		set(&o.Match, b.match)
		set(&o.Hold, b.hold)
		set(&o.Share, b.share)
		set(&o.Memory, b.memory)
		set(&o.Pass, b.pass)
		o.Rules, places = slices.Concat(o.Rules, b.rules), slices.Concat(places, b.places)
	}
	if len(o.Rules) == 0 {
		return nil, nil
	}
	err := subst.Check(o.Rules)
	if bad, ok := errors.AsType[*subst.RuleError](err); ok {
		return nil, places[min(bad.Rule, len(places)-1)][bad.Part].ErrorfAt(bad.Offset, "%s", bad.Reason)
	}
	r.bodyRules = append(r.bodyRules, placedRules{o, places})
	return o, err
}

// placedRules are the rules of one route, one way, and where they stand.
type placedRules struct {
	*body.Options
	places []map[string]jsonc.Value
}

// mostChecked is of how many sets of rules all is found out: it takes milliseconds each.
const mostChecked = 64

// warnOfBodies tells of rules that cannot match, or are slow.
func (r *reader) warnOfBodies(note func(place jsonc.Value, format string, args ...any)) {
	told := make(map[string]bool)
	for _, rules := range r.bodyRules[:min(len(r.bodyRules), mostChecked)] {
		set, err := subst.Compile(rules.Rules, subst.Options{Match: rules.Match, Hold: rules.Hold})
		if err != nil {
			continue // Check, which has passed them, would have said so
		}
		for i, info := range set.Info().Rules {
			for _, text := range info.Warnings {
				place := rules.places[i]["find"]
				if message := place.Errorf("%s", text).Error(); !told[message] { // routes share outer rules
					told[message] = true
					note(place, "rule: %s", text)
				}
			}
		}
	}
}

// set is for what a level says.
func set[T any](to, said *T) {
	if said != nil {
		*to = *said
	}
}
