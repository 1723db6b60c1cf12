package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"redoubt/proxy/subst"
)

// rulesFile is read by hyperscan.c as well.
//
//go:embed rules.tsv
var rulesFile string

// rule is a rule of the file. All of them have flag g.
type rule struct {
	find, put           string
	literal, ignoreCase bool
}

// rulesOf reads a set of the file.
func rulesOf(set string) ([]rule, error) {
	var rules []rule
	for n, line := range strings.Split(rulesFile, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) == 3 {
			fields = append(fields, "")
		}
		if len(fields) != 4 || !strings.Contains(fields[1], "g") || strings.Trim(fields[1], "gil") != "" {
			return nil, fmt.Errorf("rules.tsv, line %d: SETS, FLAGS (g, i, l), FIND and maybe PUT should be here, with a tab between", n+1)
		}
		if strings.Contains(","+fields[0]+",", ","+set+",") {
			rules = append(rules, rule{fields[2], fields[3], strings.Contains(fields[1], "l"), strings.Contains(fields[1], "i")})
		}
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("no set %s in rules.tsv", set)
	}
	return rules, nil
}

// ours is the rule in the words of proxy/subst.
func (r rule) ours(put string) subst.Rule {
	flags := "g"
	if r.ignoreCase {
		flags += "i"
	}
	if r.literal {
		flags += "l"
	}
	return subst.Rule{Find: r.find, Put: put, Flags: flags}
}

// expression is the rule in the words of package regexp.
func (r rule) expression() string {
	find := r.find
	if r.literal {
		find = regexp.QuoteMeta(find)
	}
	if r.ignoreCase {
		return "(?i:" + find + ")"
	}
	return "(?:" + find + ")"
}
