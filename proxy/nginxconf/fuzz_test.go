package nginxconf

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"redoubt/proxy/config"
	"redoubt/proxy/subst"
)

// Whatever is read, what comes of it is taken by the proxy.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.conf")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{"", "a{b", `"`, "a\\", "location /{proxy_pass http://a;}", "x_by_lua_block{[[", "location / { proxy_pass http://[::1]:1/$x; sub_filter a $a$; }"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse("/nowhere/x.conf", text)
		if err != nil {
			return
		}
		if _, err := config.Parse("x.json", r.Text, config.Options{}); err != nil {
			t.Errorf("%q becomes\n%s\nwhich the proxy refuses: %v", text, r.Text, err)
		}
	})
}

// Whatever an expression is, what comes of it is one that rules may have, and is UTF-8.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{`a.b$`, `[^\n\h]`, `(?'x'a)\1`, `\xc3\xa9`, `\Q.\E`, `[[:alpha:]`, `(?#`, `\`, `\c`, `\o{`, `é*`, `a{2,}+`, `(?P<n>a)|(?i)Ä`} {
		f.Add(text, true, false)
		f.Add(text, false, true)
	}
	f.Fuzz(func(t *testing.T, text string, perl, fold bool) {
		d := sregex
		if perl {
			d = pcre
		}
		find, _, err := translate(text, d, fold)
		if err != nil {
			return
		}
		if !utf8.ValidString(find) {
			t.Errorf("%q becomes %q", text, find)
		}
		_ = subst.Check([]subst.Rule{{Find: find}}) // it may be too large
	})
}
