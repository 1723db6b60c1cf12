package subst

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProgram(t *testing.T) {
	tests := []struct {
		why   string
		rules []Rule
		want  string
	}{
		{"one rule begins at once", []Rule{{Find: "ab"}}, `
			0* [a] -> 1
			1  [b] -> 2
			2  match 0`},
		{"rules are tried in order", []Rule{{Find: "a"}, {Find: "b"}, {Find: "c"}}, `
			0  [a] -> 1
			1  match 0
			2  [b] -> 3
			3  match 1
			4  [c] -> 5
			5  match 2
			6  -> 2, 4
			7* -> 0, 6`},
		{"no rules, no match", nil, `
			0* fail`},
		{"groups that are not put are not noted", []Rule{{Find: "(a)(b)", Put: "$2"}}, `
			0* [a] -> 1
			1  slot 4 -> 2
			2  [b] -> 3
			3  slot 5 -> 4
			4  match 0`},
		{"the whole match needs no slots", []Rule{{Find: "(a)", Put: "$&"}}, `
			0* [a] -> 1
			1  match 0`},
		{"loops prefer as their operator says", []Rule{{Find: "a*b+?"}}, `
			0* -> 1, 2
			1  [a] -> 0
			2  [b] -> 3
			3  -> 4, 2
			4  match 0`},
		{"case of ASCII only", []Rule{{Find: "k", Flags: "i"}}, `
			0* [Kk] -> 1
			1  match 0`},
		{"any byte beyond ASCII", []Rule{{Find: ".[^a]"}}, `
			0* [\x00-\x09\x0b-\xff] -> 1
			1  [\x00-` + "`" + `b-\xff] -> 2
			2  match 0`},
		{"all but surrogates is all", []Rule{{Find: `\P{Cs}`}}, `
			0* [\x00-\xff] -> 1
			1  match 0`},
		{"surrogates are nothing", []Rule{{Find: `\p{Cs}`}}, `
			0* fail
			1  match 0`},
		{"UTF-8", []Rule{{Find: "☃"}}, `
			0* [\xe2] -> 3
			1  match 0
			2  [\x83] -> 1
			3  [\x98] -> 2`},
		{"ends of sequences are shared", []Rule{{Find: "[é☃☄a]"}}, `
			0* -> 7, 8
			1  match 0
			2  [\xa9] -> 1
			3  [\x83-\x84] -> 1
			4  [\x98] -> 3
			5  [\xc3] -> 2
			6  [\xe2] -> 4
			7  [a] -> 1
			8  -> 5, 6`},
	}
	for _, test := range tests {
		p, _ := mustProgram(t, test.rules)
		var got strings.Builder
		for line := range strings.Lines(p.String()) {
			got.WriteString("\n\t\t\t" + strings.TrimSpace(line))
		}
		if got.String() != test.want {
			t.Errorf("%s: %q:%s\nwant%s", test.why, test.rules, got.String(), test.want)
		}
	}
}

// Every rune is taken or not as the library says, in its UTF-8 and no other form.
func TestRunesInBytes(t *testing.T) {
	classes := []string{`é`, `[é☃😀]`, `[a-\x{10FFFE}]`, `[\x{80}-\x{D7FF}]`, `[^\x00-\x{7FF}]`, `[\x{7FF}-\x{800}\x{FFFF}-\x{10000}]`,
		`[\x{D000}-\x{E100}]`, `[\x{1041}-\x{3FFF}\x{4001}]`, `\p{Greek}`, `(?i:ω)`, `(?i:ß)`, `\pL`, `\pN`, `\x{FFFD}`, `[\x{3F}-\x{1234}]`}
	every := rune(1)
	if testing.Short() {
		every = 7
	}
	for _, class := range classes {
		p, parsed := mustProgram(t, []Rule{{Find: class}})
		prog, err := syntax.Compile(parsed[0].find)
		if err != nil {
			t.Fatal(err)
		}
		inst := &prog.Inst[prog.Start]
		for r := rune(0); r <= utf8.MaxRune; r += every {
			want := inst.MatchRune(r)
			text := string(r)
			if firstSurrogate <= r && r <= lastSurrogate {
				want = false
				text = string([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6&0x3F), 0x80 | byte(r&0x3F)})
			}
			if takes(p, p.start, text) != want {
				t.Fatalf("%s takes %U: %v, want %v\n%v", class, r, !want, want, p)
			}
		}
		for _, bad := range []string{"\xff", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x98"} {
			if takes(p, p.start, bad) {
				t.Errorf("%s takes %q", class, bad)
			}
		}
	}
}

// takes tells whether the automaton takes exactly a text.
func takes(p *program, at int32, text string) bool {
	switch n := &p.nodes[at]; n.op {
	case opSplit:
		return takes(p, n.out, text) || takes(p, n.alt, text)
	case opBytes:
		return text != "" && p.sets[n.arg].has(text[0]) && takes(p, n.out, text[1:])
	case opMatch:
		return text == ""
	}
	return false
}

