package subst

import (
	"strings"
	"testing"
)

func TestLengthOfFoldedLiteral(t *testing.T) {
	p, rules := mustProgram(t, []Rule{{Find: "ẞ", Flags: "il"}}) // ß has two bytes
	if r := p.info(rules, 100).Rules[0]; r.Min != 2 || r.Max != 3 {
		t.Errorf("%d to %d bytes, want 2 to 3", r.Min, r.Max)
	}
}

func TestInfo(t *testing.T) {
	tests := []struct {
		find     string
		min, max int
		warnings []string // a word of each
	}{
		{"abc", 3, 3, nil},
		{"", 0, 0, nil},
		{"a|bcd", 1, 3, nil},
		{"a*", 0, -1, nil},
		{"ba*", 1, -1, nil},
		{"a+b?", 1, -1, nil},
		{"(ab){2,3}", 4, 6, nil},
		{"a{3,}", 3, -1, nil},
		{"a{0}", 0, 0, nil},
		{"a{0,5}", 0, 5, nil},
		{`(?:\b|^)*$`, 0, 0, nil},
		{"☃", 3, 3, nil},
		{"[é☃]", 2, 3, nil},
		{"[a☃]", 1, 3, nil},
		{".[^a]", 2, 2, nil},
		{"(?i)ⱥ", 2, 3, nil}, // its capital has two bytes
		{"(?i)k", 1, 1, nil},
		{`[[:^ascii:]]`, 1, 1, nil},
		{`\p{Cs}`, -1, -1, []string{"can never match"}},
		{`a\p{Cs}`, -1, -1, []string{"can never match"}},
		{`a|\p{Cs}`, 1, 1, nil},
		{`a\p{Cs}*`, 1, 1, nil},
		{"a{101}", 101, 101, []string{"never matches: the shortest match has 101 bytes, the hold limit is 100"}},
		{"a{100}", 100, 100, nil},
		{"ba{0,150}", 1, 151, []string{"more than 100 bytes (up to 151"}},
		{`[a-z].{1,1000}@@`, 4, 1003, []string{"more than 100", "any byte up to 1000 times"}},
		{`[a-z](?:x.){50}(?:.{10}){5,20}`, 151, 301, []string{"never matches", "up to 200 times"}},
		{`href="[^"]{1,1000}"`, 8, 1007, []string{"more than 100"}},
		{`[a-z]x{1,90}`, 2, 91, nil},
		{`[A-Za-z0-9._%+-]+@example\.com`, 13, -1, nil},
		{`.*foo`, 3, -1, nil},
		{`.*`, 0, -1, nil},
		{`\d+`, 1, -1, nil},
		{`^\s*`, 0, -1, nil},
		{`(^).*foo.{0,500}`, 3, -1, nil},
		{`(?m)^.*foo`, 3, -1, nil},
	}
	for _, test := range tests {
		p, rules := mustProgram(t, []Rule{{Find: test.find}})
		info := p.info(rules, 100)
		r := info.Rules[0]
		if r.Min != test.min || r.Max != test.max || r.Empty != (test.min == 0) {
			t.Errorf("%s: %d to %d bytes, empty %v; want %d to %d", test.find, r.Min, r.Max, r.Empty, test.min, test.max)
		}
		fits := len(r.Warnings) == len(test.warnings)
		for i := 0; fits && i < len(r.Warnings); i++ {
			fits = strings.Contains(r.Warnings[i], test.warnings[i])
		}
		if !fits {
			t.Errorf("%s: warnings %q, want %q", test.find, r.Warnings, test.warnings)
		}
		if info.Nodes != len(p.nodes) || info.Classes != len(p.classes) {
			t.Errorf("%s: %+v", test.find, info)
		}
	}
}

// What rules are looked for by. A rule is alone in its set.
func TestSigns(t *testing.T) {
	tests := []struct {
		find    string
		class   Class
		signs   string // joined by a space
		warning string // a word of it
	}{
		{"qux", Prefix, "[q][u][x]", ""},
		{"(?i)qux", Prefix, "[Qq][Uu][Xx]", ""},
		{"a quip", Prefix, "[q][u][i][p]", ""},
		{"quick|jumps|zigzag", Prefix, "", ""},
		{`(https?:)?//(www\.)?origin\.example`, Prefix, "", ""},
		{`[A-Za-z0-9._%+-]+@example\.com`, Inner, "[@][e][x][a]", ""},
		{"[a-z]+ing", Inner, "[a-z][i][n][g]", ""},
		{"[a-z]{2}ing", Prefix, "[a-z][i][n][g]", ""},
		{`(\w+)="zz`, Inner, "", ""},
		{".*foo", Inner, "", ""},
		{"a.{0,30}zq", Prefix, "", ""},
		{"a.{0,40}zq", Inner, "", ""},
		{"☃", Prefix, `[\xe2][\x98][\x83]`, ""},
		{"[☃★]x", Prefix, `[\xe2][\x98][\x83\x85][x]`, ""},
		{"[é☃]zq", Prefix, "", ""},
		{`\bqux\b`, Prefix, "[q][u][x]", ""},
		{"(?m)^qux$", Prefix, "[q][u][x]", ""},
		{`\d+`, Prefix, "[0-9]", "comes about once in"},
		{"[a-z]", Prefix, "[a-z]", "comes about once in"},
		{"x*", Walked, "", "no bytes are in each"},
		{"qux|", Walked, "", "no bytes are in each"},
		{"", Walked, "", "no bytes are in each"},
		{".*", Walked, "", "no bytes are in each"},
		{`\p{Cs}`, Prefix, "[]", "can never match"},
		{`[^\x00-\x{10FFFF}]`, Prefix, "[]", "can never match"},
	}
	for _, test := range tests {
		set, err := Compile([]Rule{{test.find, "", "g"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		info := set.Info()
		r := info.Rules[0]
		if signs := strings.Join(r.Signs, " "); r.Class != test.class || test.signs != "" && signs != test.signs {
			t.Errorf("%s: %v by %s, want %v by %s", test.find, r.Class, signs, test.class, test.signs)
		}
		if warnings := strings.Join(r.Warnings, "\n"); !strings.Contains(warnings, test.warning) || test.warning == "" && warnings != "" {
			t.Errorf("%s: warnings %q, want %q", test.find, warnings, test.warning)
		}
		if skips := test.class != Walked && !strings.Contains(test.warning, "once"); info.Skips != skips {
			t.Errorf("%s: skips %v, want %v", test.find, info.Skips, skips)
		}
	}
}

// One rule that cannot be looked for is enough.
func TestOneRuleKeepsASetFromSkipping(t *testing.T) {
	rules := []Rule{{"qux", "", "g"}, {"x*", "", "g"}}
	for n, skips := range []bool{false, true, false} {
		set, err := Compile(rules[:n], Options{})
		if err != nil {
			t.Fatal(err)
		}
		if set.Info().Skips != skips {
			t.Errorf("%d rules: skips %v", n, !skips)
		}
	}
}
