package nginxconf

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redoubt/proxy/config"
)

var update = flag.Bool("update", false, "write what comes out to testdata")

// Each testdata/*.conf becomes a configuration that the proxy takes, and notes.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r, err := Translate(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := config.Parse(file, r.Text, config.Options{}); err != nil {
				t.Errorf("the proxy refuses it: %v\n%s", err, r.Text)
			}
			base := strings.TrimSuffix(file, ".conf")
			golden(t, base+".json", string(r.Text))
			var notes strings.Builder
			for _, n := range r.Notes {
				notes.WriteString(n.String() + "\n")
			}
			golden(t, base+".notes", notes.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", file, diff)
	}
}

// What is no configuration is told with its place.
func TestSyntaxErrors(t *testing.T) {
	f := func(text string, line, column int, words string) {
		t.Helper()
		_, err := Parse("x.conf", text)
		bad, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Fatalf("%q: %v", text, err)
		}
		if bad.Line != line || bad.Column != column || !strings.Contains(bad.Reason, words) {
			t.Errorf("%q: %v; want %d:%d, %q", text, bad, line, column, words)
		}
	}
	f("", 1, 1, "no directive")
	f("# nothing\n", 1, 1, "no directive")
	f("{", 1, 1, "name of a directive")
	f("http {\n  ;\n}", 2, 3, "name of a directive")
	f("hello world", 1, 12, "end it with ;")
	f("hello world ", 1, 13, "end it with ;")
	f("http {\n server {\n", 2, 9, "not closed")
	f("http { }\n}", 2, 1, "} without a block")
	f("http { listen 80 }", 1, 18, "in the middle of listen")
	f("set $x 'abc", 1, 8, "no other to close it")
	f(`set $x "a"b;`, 1, 11, "right behind")
	f("a;\ncontent_by_lua_block { if x then { ", 2, 23, "Lua")
	f("a;\n include;", 2, 2, "include takes one file")
	f("events {}\nhttp { server { location / { root /x; } } }", 1, 1, "nothing that a proxy could do")
}

// A configuration none of whose locations can be carried over says why.
func TestNowhere(t *testing.T) {
	_, err := Parse("x.conf", "location / { proxy_pass https://a; }\nlocation /b { proxy_pass http://$arg_x; }")
	if err == nil || !strings.Contains(err.Error(), "x.conf:1: proxy_pass https://a: servers are spoken to without TLS") || !strings.Contains(err.Error(), "x.conf:2: ") {
		t.Error(err)
	}
}

