package jsonc

import (
	"strings"
	"testing"
	"time"
)

// parsed is the value of a text.
func parsed(t *testing.T, text string) Value {
	t.Helper()
	v, err := Parse("f", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// Whatever is wrong with a text as such is told with its place.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ reason, text, want string }{
		{"bytes that are no UTF-8", "[\n \xff]", "f:2:2: byte 0xff is no UTF-8"},
		{"lists without end", strings.Repeat("[", 1_000_000), "f:1:33: more than 32 lists"},
		{"brackets in strings and comments do not count", "[\"\\\"[[[[\", // [[[[\n/* [[ */" + strings.Repeat("[", 40), "f:2:40: more than 32"},
		{"columns count characters", `["é", x]`, "f:1:7: invalid"},
		{"a backslash alone", `["\d"]`, `in JSON a backslash is written \\`},
		{"a line break in a string", "[\"a\nb\"]", `f:1:2: invalid literal: "a b"; in JSON a line break is written \n`},
		{"nothing", "", "f:1:1: parsing value: unexpected EOF"},
		{"too large", strings.Repeat(" ", MaxSize+1), "f: more than 16 MB"},
	} {
		if _, err := Parse("f", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.reason, err, c.want)
		}
	}
}

// Places in strings, whatever their escapes.
func TestErrorfAt(t *testing.T) {
	v := parsed(t, ` "é\u00e9\ud83d\ude00\n\"x\ud83d"`)
	text, _ := v.Text()
	for want, offset := range map[string]int{
		"f:1:2: ": -1, "f:1:3: ": 0, "f:1:4: ": 2, "f:1:10: ": 4, "f:1:22: ": 8, "f:1:24: ": 9, "f:1:26: ": 10, "f:1:27: ": 11, "f:1:33: ": len(text),
	} {
		if err := v.ErrorfAt(offset, "!"); err.Error() != want+"!" {
			t.Errorf("%d: %v, want %s", offset, err, want)
		}
	}
	if err := parsed(t, " 17").ErrorfAt(1, "!"); err.Error() != "f:1:2: !" {
		t.Errorf("no string: %v", err)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "8k": 8 << 10, "8K": 8 << 10, "10m": 10 << 20, "3G": 3 << 30, "0": 0, "8191g": 8191 << 30,
		"": -1, "k": -1, "-1": -1, "1.5k": -1, "1kb": -1, "8192g": -1, "9007199254740992g": -1, "17179869184g": -1, "99999999999999999999": -1, " 1": -1, "1t": -1,
	} {
		n, err := ParseSize(text, 0, 8191<<30)
		if err != nil && want >= 0 || err == nil && n != want {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
	_, err := ParseSize("x", 1, 2047<<20)
	if want := `"x": write bytes, or a size such as 8k or 1m, from 1 to 2047m`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "10": true, "11": false, "-1": false, "1.0": false, "1e1": false, `"1"`: false, "99999999999999999999": false, "null": false, "[]": false} {
		if n, err := parsed(t, text).Int(0, 10); (err == nil) != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
		x, err := parsed(t, text).Float(0, 10, "something")
		if isFloat := want || text == "1.0" || text == "1e1"; (err == nil) != isFloat {
			t.Errorf("%s: %v, %v", text, x, err)
		}
	}
	for _, text := range []string{"1e999", `"NaN"`, "-1e-400x"} {
		if v, err := Parse("f", []byte(text)); err == nil {
			if x, err := v.Float(0, 10, "something"); err == nil {
				t.Errorf("%s: %v", text, x)
			}
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{`"1m30s"`: 90 * time.Second, `"0"`: 0, `"24h"`: 24 * time.Hour, `"25h"`: -1, `"-1s"`: -1, `10`: -1, `"10"`: -1, `"x"`: -1, `"1e9h"`: -1} {
		d, err := parsed(t, text).Duration(0, 24*time.Hour)
		if err != nil && want >= 0 || err == nil && d != want {
			t.Errorf("%s: %v, %v, want %v", text, d, err, want)
		}
	}
	for d, want := range map[time.Duration]string{time.Hour: "1h", 90 * time.Minute: "1h30m", time.Millisecond: "1ms", 10 * time.Second: "10s", 20 * time.Minute: "20m", 0: "0s"} {
		if got := short(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// A name is taken for a slip of another only where it is near.
func TestChoose(t *testing.T) {
	known := []string{"servers", "balance", "idle", "dial", "retry"}
	for name, want := range map[string]string{
		"server": "servers", "Servers": "servers", "sevrers": "servers", "balnace": "balance", "rety": "retry", "idel": "", "dail": "", "die": "", "listen": "", "": "",
		strings.Repeat("x", 1000): "",
	} {
		got := Choose(name, known)
		_, meant, _ := strings.Cut(got, "; did you mean ")
		if strings.Trim(meant, `"?`) != want {
			t.Errorf("%.20s: %s", name, got)
		}
	}
	if got := Choose("x", nil); got != "there are none" {
		t.Error(got)
	}
	if got := Choose("x", make([]string, 1000)); !strings.HasSuffix(got, " and 980 more") {
		t.Error(got)
	}
}

// Defaults are read for what is left out, in the table's order.
func TestFields(t *testing.T) {
	read := func(text string) (got string, err error) {
		note := func(v Value) error { s, err := v.Text(); got += s; return err }
		err = parsed(t, text).Fields("a thing", []Field{
			{Name: "a", Default: `"A"`, Read: note}, {Name: "b", Read: note}, {Name: "c", Default: `"C"`, Read: note}, {Name: "d", Need: true, Hint: ", such as D", Read: note},
		})
		return got, err
	}
	for text, want := range map[string]string{`{"d": "1"}`: "1AC", `{"d": "1", "c": "2", "b": "3"}`: "123A", `{"a": "1"}`: `f:1:1: a thing needs "d", such as D`,
		`{"d": 1}`: "f:1:7: want a string, got 1", `[]`: "f:1:1: want a thing, {...}, got a list", `{"\u0064": "1", "d": ""}`: `f:1:17: "d" stands twice; leave one out`,
		`{"e": 1}`: `f:1:2: a thing has no field "e"; there are a, b, c, d`} {
		got, err := read(text)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a default that is none passes")
		}
	}()
	parsed(t, "{}").Fields("a thing", []Field{{Name: "a", Default: `1`, Read: func(v Value) error { _, err := v.Text(); return err }}})
}

func TestSample(t *testing.T) {
	inner := func() []Field { return []Field{{Name: "x", Default: `1`, Help: "an x"}} }
	got := string(Sample("A title.\nTwo lines.\n", []Field{
		{Name: "one", Inner: inner, Help: "an object"}, {Name: "gone", Inner: inner, Hide: true},
		{Name: "list", Inner: inner, Shape: List, Hide: true}, {Name: "named", Inner: inner, Shape: Named, Example: "me"}, {Name: "plain", Default: "0", Example: "2"},
	}))
	want := `// A title.
// Two lines.

{
  "one": {                                    // an object
    "x": 1,                                   // an x
  },
  //"gone": {
  //  "x": 1,                                 // an x
  //},
  "list": [
  //  {
  //    "x": 1,                               // an x
  //  },
  ],
  "named": {
    "me": {
      "x": 1,                                 // an x
    },
  },
  "plain": 2,
}
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
