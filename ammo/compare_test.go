package ammo

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestCompareJSON(t *testing.T) {
	same := func(got, want string) {
		t.Helper()
		if d := CompareJSON([]byte(got), []byte(want)); d != "" {
			t.Errorf("%s and %s differ: %s", got, want, d)
		}
	}
	differ := func(got, want, difference string) {
		t.Helper()
		if d := CompareJSON([]byte(got), []byte(want)); d == "" || !strings.Contains(d, difference) {
			t.Errorf("%s and %s: got %q, want %q", got, want, d, difference)
		}
	}
	same(`{"a":1,"b":[true,null,"x"]}`, ` { "b" : [ true , null , "x" ] , "a" : 1 } `)
	same(`"\u0430\ud83d\ude00\/"`, `"а😀/"`)
	same(`{"\u0061":1}`, `{"a":1}`)
	same(`{"visits":[]}`, `{"visits": []}`)
	same(`5`, `5`)
	same(` 5 `, `5`)

	// Numbers by exact value.
	same(`4.0`, `4`)
	same(`{"avg":0.0}`, `{"avg":0}`)
	same(`-0`, `0`)
	same(`1e2`, `100`)
	same(`1.50E+1`, `15`)
	same(`0.000e9`, `-0.0`)
	same(`120e-1`, `1.2e1`)
	same(`1e999999999`, `10e999999998`)
	differ(`2.57143`, `2.57142`, "got 2.57143, want 2.57142")
	differ(`2.571430000000000000001`, `2.57143`, "$: got")
	differ(`18446744073709551617`, `18446744073709551616`, "$: got")
	differ(`1`, `-1`, "$: got 1, want -1")
	differ(`1e99999999999999999999`, `1e99999999999999999998`, "$: got")
	differ(`1`, `"1"`, `got 1, want "1"`)

	differ(`{"a":1}`, `{"a":2}`, "$.a: got 1, want 2")
	differ(`{"a":1}`, `{"a":1,"b":2}`, `$: the key "b" is missing`)
	differ(`{"a":1,"b":2}`, `{"a":1}`, `$: the key "b" is too much`)
	differ(`{"a":1}`, `{"A":1}`, `"A" is missing`)
	differ(`{"v":[{"m":1},{"m":2}]}`, `{"v":[{"m":2},{"m":1}]}`, "$.v[0].m: got 1, want 2")
	differ(`[1]`, `[1,2]`, "got 1 items, want 2")
	differ(`{}`, `[]`, "got an object, want a list")
	differ(`[]`, `{}`, "got a list, want an object")
	differ(`null`, `0`, "got null, want 0")
	differ(`true`, `false`, "got true, want false")
	differ(`"é"`, `"e\u0301"`, "$: got")

	// What is no JSON, though many parsers take it.
	for _, bad := range []string{
		"", " ", "{", `{"a":1`, `{"a":1}}`, `{"a":1} x`, `{"a":1,}`, `[1,]`, `[1 2]`, `01`, `+1`, `1.`, `.5`, `1e`, `--1`, `1-2`,
		`nul`, `'a'`, "\"\x01\"", "\"\\q\"", `"\u12"`, `"`, "\"\xff\"", `"\ud800"`, `"\udc00\ud800"`, `{"\ud800":1}`, `{"a":1,"a":1}`,
		`{"a":1,"\u0061":2}`, `[{"b":{"c":1,"c":1}}]`, `{1:2}`, "{}\x00", "\xef\xbb\xbf{}", `"say "hi""`,
	} {
		differ(bad, `{"a":1}`, "got ")
		differ(bad, bad, "got ") // equal bytes do not make it right
		if CompareJSON([]byte(`{"a":1}`), []byte(bad)) == "" {
			t.Errorf("expecting %q passed", bad)
		}
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	differ(deep, deep, "got ")
	differ(`{"a":{"b":1,"b":2}}`, `{}`, `the key "b" twice in $.a`)
}

// FuzzCompareJSON compares with encoding/json, where that is exact.
func FuzzCompareJSON(f *testing.F) {
	f.Add(`{"a":1}`, `{"a":1.0}`)
	f.Add(`[1,2]`, `[2,1]`)
	f.Add(`"\u0061"`, `"a"`)
	f.Add(`{"a":1,"a":2}`, `{"a":2}`)
	f.Add(`1e5`, `100000`)
	f.Add(`"\ud83d\ude00"`, `"😀"`)
	f.Add(`-0.0`, `0e5`)
	f.Add(`nul`, `null`)
	f.Fuzz(func(t *testing.T, got, want string) {
		d := CompareJSON([]byte(got), []byte(want))
		if back := CompareJSON([]byte(want), []byte(got)); (d == "") != (back == "") {
			t.Fatalf("%q and %q: %q one way, %q the other", got, want, d, back)
		}
		var a, b any
		errA, errB := json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)
		if d == "" && (errA != nil || errB != nil) && !strings.ContainsAny(got, "eE") {
			t.Fatalf("%q and %q pass, but are no JSON: %v, %v", got, want, errA, errB)
		}
		// float64s round, so that equal ones prove nothing, but others do.
		if d == "" && errA == nil && errB == nil && !reflect.DeepEqual(a, b) {
			t.Fatalf("%q and %q pass, but differ: %v, %v", got, want, a, b)
		}
		if self := CompareJSON([]byte(got), []byte(got)); self != "" && d == "" {
			t.Fatalf("%q passes against %q, but not against itself: %s", got, want, self)
		}
	})
}

func TestDecoded(t *testing.T) {
	f := func(body string, limit int, want string) {
		t.Helper()
		if got := Decoded([]byte(body), limit); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
	f(`{"a":"\u0430\u0411"}`, 0, `{"a":"аБ"}`)
	f(`"\ud83d\ude00"`, 0, `"😀"`)
	f(`"\ud83d" "\udc00\u0041"`, 0, `"\ud83d" "\udc00A"`)
	f(`"\u0022\u005c\u0000\u001b\n\"\\u0041"`, 0, `"\u0022\u005c\u0000\u001b\n\"\\u0041"`)
	f("a\x1b[2J\n\xff\u2028", 0, `a\x1b[2J\n\xff\u2028`)
	f("\\\x1b", 0, `\\x1b`)
	f(`\u12`, 0, `\u12`)
	f("\\", 0, "\\")
	f("abcdef", 3, "abc... (3 bytes more)")
	f("abc", 3, "abc")
	f("", 5, "")
}
