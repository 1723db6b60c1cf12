package rewrite

import (
	"errors"
	"strings"
	"testing"
)

func TestErrors(t *testing.T) {
	fine := Rule{Name: "X", Find: "a"}
	headers := func(r Rule) Options { return Options{Headers: []Rule{fine, r}} }
	put := func(find, put, flags string) Options { return headers(Rule{"X", find, put, flags}) }
	find := func(text string) Options { return put(text, "", "") }
	set := func(value string) Options { return Options{Set: []Field{{"X", ""}, {"Y", value}}} }
	url := func(r Rule) Options { return Options{URL: []Rule{{Find: "a"}, r}} }
	tests := []struct {
		o      Options
		part   string
		key    string
		offset int
		says   string
	}{
		{Options{Remove: []string{"A", ""}}, "remove", "name", -1, "missing"},
		{Options{Remove: []string{"A", "a b"}}, "remove", "name", 1, `" " cannot be in the name`},
		{Options{Remove: []string{"A", "é"}}, "remove", "name", 0, "cannot be in the name"},
		{Options{Remove: []string{"A", "host"}}, "remove", "name", -1, "set it"},
		{Options{Remove: []string{"A", "connection"}}, "remove", "name", 0, "Connection frames the body or belongs to the connection"},
		{Options{Set: []Field{{"A", ""}, {"Content-length", "1"}}}, "set", "name", 0, "Content-Length"},
		{Options{Set: []Field{{"A", ""}, {"Transfer-Encoding", "chunked"}}}, "set", "name", 0, "leave"},
		{Options{Set: []Field{{"A", ""}, {"a", ""}}}, "set", "name", -1, "set twice"},
		{Options{Set: []Field{{"A", ""}, {"Host", ""}}}, "set", "value", -1, "no host"},
		{Options{Set: []Field{{"A", ""}, {"Host", "a/b"}}}, "set", "value", -1, "no host"},
		{Options{Add: []Field{{"A", ""}, {"TE", ""}}}, "add", "name", 0, "TE"},
		{Options{Add: []Field{{"A", ""}, {"Host", "b"}}}, "add", "name", -1, "one Host"},
		{Options{Add: []Field{{"A", ""}, {"B:", ""}}}, "add", "name", 1, `":" cannot`},
		{headers(Rule{"", "a", "", ""}), "headers", "name", -1, "missing"},
		{headers(Rule{"Trailer", "a", "", ""}), "headers", "name", 0, "Trailer"},
		{headers(Rule{"Upgrade", "a", "", ""}), "headers", "name", 0, "Upgrade"},
		{headers(Rule{"Keep-alive", "a", "", ""}), "headers", "name", 0, "Keep-Alive"},
		{headers(Rule{"Proxy-Connection", "a", "", ""}), "headers", "name", 0, "Proxy-Connection"},
		{headers(Rule{"EXPECT", "a", "", ""}), "headers", "name", 0, "Expect"},
		{url(Rule{"X", "a", "b", ""}), "url", "name", 0, "names no field"},

		{set("a\nb"), "set", "value", 1, "0x0a"},
		{set("a\x7f"), "set", "value", 1, "0x7f"},
		{set("a$"), "set", "value", 1, "$ without $ or a variable after it; write $$ for a dollar sign; variables are $client, $host,"},
		{set("a$$$1"), "set", "value", 3, "without a find"},
		{set("$&"), "set", "value", 0, "without a find"},
		{set("${1}"), "set", "value", 0, "without a find"},
		{set("$CLIENT"), "set", "value", 0, "$$"},
		{set("a $clients"), "set", "value", 2, "$clients: unknown variable (${host} keeps letters that follow apart); write $$"},
		{set("${clients}"), "set", "value", 0, "${clients}: unknown"},
		{set("${client"), "set", "value", 0, "} after it"},
		{set("${Client}"), "set", "value", 0, "} after it"},

		{put("a", "5$", ""), "headers", "put", 1, "$ without a number, {number}, &, $ or a variable after it; write $$"},
		{put("a", "$ ", ""), "headers", "put", 0, "$$"},
		{put("a", "$-1", ""), "headers", "put", 0, "$$"},
		{put("a", "$1", ""), "headers", "put", 0, "no groups; write $$"},
		{put("(a)", "b$10", ""), "headers", "put", 1, "groups 1 to 1 (${1} keeps digits that follow apart)"},
		{put("(a)", "${2}", ""), "headers", "put", 0, "$$"},
		{put("(a)", "${1", ""), "headers", "put", 0, "} after it"},
		{put("(a)", "${1a}", ""), "headers", "put", 0, "} after it"},
		{put("(a)", "${", ""), "headers", "put", 0, "$$"},
		{put("(a)", "${}", ""), "headers", "put", 0, "$$"},
		{put("(a)", "${&}", ""), "headers", "put", 0, "$$"},
		{put("(a)", "$99999999999999999999", ""), "headers", "put", 0, "$$"},
		{put("(a)", "$1", "l"), "headers", "put", 0, "literal"},
		{put("(a)", "$name", ""), "headers", "put", 0, "unknown variable"},
		{put("(a)", "ab\r", ""), "headers", "put", 2, "value of a field"},
		{url(Rule{"", "a", "/a b", ""}), "url", "put", 2, "0x20 cannot be in a target; write %20"},
		{url(Rule{"", "a", "/#", ""}), "url", "put", 1, "write %23"},
		{url(Rule{"", "a", "/ä", ""}), "url", "put", 1, "write %C3"},

		{put("a", "", "gg"), "headers", "flags", 1, "twice"},
		{put("a", "", "gx"), "headers", "flags", 1, "unknown flag 'x'"},
		{put("a", "", "\xff"), "headers", "flags", 0, "unknown flag"},

		{find(`a)b`), "headers", "find", 1, "unexpected )"},
		{find(`a[(]b(c(d)`), "headers", "find", 5, "missing closing )"},
		{find(`(a`), "headers", "find", 0, "missing closing )"},
		{find(`x[a][b`), "headers", "find", 4, "missing closing ]"},
		{find(`*a`), "headers", "find", 0, "missing argument"},
		{find(`a**`), "headers", "find", 1, "nested repetition"},
		{find(`(a)\1`), "headers", "find", 3, "back references"},
		{find(`a(?=b)`), "headers", "find", 1, "look-around"},
		{find(`a(?<!b)`), "headers", "find", 1, "look-around"},
		{find(`\(a\`), "headers", "find", 3, "trailing backslash"},
		{find(`a{1001}`), "headers", "find", 1, "1000"},
		{find(`[b-a]`), "headers", "find", 1, "range"},
		{find(`\p{Nope}`), "headers", "find", 0, "Nope"},
		{find("é\xffa"), "headers", "find", 2, "UTF-8"},
		{put("a\ufffd\xff", "", "l"), "headers", "find", 4, "UTF-8"},
		{find(strings.Repeat("(", 1001) + strings.Repeat(")", 1001)), "headers", "find", -1, "several rules"},
		{find(strings.Repeat("a", 5000) + "("), "headers", "find", -1, "missing closing )"}, // too long to search
	}
	for _, test := range tests {
		_, err := Compile(test.o, Request)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%.100q: %v, want an *Error", test.o, err)
			continue
		}
		if e.Part != test.part || e.Index != 1 || e.Key != test.key || e.Offset != test.offset || !strings.Contains(e.Reason, test.says) {
			t.Errorf("%.100q: %+v, want %s, %s, offset %d, %q", test.o, e, test.part, test.key, test.offset, test.says)
		}
		t.Log(err)
	}

	_, err := Compile(Options{URL: []Rule{{Find: "a"}}}, Response)
	if e, ok := errors.AsType[*Error](err); !ok || e.Part != "url" || e.Index != 0 {
		t.Errorf("an answer's target: %v", err)
	}
}

func TestErrorCountsFromOne(t *testing.T) {
	err := &Error{Part: "headers", Index: 2, Key: "put", Offset: 4, Reason: "why"}
	if got, want := err.Error(), "headers 3: put, at byte 4: why"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	err.Offset = -1
	if got, want := err.Error(), "headers 3: put: why"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