func TestProgramLimit(t *testing.T) {
	many := make([]Rule, 300)
	for i := range many {
		many[i] = Rule{Find: "[a-z].{1,1000}@"}
	}
	tests := []struct {
		why   string
		rules []Rule
		rule  int // which is turned down; -1 none
	}{
		{"a thousand letters of any script", []Rule{{Find: `a`}, {Find: `\pL{1000}`}}, 1},
		{"many counts side by side", []Rule{{Find: strings.Repeat(`(?:a|bc){1000}`, 200)}}, 0},
		{"long literals", []Rule{{Find: strings.Repeat("a", maxNodes-1)}, {Find: "b"}}, 1},
		{"many rules with counts", many, 99},
		{"many large classes in one state each", []Rule{{Find: strings.Repeat(`a\pL|b\pL|`, 2500)}}, 0},
		{"empty things, counted", []Rule{{Find: strings.Repeat(`(?:){1000}`, 100)}}, -1},
		{"groups nobody names", []Rule{{Find: `((((((((((a)))))))))){1000}`}}, -1},
		{"a long literal", []Rule{{Find: strings.Repeat("a", maxNodes-1)}}, -1},
	}
	for _, test := range tests {
		parsed, err := parseRules(test.rules)
		if err != nil {
			t.Fatal(test.why, err)
		}
		_, err = newProgram(parsed)
		e, ok := errors.AsType[*RuleError](err)
		switch {
		case test.rule < 0 && err != nil:
			t.Errorf("%s: %v", test.why, err)
		case test.rule >= 0 && (!ok || e.Rule != test.rule || !strings.Contains(e.Reason, fmt.Sprint(maxNodes))):
			t.Errorf("%s: %v, want rule %d turned down", test.why, err, test.rule)
		}
	}
}

// What is turned down for its size before it is compiled would be too large
// after.
func TestSize(t *testing.T) {
	for find, want := range map[string]int{"abc": 3, "(a|bc){10}": 30, "(?:ab){2,5}": 10, "(?:ab){3,}": 6, "(?:ab){0,}": 2, "a{0}": 0, "[ab].(?s:.)": 3, `^\b$`: 0} {
		p, rules := mustProgram(t, []Rule{{Find: find}})
		if got := size(rules[0].find); got != want || got > len(p.nodes) {
			t.Errorf("%s: %d, want %d, and at most the %d nodes it has", find, got, want, len(p.nodes))
		}
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		find := randomExpr(rnd, asciiAtoms, 1+rnd.IntN(9))
		p, rules := mustProgram(t, []Rule{{Find: find}})
		if got := size(rules[0].find); got > len(p.nodes) {
			t.Errorf("%s: %d, but it has %d nodes", find, got, len(p.nodes))
		}
	}
}

func TestClasses(t *testing.T) {
	tests := []struct {
		find string
		want []string // some bytes of each class
	}{
		{"", []string{"a\x00\xff"}},
		{"a", []string{"a", "b\x00\xff"}},
		{"[ab]", []string{"ab", "c"}},
		{"[ab]|[bc]d", []string{"a", "b", "c", "d", "e"}},
		{`a\b`, []string{"a", "b0_Z", " \n\xe9"}},
		{`a\B`, []string{"a", "b0_Z", " \n\xe9"}},
		{"a(?m:$)", []string{"a", "\n", "b\r"}},
		{"(?m:^)a", []string{"a", "\n", "b\r"}},
		{`a\z^`, []string{"a", "b\n"}},
		{"(?i)é", []string{"\xc3", "\xa9\x89", "a\xff"}},
		{"[^a]", []string{"a", "b\xff"}},
	}
	for _, test := range tests {
		p, _ := mustProgram(t, []Rule{{Find: test.find}})
		if len(p.classes) != len(test.want) {
			t.Errorf("%s: %d classes, want %d", test.find, len(p.classes), len(test.want))
		}
		seen := make(map[uint8]bool)
		for _, alike := range test.want {
			class := p.classOf[alike[0]]
			if seen[class] {
				t.Errorf("%s: %q is in a class with others", test.find, alike)
			}
			seen[class] = true
			for _, c := range []byte(alike) {
				if p.classOf[c] != class {
					t.Errorf("%s: %q and %q are in different classes", test.find, alike[0], c)
				}
			}
		}
	}
}

// What a class promises: its bytes are alike to all sets, and its one is in it.
func TestClassesOfManySets(t *testing.T) {
	var rules []Rule
	for c := range 250 {
		rules = append(rules, Rule{Find: fmt.Sprintf(`[\x{%x}-\x{%x}]`, c/2, c)})
	}
	for _, more := range []string{`\pL`, "a", `\w+\b`} {
		rules = append(rules, Rule{Find: more})
		p, _ := mustProgram(t, rules)
		for class, one := range p.classes {
			if int(p.classOf[one]) != class {
				t.Errorf("class %d is said to hold %q", class, one)
			}
		}
		for i := range p.sets {
			for c := range 256 {
				if p.sets[i].has(byte(c)) != p.sets[i].has(p.classes[p.classOf[c]]) {
					t.Fatalf("set %v tells %#x from its class", p.sets[i], byte(c))
				}
			}
		}
	}
}
