package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A form is how others want a set of rules.
//
//	json         a list, as redoubt has it, a rule a line
//	removing     the same with nothing put in
//	sub_filter   directives of nginx's own module, which knows literals only and
//	             ignores case always
//	subs_filter  directives of nginx_substitutions_filter
func inForm(form string, rules []rule) (string, error) {
	lines := make([]string, len(rules))
	for i, r := range rules {
		var err error
		switch form {
		case "json", "removing":
			if form == "removing" {
				r.put = ""
			}
			lines[i], err = r.json()
		case "sub_filter":
			lines[i], err = r.subFilter()
		case "subs_filter":
			lines[i], err = r.subsFilter()
		default:
			err = fmt.Errorf("--form %s: there are json, removing, sub_filter and subs_filter", form)
		}
		if err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(form, "sub") {
		return strings.Join(lines, "\n") + "\n", nil
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n", nil
}

func (r rule) json() (string, error) {
	flags := "g"
	if r.ignoreCase {
		flags += "i"
	}
	if r.literal {
		flags += "l"
	}
	var line strings.Builder
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Find  string `json:"find"`
		Put   string `json:"put"`
		Flags string `json:"flags"`
	}{r.find, r.put, flags})
	return strings.TrimSuffix(line.String(), "\n"), err
}

func (r rule) subFilter() (string, error) {
	if !r.literal || strings.Contains(r.put, "$") {
		return "", fmt.Errorf("sub_filter knows literals only, not %s", r.find)
	}
	return fmt.Sprintf("sub_filter %s %s;", quoted(r.find), quoted(r.put)), nil
}

// subsFilter writes $1 as the rule has it: it means the same there.
func (r rule) subsFilter() (string, error) {
	if strings.Contains(r.put, "$$") || strings.Contains(r.put, "$&") {
		return "", fmt.Errorf("subs_filter has groups only, not %s", r.put)
	}
	flags := "g"
	if r.ignoreCase {
		flags += "i"
	}
	if !r.literal {
		flags += "r"
	}
	return fmt.Sprintf("subs_filter %s %s %s;", quoted(r.find), quoted(r.put), flags), nil
}

// quoted writes a word of nginx's configuration.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
