//go:build !race

package rewrite

import (
	"strings"
	"testing"

	"redoubt/netloop/http1"
)

// Nothing is allocated, unless a regular expression has matched.
func TestNothingIsAllocated(t *testing.T) {
	long := strings.Repeat("long-", 20)
	r := Join(
		compile(t, Options{Remove: []string{"X-Debug", long + "a"}, Set: []Field{{"X-Real-IP", "$client"}, {"Host", "$upstream"}}, Headers: []Rule{{"Via", "x", "y", "l"}}}, Request),
		compile(t, Options{
			Add:     []Field{{"X-Path", "$path $request_id"}, {"X-Served-By", "redoubt"}},
			Headers: []Rule{{"Cookie", "theme", "$client", "gl"}, {"Cookie", "192", "193", "l"}, {"Referer", `^https://(\w+)\.other/`, "$1", ""}, {"User-Agent", `(Opera)/(\d+)|x{20}`, "$1", "g"}},
			URL:     []Rule{{"", "^/old/(.*)", "/new/$1", ""}, {"", "/assets/", "/$client/", "l"}},
		}, Request))
	h := parse(t, Request, browser+long+"a: x\n"+long+"b: x\n")
	unknown := long + "a"
	target := []byte("/assets/main.js")
	var out http1.Segments
	var dst []byte
	v := testVars
	v.Path = []byte(strings.Repeat("/path", 1600))
	work := func() {
		out.Reset()
		apply(r, &out, h, &v)
		got, changed, ok := r.URL(dst[:0], target, &v)
		if !changed || !ok || !r.Owns(http1.Host) || !r.OwnsName("x-real-ip") || !r.OwnsName(unknown) {
			t.Fatal("wrong")
		}
		dst = got
	}
	if n := testing.AllocsPerRun(100, work); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
