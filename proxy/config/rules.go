package config

import (
	"errors"
	"strconv"

	"redoubt/internal/jsonc"
	"redoubt/proxy/rewrite"
)

// rules are a request or a response object as it is read: the rules, and where
// their texts stand.
type rules struct {
	rewrite.Options
	body   *bodyReading                        // nil: nothing is said of bodies
	places map[string][]map[string]jsonc.Value // by part, index and key, as errors of rewrite name them
}

func (r *rules) readRules(v jsonc.Value, what string, fields []jsonc.Field, side rewrite.Side, to **rewrite.Rules, bodies **bodyReading) error {
	r.places = make(map[string][]map[string]jsonc.Value)
	if err := v.Fields(what, fields); err != nil {
		return err
	}
	*bodies = r.body
	if len(r.places) == 0 {
		return nil
	}
	compiled, err := rewrite.Compile(r.Options, side)
	if bad, ok := errors.AsType[*rewrite.Error](err); ok {
		return r.places[bad.Part][bad.Index][bad.Key].ErrorfAt(bad.Offset, "%s", bad.Reason)
	}
	*to = compiled
	return err
}

func (r *reader) readRequest(to **rewrite.Rules, bodies **bodyReading) read {
	return func(v jsonc.Value) error {
		var own rules
		return own.readRules(v, `"request"`, own.requestFields(), rewrite.Request, to, bodies)
	}
}

func (r *reader) readResponse(to **rewrite.Rules, bodies **bodyReading) read {
	return func(v jsonc.Value) error {
		var own rules
		return own.readRules(v, `"response"`, own.responseFields(), rewrite.Response, to, bodies)
	}
}

// requestFields is the table of a request object.
func (r *rules) requestFields() []jsonc.Field {
	target := func(to *rewrite.Rule) []jsonc.Field { return rule(to, "^/old/(.*)", "/new/$1") }
	return append(r.headFields(),
		bodyField(&r.body, requestTypes),
		jsonc.Field{Name: "url", Default: `[]`, Help: "on path and query, in order", Shape: jsonc.List, Hide: true,
			Inner: func() []jsonc.Field { return target(new(rewrite.Rule)) }, Read: r.list("url", &r.URL, target)})
}

// responseFields is the table of a response object.
func (r *rules) responseFields() []jsonc.Field {
	return append(r.headFields(), bodyField(&r.body, answerTypes))
}

// headFields are those that both have.
func (r *rules) headFields() []jsonc.Field {
	named := func(to *rewrite.Rule) []jsonc.Field {
		name := jsonc.Field{Name: "name", Need: true, Example: `"Location"`, Help: "of the fields", Read: text(&to.Name)}
		return append([]jsonc.Field{name}, rule(to, `//origin\.example`, "//shop.example")...)
	}
	return []jsonc.Field{
		{Name: "remove", Default: `[]`, Help: "names of fields", Read: r.readRemove},
		{Name: "set", Default: `{}`, Help: `instead of all of that name: {"X-Real-IP": "$client"}`, Read: r.pairs("set", &r.Set)},
		{Name: "add", Default: `{}`, Help: `besides those there are: {"X-Served-By": "redoubt"}`, Read: r.pairs("add", &r.Add)},
		{Name: "headers", Default: `[]`, Help: "replace in the values of fields, in order", Shape: jsonc.List, Hide: true,
			Inner: func() []jsonc.Field { return named(new(rewrite.Rule)) }, Read: r.list("headers", &r.Headers, named)},
	}
}

// rule is the table of a rule, with an example.
func rule(to *rewrite.Rule, find, put string) []jsonc.Field {
	return []jsonc.Field{
		{Name: "find", Need: true, Example: quote(find), Help: "an expression of Go's syntax", Read: text(&to.Find)},
		{Name: "put", Need: true, Hint: `; "" removes what was found`, Example: quote(put), Help: "$1 $& $$ $client $host $path $request_id $upstream", Read: text(&to.Put)},
		{Name: "flags", Default: `""`, Help: "g every match, i ignore case, l literal text", Read: text(&to.Flags)},
	}
}

// note keeps the places of one element of a part.
func (r *rules) note(part string, places map[string]jsonc.Value) {
	r.places[part] = append(r.places[part], places)
}

func (r *rules) readRemove(v jsonc.Value) error {
	return each(func(name string, v jsonc.Value) error {
		r.Remove = append(r.Remove, name)
		r.note("remove", map[string]jsonc.Value{"name": v})
		return nil
	})(v)
}

// pairs reads fields to be set or added.
func (r *rules) pairs(part string, to *[]rewrite.Field) read {
	return func(v jsonc.Value) error {
		return v.Members(strconv.Quote(part), func(name string, at, v jsonc.Value) error {
			value, err := v.Text()
			*to = append(*to, rewrite.Field{Name: name, Value: value})
			r.note(part, map[string]jsonc.Value{"name": at, "value": v})
			return err
		})
	}
}

// list reads rules.
func (r *rules) list(part string, to *[]rewrite.Rule, fields func(*rewrite.Rule) []jsonc.Field) read {
	return func(v jsonc.Value) error {
		return v.Elements(func(_ int, v jsonc.Value) error {
			var rule rewrite.Rule
			table, places := fields(&rule), make(map[string]jsonc.Value)
			noting(table, places)
			err := v.Fields("a rule", table)
			*to = append(*to, rule)
			r.note(part, places)
			return err
		})
	}
}

// noting has the places of values noted as they are read.
func noting(table []jsonc.Field, places map[string]jsonc.Value) {
	for i := range table {
		name, inner := table[i].Name, table[i].Read
		table[i].Read = func(v jsonc.Value) error {
			places[name] = v
			return inner(v)
		}
	}
}
