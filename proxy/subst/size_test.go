package subst

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What Bytes says is within a factor of two of what the heap says.
func TestBytes(t *testing.T) {
	text := []byte(strings.Repeat("<p>hello <a href=\"https://cdn.origin.example/img/logo.png\">world</a> GET 12.34 user@example.com</p>\n", 500))
	for _, n := range []int{1, 10, 30, 200} {
		for _, used := range []bool{false, true} {
			const sets = 30
			all := make([][]Rule, sets)
			for i := range all {
				for j := range n {
					r := thirtyRules()[j%30]
					r.Find += fmt.Sprintf("%d_%d", i, j)
					all[i] = append(all[i], r)
				}
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.GC() // pools take two
			runtime.ReadMemStats(&before)
			kept := make([]*Set, sets)
			said := 0
			for i, rules := range all {
				s, err := Compile(rules, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if used {
					stream := s.NewStream()
					stream.Feed(nil, text)
					stream.Finish(nil)
				}
				kept[i] = s
				said += s.Bytes()
			}
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&after)
			is := int(after.HeapAlloc - before.HeapAlloc)
			t.Logf("%d rules, used: %t: %d bytes a set, Bytes says %d", n, used, is/sets, said/sets)
			if said < is/2 || said > 2*is {
				t.Errorf("%d rules, used: %t: Bytes says %d a set, the heap %d", n, used, said/sets, is/sets)
			}
			runtime.KeepAlive(kept)
		}
	}
}
