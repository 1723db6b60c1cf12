package subst

import (
	"bufio"
	"compress/bzip2"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// The test data of Go's own regexp: RE2's search tests and exhaustive tests,
// and the POSIX tests of AT&T.

// corpusGroup is one expression and what it finds in some texts.
type corpusGroup struct {
	file  string
	line  int // of the expression
	rule  Rule
	cases []corpusCase

	parsed     bool
	takesBytes bool // takesSingleBytes, once parsed
}

// corpusCase is the leftmost match in a text; {-1, -1} is none.
type corpusCase struct {
	text           string
	first, longest [2]int
	hasFirst       bool // the POSIX tests know only the longest
}

func (g *corpusGroup) String() string {
	return fmt.Sprintf("%s:%d: %#q %s", g.file, g.line, g.rule.Find, g.rule.Flags)
}

// leftOut tells why bytes are not asked for a case's answer, or "".
func (g *corpusGroup) leftOut(c *corpusCase) string {
	if strings.Contains(g.rule.Find, `\C`) {
		return `\C is no syntax of Go`
	}
	if isASCII(c.text) {
		return ""
	}
	if at := c.longest; at[0] >= 0 && at[0] == at[1] && refInside(c.text, at[0]) {
		return "empty and inside of UTF-8, where RE2 sees a \\B"
	}
	if !g.parsed {
		re, err := syntax.Parse(g.rule.Find, syntax.Perl)
		g.parsed, g.takesBytes = true, err == nil && takesSingleBytes(re)
	}
	if g.takesBytes {
		return "takes single bytes beyond ASCII, the answer is in runes"
	}
	return ""
}

// takesSingleBytes tells whether an expression takes any rune beyond ASCII
// somewhere: over bytes it takes any single byte there.
func takesSingleBytes(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCharClass:
		single, _ := inBytes(re.Rune)
		return single.has(0x80)
	}
	return slices.ContainsFunc(re.Sub, takesSingleBytes)
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// corpusPath finds a file of Go's test data; without the sources of Go the test
// is skipped.
func corpusPath(t testing.TB, name string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(strings.TrimSpace(string(root)), "src", "regexp", "testdata", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	return path
}

// re2Groups reads every n-th expression of re2-search.txt or
// re2-exhaustive.txt.bz2, from the given one on.
func re2Groups(t testing.TB, name string, from, n int) iter.Seq[*corpusGroup] {
	t.Helper()
	path := corpusPath(t, name)
	return func(yield func(*corpusGroup) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var in io.Reader = file
		if strings.HasSuffix(name, ".bz2") {
			in = bzip2.NewReader(file)
		}
		var texts []string
		var g *corpusGroup
		inTexts, count := false, 0
		lines := bufio.NewScanner(in)
		for line := 1; lines.Scan(); line++ {
			switch s := lines.Bytes(); {
			case s[0] == '#' || 'A' <= s[0] && s[0] <= 'Z': // a comment, or a test's name
			case string(s) == "strings":
				texts, inTexts = nil, true
			case string(s) == "regexps":
				inTexts = false
			case s[0] == '"' && inTexts:
				texts = append(texts, unquote(t, s))
			case s[0] == '"':
				g = nil
				if count%n == from {
					g = &corpusGroup{file: name, line: line, rule: Rule{Find: unquote(t, s), Flags: "g"}}
				}
				count++
			case g != nil: // full, first, full longest, longest: all that matches, as pairs of first and last
				columns := strings.Split(string(s), ";")
				g.cases = append(g.cases, corpusCase{text: texts[len(g.cases)], hasFirst: true,
					first: wholeSpan(t, columns[1], "-"), longest: wholeSpan(t, columns[3], "-")})
				if len(g.cases) == len(texts) && !yield(g) {
					return
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func unquote(t testing.TB, s []byte) string {
	t.Helper()
	text, err := strconv.Unquote(string(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}

// wholeSpan reads the first of some pairs such as 0-2 1-2.
func wholeSpan(t testing.TB, s, between string) [2]int {
	t.Helper()
	if s == "-" {
		return [2]int{-1, -1}
	}
	s, _, _ = strings.Cut(s, " ")
	lo, hi, _ := strings.Cut(s, between)
	var span [2]int
	var err1, err2 error
	span[0], err1 = strconv.Atoi(lo)
	span[1], err2 = strconv.Atoi(hi)
	if err1 != nil || err2 != nil {
		t.Fatalf("cannot read %q", s)
	}
	return span
}

// posixGroups reads the extended and the literal expressions of a .dat file:
//
//	FLAGS <tabs> EXPRESSION <tabs> TEXT <tabs> (0,2)(1,2)
//
// Groups are not looked at, for POSIX chooses them by rules of its own.
// Expressions that are no syntax of POSIX are left out: they may be of Go.
func posixGroups(t testing.TB, name string) iter.Seq[*corpusGroup] {
	t.Helper()
	path := corpusPath(t, name)
	return func(yield func(*corpusGroup) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		find := ""
		lines := bufio.NewScanner(file)
		for line := 1; lines.Scan(); line++ {
			field := slices.DeleteFunc(strings.Split(lines.Text(), "\t"), func(s string) bool { return s == "" })
			if len(field) < 4 || strings.ContainsAny(field[0][:1], "#CNT0123456789") {
				continue
			}
			flags := strings.TrimLeft(field[0], "?&|;{}")
			if strings.Contains(flags, "$") { // escapes as in C
				field[1], field[2] = unquote(t, []byte(`"`+field[1]+`"`)), unquote(t, []byte(`"`+field[2]+`"`))
			}
			if field[1] != "SAME" {
				find = strings.ReplaceAll(field[1], "NULL", "")
			}
			if !strings.ContainsAny(flags, "EL") || field[3] != "NOMATCH" && field[3][0] != '(' {
				continue
			}
			g := &corpusGroup{file: name, line: line, rule: Rule{Find: find, Flags: "g"}}
			if strings.Contains(flags, "L") {
				g.rule.Flags += "l"
			}
			if strings.Contains(flags, "i") {
				g.rule.Flags += "i"
			}
			c := corpusCase{text: strings.ReplaceAll(field[2], "NULL", ""), longest: [2]int{-1, -1}}
			if whole, _, ok := strings.Cut(field[3], ")"); ok {
				c.longest = wholeSpan(t, whole[1:], ",")
			}
			g.cases = []corpusCase{c}
			if !yield(g) {
				return
			}
		}
	}
}

// corpusTally counts what was compared and what was left out.
type corpusTally struct {
	cases   int
	leftOut map[string]int
}

func (c *corpusTally) log(t testing.TB) {
	t.Logf("%d answers compared", c.cases)
	for _, why := range slices.Sorted(maps.Keys(c.leftOut)) {
		t.Logf("%d left out: %s", c.leftOut[why], why)
	}
	if c.cases == 0 {
		t.Error("nothing was compared")
	}
}

// checkGroup asks find for a group's answers.
func (c *corpusTally) checkGroup(t testing.TB, g *corpusGroup, find func(rule Rule, text string, mode Match) [2]int) {
	t.Helper()
	for i := range g.cases {
		one := &g.cases[i]
		if why := g.leftOut(one); why != "" {
			if c.leftOut == nil {
				c.leftOut = make(map[string]int)
			}
			c.leftOut[why]++
			continue
		}
		c.cases++
		if got := find(g.rule, one.text, Longest); got != one.longest {
			t.Errorf("%v on %q: longest %v, want %v", g, one.text, got, one.longest)
		}
		if !one.hasFirst {
			continue
		}
		c.cases++
		if got := find(g.rule, one.text, First); got != one.first {
			t.Errorf("%v on %q: first %v, want %v", g, one.text, got, one.first)
		}
	}
}

// refCorpusFind asks the reference.
func refCorpusFind(t testing.TB) func(Rule, string, Match) [2]int {
	var last Rule
	var p *program
	return func(rule Rule, text string, mode Match) [2]int {
		if p == nil || rule != last {
			p, _ = mustProgram(t, []Rule{rule})
			last = rule
		}
		if m, ok := refFind(p, text, 0, mode, defaultHold); ok {
			return [2]int{m.start, m.end}
		}
		return [2]int{-1, -1}
	}
}

func TestReferenceOnRE2Search(t *testing.T) {
	var tally corpusTally
	find := refCorpusFind(t)
	for g := range re2Groups(t, "re2-search.txt", 0, 1) {
		tally.checkGroup(t, g, find)
	}
	tally.log(t)
}

func TestReferenceOnRE2Exhaustive(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 59 MB")
	}
	var tally corpusTally
	find := refCorpusFind(t)
	for g := range re2Groups(t, "re2-exhaustive.txt.bz2", 7, 997) {
		tally.checkGroup(t, g, find)
	}
	tally.log(t)
}

func TestReferenceOnPOSIX(t *testing.T) {
	for _, name := range []string{"basic.dat", "nullsubexpr.dat", "repetition.dat"} {
		t.Run(name, func(t *testing.T) {
			var tally corpusTally
			find := refCorpusFind(t)
			for g := range posixGroups(t, name) {
				tally.checkGroup(t, g, find)
			}
			tally.log(t)
		})
	}
}
