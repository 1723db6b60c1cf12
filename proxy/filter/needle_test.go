package filter

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNeedle(t *testing.T) {
	test := func(expression string, want ...string) {
		t.Helper()
		n := needleOf(regexp.MustCompile(expression))
		var got []string
		if n != nil {
			got = n.texts
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", expression, diff)
		}
	}
	test("(?i)badbot", "badbot")
	test("BadBot", "badbot")
	test("^curl/[0-9]+", "curl/")
	test("(?i)badbot|(evil|wicked).{2,5}(spider)+", "badbot", "pider")
	test("(?i)sqlmap|nikto|masscan", "qlmap", "ni", "can") // k, and s, are more than ASCII; s separates
	test("(abc){2,}d?", "abc")
	test("(abc)*de", "de")
	test("a_b", "a\x7fb")
	test("caf\u00e9|xyz", "caf", "xyz")
	test("(abc)?")
	test("(abc){0,2}")
	test("[a-z]+bot|")
	test("a")
	test("")
	test(".*")
	test("(?:ab|c)d+")
}

func TestNeedleOfManyTexts(t *testing.T) {
	expression := "aa"
	for c := byte('b'); c <= 'z'; c++ {
		for _, d := range "ab" {
			expression += "|" + string([]byte{c, byte(d), c})
		}
	}
	if needleOf(regexp.MustCompile(expression)) != nil {
		t.Error("too many to be looked for")
	}
}

// What an expression matches has the needle in it.
func FuzzNeedle(f *testing.F) {
	for _, e := range []string{"(?i)badbot", "(?i)k2s", "(?i)skunks|bots", "a(b|cd)+e{2}", "x{0}yz", "(?i:ab)Cd", "^ab$", "a\ufffdb", "(?i)\u017fup", "ab??c", "(?m)^ab", "[Aa]b"} {
		for _, v := range []string{"a BadBot/1", "\u212a2\u017f", "\u017fkun\u212a\u017f", "acdbee", "yz", "aBCd", "ab", "a\xffb", "SUP", "ac", ""} {
			f.Add(e, []byte(v))
		}
	}
	f.Fuzz(func(t *testing.T, expression string, value []byte) {
		e, err := regexp.Compile(expression)
		if err != nil {
			return
		}
		if n := needleOf(e); n != nil && !n.in(value) && e.Match(value) {
			t.Errorf("%q matches %q, which has none of %q", expression, value, n.texts)
		}
	})
}
