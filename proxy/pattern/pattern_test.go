package pattern

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestFault(t *testing.T) {
	f := func(text string, offset int, words ...string) {
		t.Helper()
		_, err := regexp.Compile(text)
		if err == nil {
			t.Fatalf("%q is no fault", text)
		}
		at, reason := Fault(text, syntax.Perl, err)
		if at != offset {
			t.Errorf("%q: at %d, want %d (%s)", text, at, offset, reason)
		}
		for _, word := range words {
			if !strings.Contains(reason, word) {
				t.Errorf("%q: %q lacks %q", text, reason, word)
			}
		}
	}
	f("ab(cd", 2, "missing closing )")
	f("a)b", 1, "unexpected )")
	f("ab[cd", 2, "missing closing ]", "flag l")
	f(`ab\`, 2, "trailing backslash")
	f("ab\xffcd", 2, "UTF-8")
	f(`a(?=b)`, 1, "look-around")
	f(`a(?<=b)`, 1, "look-around")
	f(`(a)\1`, 3, "back references")
	f("a{1001}", 1, "counts go up to 1000")
	f("a**", 1, "invalid nested repetition")
	f("x*?+", 1, "invalid nested repetition")
	f(strings.Repeat("(", 2000)+strings.Repeat(")", 2000), -1, "several rules")
	f(strings.Repeat("a", 3000)+"[", -1, "missing closing ]")

	if _, reason := Fault("a[", syntax.Perl, &syntax.Error{Code: syntax.ErrMissingBracket, Expr: "["}); strings.Contains(WithoutFlags(reason), "flag l") {
		t.Errorf("%q", WithoutFlags(reason))
	}
}

// Where there is a fault, its place is in the text.
func FuzzFault(f *testing.F) {
	for _, text := range []string{"a(", "a)", "[", `\`, "\xff", "(?=", "a{9999}", "a**"} {
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, fold bool) {
		flags := syntax.Perl
		if fold {
			flags |= syntax.FoldCase
		}
		if _, err := syntax.Parse(text, flags); err != nil {
			if at, reason := Fault(text, flags, err); at < -1 || at > len(text) || reason == "" {
				t.Errorf("%q: at %d, %q", text, at, reason)
			}
		}
	})
}