// Words are cut, and backslashes resolved, as nginx does it.
func TestWords(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		w := &words{file: "x", text: text}
		var got []string
		for {
			next, err := w.next()
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if next.mark == end {
				break
			}
			if next.mark != 0 {
				next.text = "<" + string(next.mark) + ">"
			}
			got = append(got, next.text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	f("a b;", "a", "b", "<;>")
	f("a{ b; }c d;", "a", "<{>", "b", "<;>", "<}>", "c", "d", "<;>")
	f("a b};", "a", "b}", "<;>")          // a brace inside a word closes nothing
	f("a ${b}c{ ", "a", "${b}c", "<{>")   // nor does that of a variable open anything
	f("a b#c; # d;\n", "a", "b#c", "<;>") // nor is there a comment inside a word
	f(`a 'b "c" \' ;' "d;";`, "a", `b "c" ' ;`, "d;", "<;>")
	f(`a \d\.\\d\;b "\t\n\x";`, "a", `\d\.\d\;b`, "\t\n\\x", "<;>")
	f(`if ("a") {`, "if", `("a")`, "<{>")
	f(`if ( "a") {`, "if", "(", "a", ")", "<{>")
	f("a b'c';", "a", "b'c'", "<;>") // quotes count at the beginning of a word only
}

// A block of Lua is gone over, whatever is in it.
func TestLua(t *testing.T) {
	for _, lua := range []string{
		"ngx.say('}')", `ngx.say("\"}")`, "-- }\n", "--[[ } ]]", "--[==[ } ]] ]==]", "local s = [[ } ]]", "local s = [=[ ]] } ]=]", "t = {a = {}}", "t[1] = u[t[2]]", "x = a - -b",
	} {
		list, err := (&files{}).parse("x", "content_by_lua_block {\n"+lua+"\n}\nlisten 80;", 0)
		if err != nil || len(list) != 2 || list[1].name != "listen" {
			t.Errorf("%s: %v %v", lua, list, err)
		}
	}
}

// Files that include themselves come to an end.
func TestCircle(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "a.conf")
	for _, text := range []string{"include a.conf;", "x { include a.conf; }", "include *.conf; include *.conf;"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Translate(file)
		if bad, ok := errors.AsType[*SyntaxError](err); !ok || !strings.Contains(bad.Reason, "include itself") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestExpressions(t *testing.T) {
	f := func(from string, d dialect, fold bool, want string) {
		t.Helper()
		got, _, err := translate(from, d, fold)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%q becomes %q, want %q", from, got, want)
		}
	}
	// What sregex has: a dot takes any byte, ^ and $ are those of lines.
	f(`a.b`, sregex, false, `(?s)a.b`)
	f(`^a|b$`, sregex, false, `(?m)^a|b$`)
	f(`^.`, sregex, false, `(?ms)^.`)
	f(`[.^$]\.\^\$`, sregex, false, `[.^$]\.\^\$`)
	f(`\Aa\z\bb\B`, sregex, false, `\Aa\z\bb\B`)
	f(`\d\D\w\W\s\S`, sregex, false, `\d\D\w\W\s\S`)
	f(`\h\H\v\V\N\C`, sregex, false, `[\t ][^\t ][\n\x0b\f\r][^\n\x0b\f\r][^\n](?s:.)`)
	f(`[\h\v\d\b]`, sregex, false, `[\t \n\x0b\f\r\d\x08]`)
	f(`[^\H]`, sregex, false, `\H: not known here`)
	f(`\1\12\101\0`, sregex, false, `\x01\x0aA\x00`)
	f(`\o{101}\x41\x{42}\x4G\cI\ci\e\a\t`, sregex, false, `AAB\x04G\x09\x09\x1b\a\t`)
	f(`\i\M\_\"\'\/`, sregex, false, `iM_"'/`)
	f(`[[:alpha:]]`, sregex, false, `[\[:alpha:]]`)
	f(`[]a][^]a]`, sregex, false, `[\]a][^\]a]`)
	f(`\xe2\x82\xac`, sregex, false, `€`)
	f(`\xe2\x82`, sregex, false, `no part of UTF-8`)
	f(`äa`, sregex, true, `(?-i:ä)a`)
	f(`€a`, sregex, true, `€a`)
	f(`a{2,3}?b{x`, sregex, false, `a{2,3}?b{x`)
	f(`a{1001}`, sregex, false, `counts go up to 1000`)
	f(`\y`, sregex, false, `\y: not known here`)
	f(`a\`, sregex, false, `backslash at the end`)
	f(`[a`, sregex, false, `missing closing ]`)
	f(`(a`, sregex, false, `missing closing )`)
	f(`(?=a)`, sregex, false, `look-ahead`)

	// What PCRE has besides, or otherwise.
	f(`a.b`, pcre, false, `a.b`)
	f(`\Aa\Z`, pcre, false, `(?m:^)a(?m:$)`)
	f(`a\z`, pcre, false, `\z: not known here`)
	f(`a(?#note)b`, pcre, false, `ab`)
	f(`(?'n'a)(?<m>b)(?P<k>c)(?:d)(?i)e`, pcre, false, `(?P<n>a)(?<m>b)(?P<k>c)(?:d)(?i)e`)
	f(`\Qa.b\E.`, pcre, false, `a\.b.`)
	f(`\Qa.`, pcre, false, `a\.`)
	f(`\R`, pcre, false, `(?:\r\n|[\n\x0b\f\r])`)
	f(`[[:alpha:]_]`, pcre, false, `[[:alpha:]_]`)
	f(`\07\0`, pcre, false, `\x07\x00`)
	for from, reason := range map[string]string{
		`(a)\1`: "back references", `(?P<n>a)(?P=n)`: "back references", `a++`: "possessive", `a*+`: "possessive", `a?+`: "possessive", `a{2}+`: "nested repetition",
		`(?!a)`: "look-ahead", `(?<=a)b`: "look-behind", `(?<!a)b`: "look-behind", `(?>a)`: "atomic", `(?|a|b)`: "share numbers", `(?(1)a)`: "conditions", `(?R)`: "recursion",
		`(*SKIP)`: "verbs", `\Ka`: `\K`, `\Ga`: `\G`, `\pL`: `\p`, `\X`: `\X`, `(?x) a`: "",
	} {
		if find, _, err := translate(from, pcre, false); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q becomes %q, %v, want an error with %q", from, find, err, reason)
		}
	}
}

func TestTimes(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := "none"
		if d, ok := parseTime(text); ok {
			got = timeText(d)
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	f("60", "60s")
	f("1m30s", "90s")
	f("1h 30m", "5400s")
	f("500ms", "500ms")
	f("0", "0s")
	f("1d", "86400s")
	f("2y", "none")
	f("99999999999d", "none")
	f("", "none")
	f("x", "none")
	f("1x", "none")
	f("1s1", "2s")
}

// docs/nginx.md shows what comes out in truth.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/nginx.md")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Translate("testdata/example.conf")
	if err != nil || r.Rules != 4 || r.Left != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, file := range []string{"example.conf", "example.json", "example.notes"} {
		text, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if shown := strings.ReplaceAll(string(text), "testdata/example.conf", "example.conf"); !strings.Contains(string(page), shown) {
			t.Errorf("docs/nginx.md does not show testdata/%s as it is:\n%s", file, shown)
		}
	}
}
