package cli

import (
	"errors"
	"fmt"

	"redoubt/proxy/subst"
)

// replaces are the values of --replace.
type replaces []string

// rules reads them, and checks them.
func (r replaces) rules() ([]subst.Rule, error) {
	var rules []subst.Rule
	for _, text := range r {
		rule, err := subst.ParseReplace(text)
		if err != nil {
			return nil, fmt.Errorf("--replace %w", err)
		}
		rules = append(rules, rule)
	}
	err := subst.Check(rules)
	if bad, ok := errors.AsType[*subst.RuleError](err); ok {
		err = r.wrong(bad)
	}
	return rules, err
}

// wrong says what is wrong with one.
func (r replaces) wrong(e *subst.RuleError) error {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf(", at byte %d", e.Offset)
	}
	return fmt.Errorf("--replace %q: %s%s: %s", r[e.Rule], e.Part, at, e.Reason)
}
