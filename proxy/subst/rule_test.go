package subst

import (
	"errors"
	"strings"
	"testing"
)

func TestRuleErrors(t *testing.T) {
	tests := []struct {
		rule   Rule
		part   string
		offset int
		says   string
	}{
		{Rule{"a", "", "gg"}, "flags", 1, "twice"},
		{Rule{"a", "", "gx"}, "flags", 1, "unknown flag 'x'"},
		{Rule{"a", "", "é"}, "flags", 0, "unknown flag 'é'"},
		{Rule{"a", "", "\xff"}, "flags", 0, "unknown flag"},

		{Rule{`a)b`, "", ""}, "find", 1, "unexpected )"},
		{Rule{`a[(]b(c(d)`, "", ""}, "find", 5, "missing closing )"},
		{Rule{`(a`, "", ""}, "find", 0, "missing closing )"},
		{Rule{`x[a][b`, "", ""}, "find", 4, "missing closing ]"},
		{Rule{`*a`, "", ""}, "find", 0, "missing argument"},
		{Rule{`a*|*`, "", ""}, "find", 3, "missing argument"},
		{Rule{`a**`, "", ""}, "find", 1, "nested repetition"},
		{Rule{`(a)\1`, "", ""}, "find", 3, "back references"},
		{Rule{`a(?=b)`, "", ""}, "find", 1, "look-around"},
		{Rule{`a(?<!b)`, "", ""}, "find", 1, "look-around"},
		{Rule{`\(a\`, "", ""}, "find", 3, "trailing backslash"},
		{Rule{`a{1001}`, "", ""}, "find", 1, "1000"},
		{Rule{`(a{100}){100}`, "", ""}, "find", 8, "1000"},
		{Rule{`[b-a]`, "", ""}, "find", 1, "range"},
		{Rule{`(?P<n>a)(?P<x y>b)`, "", ""}, "find", 8, "named"},
		{Rule{`\p{Nope}`, "", ""}, "find", 0, "Nope"},
		{Rule{"é\xffa", "", ""}, "find", 2, "UTF-8"},
		{Rule{"a\ufffd\xff", "", "l"}, "find", 4, "UTF-8"},
		{Rule{strings.Repeat("(", 1001) + strings.Repeat(")", 1001), "", ""}, "find", -1, "several rules"},
		{Rule{strings.Repeat("a", 5000) + "(", "", ""}, "find", -1, "missing closing )"}, // too long to search

		{Rule{"a", "5$", ""}, "put", 1, "$$"},
		{Rule{"a", "$x", ""}, "put", 0, "$$"},
		{Rule{"a", "$1", ""}, "put", 0, "no groups; write $$"},
		{Rule{"(a)", "b$10", ""}, "put", 1, "groups 1 to 1"},
		{Rule{"(a)", "${2}", ""}, "put", 0, "$$"},
		{Rule{"(a)", "${1", ""}, "put", 0, "$$"},
		{Rule{"(a)", "${", ""}, "put", 0, "$$"},
		{Rule{"(a)", "${name}", ""}, "put", 0, "$$"},
		{Rule{"(a)", "$99999999999999999999", ""}, "put", 0, "$$"},
		{Rule{"(a)", "$1", "l"}, "put", 0, "literal"},
		{Rule{"a", "$-1", ""}, "put", 0, "$$"},
	}
	for _, test := range tests {
		_, err := parseRules([]Rule{{Find: "fine"}, test.rule})
		e, ok := errors.AsType[*RuleError](err)
		if !ok {
			t.Errorf("%q: %v, want a *RuleError", test.rule, err)
			continue
		}
		if e.Rule != 1 || e.Part != test.part || e.Offset != test.offset || !strings.Contains(e.Reason, test.says) {
			t.Errorf("%q: %+v, want %s, offset %d, %q", test.rule, e, test.part, test.offset, test.says)
		}
		t.Log(err)
	}
	if _, err := parseRules(make([]Rule, maxRules+1)); err == nil || !strings.Contains(err.Error(), "10000 rules") {
		t.Errorf("too many rules: %v", err)
	}
}

func TestRuleErrorCountsFromOne(t *testing.T) {
	err := &RuleError{Rule: 2, Part: "put", Offset: 4, Reason: "why"}
	if got, want := err.Error(), "rule 3: put, at byte 4: why"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFlags(t *testing.T) {
	tests := []struct {
		rule Rule
		text string
		want string
	}{
		{Rule{"a.", "x", ""}, "ab ab", "x ab"},
		{Rule{"a.", "x", "g"}, "ab ab", "x x"},
		{Rule{"a.", "x", "l"}, "ab a. a.", "ab x a."},
		{Rule{"A.", "x", "gil"}, "ab a. A.", "ab x x"},
		{Rule{"A.", "x", "ig"}, "ab a. A.", "x x x"},
		{Rule{"a$1", "$$1", "l"}, "a$1", "$1"},
		{Rule{"(a)", "$&$0", "l"}, "(a)", "(a)(a)"},
		{Rule{"É", "x", "gil"}, "éÉ", "xx"},
		{Rule{"\u212a", "x", "gil"}, "kK\u212a", "xxx"}, // the sign itself asks for all three
		{Rule{"", "-", "gl"}, "ab", "-a-b-"},
	}
	for _, test := range tests {
		if got := refReplace(t, []Rule{test.rule}, test.text, Options{}); got != test.want {
			t.Errorf("%q on %q: %q, want %q", test.rule, test.text, got, test.want)
		}
	}
}

func TestParseReplace(t *testing.T) {
	tests := []struct {
		text string
		want Rule
		err  string
	}{
		{"s/a/b/", Rule{"a", "b", ""}, ""},
		{"s/a/b/gi", Rule{"a", "b", "gi"}, ""},
		{"s///", Rule{}, ""},
		{"s|/a/|/b/|g", Rule{"/a/", "/b/", "g"}, ""},
		{"s☃a☃b☃", Rule{"a", "b", ""}, ""},
		{"s a b g", Rule{"a", "b", "g"}, ""},
		{`s/a\/b/c\/d/`, Rule{"a/b", "c/d", ""}, ""},
		{`s/\d+\./\n/`, Rule{`\d+\.`, `\n`, ""}, ""},
		{`s/a\\/b/`, Rule{`a\\`, "b", ""}, ""},      // the second backslash is not before the delimiter's escape
		{`s/a\\\/b/c/`, Rule{`a\\/b`, "c", ""}, ""}, // a backslash, then a delimiter
		{`s|a\|b|c|`, Rule{"a|b", "c", ""}, ""},     // its own meaning in the expression is back
		{"s/\xff\\\xfe/\xfd/", Rule{"\xff\\\xfe", "\xfd", ""}, ""},
		{"s/a\nb/c/", Rule{"a\nb", "c", ""}, ""},
		{"s/a/b/x", Rule{"a", "b", "x"}, ""}, // Compile knows flags

		{"", Rule{}, "begin with s"},
		{"y/a/b/", Rule{}, "begin with s"},
		{"s", Rule{}, "ends after s"},
		{"sxaxbx", Rule{}, "delimiter"},
		{`s\a\b\`, Rule{}, "delimiter"},
		{"s\na\nb\n", Rule{}, "delimiter"},
		{"s\xffa\xffb\xff", Rule{}, "delimiter"},
		{"s/a", Rule{}, "only one '/'"},
		{"s/a/b", Rule{}, "only two '/'"},
		{`s/a/b\/`, Rule{}, "only two '/'"},
		{`s/a/b\`, Rule{}, "only two '/'"},
		{"s/a/b/c/g", Rule{}, `write \/`},
	}
	for _, test := range tests {
		got, err := ParseReplace(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: %v, want an error with %q", test.text, err, test.err)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%q: %q %v, want %q", test.text, got, err, test.want)
		}
	}
}

func TestPut(t *testing.T) {
	const find = "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)"
	tests := []struct{ put, want string }{
		{"", ""},
		{"x", "x"},
		{"$1", "a"},
		{"$11", "k"}, // the longest run of digits
		{"${1}1", "a1"},
		{"$01", "a"},
		{"$1$2-$3", "ab-c"},
		{"$$1", "$1"},
		{"$$$1$$", "$a$"},
		{"$&", "abcdefghijk"},
		{"$0", "abcdefghijk"},
		{"<${00}>", "<abcdefghijk>"},
		{"{1} & \\1", "{1} & \\1"}, // nothing but $ is special
		{"\xff$1\x00", "\xffa\x00"},
	}
	for _, test := range tests {
		if got := refReplace(t, []Rule{{find, test.put, ""}}, "abcdefghijk", Options{}); got != test.want {
			t.Errorf("%q: %q, want %q", test.put, got, test.want)
		}
		p, _ := parseRules([]Rule{{find, test.put, ""}})
		if got, want := p[0].put.usesGroups, strings.ContainsAny(test.want, "ak") && len(test.want) < 11; got != want {
			t.Errorf("%q: usesGroups %v, want %v", test.put, got, want)
		}
	}
}
