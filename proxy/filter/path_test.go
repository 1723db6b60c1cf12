package filter

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	f := build(t, Options{Paths: []string{"/.git/*", "/status", "/admin/*", "/admin/public*", "/old%20shop/*", "/a%2a", "/caf\u00e9*"}})
	test := func(target, want string) {
		t.Helper()
		for _, target := range []string{target, "http://shop.example" + target} {
			if got := name(f.Check(someone, 1, parse(t, "GET "+target+" HTTP/1.1"), 0)); got != want {
				t.Errorf("%s: %q, not %q", target, got, want)
			}
		}
	}
	test("/", "")
	test("/status", "path /status")
	test("/status?full", "path /status")
	test("/status/", "")
	test("/statu", "")
	test("/Status", "")
	test("/x?/status", "")
	test("/.git", "")
	test("/.gitx/config", "")
	test("/.git/", "path /.git/*")
	test("/.git/config", "path /.git/*")
	test("/admin/x", "path /admin/*")
	test("/admin/public", "path /admin/public*") // the longest prefix counts
	test("/admin/publ", "path /admin/*")
	test("/x/.git/config", "") // what is below another folder is another path

	// Ways past a rule.
	const git = "path /.git/*"
	test("//.git/config", git)
	test("///.git///config", git)
	test("/./.git/config", git)
	test("/.git/.", git)
	test("/a/../.git/config", git)
	test("/../.git/config", git)
	test("/../../.git/config", git)
	test("/a/b/../../.git/config", git)
	test("/.git/x/../config", git)
	test("/%2egit/x", git)
	test("/%2Egit/x", git)
	test("/%2e%67%69%74/x", git)
	test("/.git%2fconfig", git)
	test("/.git%2Fconfig", git)
	test("/%2f.git/config", git)
	test("/a/%2e%2e/.git/config", git)
	test("/a/.%2E/.git/config", git)
	test("/a/..%2f.git/config", git)
	test("/a%2f..%2f.git/config", git)
	test("/%2e/.git/x", git)
	test("/st%61tus", "path /status")
	test("/x/../status", "path /status")
	test("/%%73tatus", "")

	// Where servers read differently, each reading counts.
	test("/x/../.git//../config", git)     // "" is a segment
	test("//.git//../config", git)         // the same, and "//" is one slash later
	test("/a%2fb/../.git/config", git)     // %2f is none between segments
	test("/a%2fb/%2e%2e/.git/config", git) // nor %2e another than a dot
	test("/.git%2f/../config", git)        // "" is a segment, and %2f ends one
	test("/a%2fb/../.git//../config", git) // "" is a segment, and %2f ends none
	test("/a/b%2f../../.git/config", git)  // %2f between segments
	test("/x/../y/../.git/z", git)         // all the same
	test("/x/.git/../../q", "")            // out again
	test("/.git%2f..%2fq", git)            // as it was sent it is q in a folder named .git/..
	test("/x/..%2f.gi%74/../.git2/q", "")  // no reading leads there
	test("/%252egit/x", "")                // escapes are decoded once
	test("/a/%252e%252e/.git/x", "")       // in segments, too
	test("/a%252fb/../.git/x", git)        // here it does not matter
	test("/x/.../.git/config", "")         // three dots are a name
	// Parameters, as they were sent and decoded.
	test("/.git;x/config", git)
	test("/.git;/config", git)
	test("/;/.git/config", git)
	test("/;a=b/.git/config", git)
	test("/x/..;/.git/config", git)
	test("/x/..;a=b;c/.git/config", git)
	test("/x/%2e.;/.git/config", git)
	test("/x/..%3b/.git/config", git)
	test("/x/..%3Ba/.git/config", git)
	test("/.git%3bx/config", git)
	test("/.git;a%2fb/config", git)
	test("/;a%2fb/.git/config", git)    // %2f is part of the parameter
	test("/%3ba%2fb/.git/config", git)  // also of this
	test("/;a%2f.git/config", git)      // or ends it
	test("/a%3b%2f../.git/config", git) // the same
	test("/status;jsessionid=1", "path /status")
	test("/status%3b", "path /status")
	test("/x;/.git/config", "")
	test("/shop;a=b/x;c=d/../e", "")
	// Backslashes.
	test(`/.git\config`, git)
	test(`/\.git\config`, git)
	test(`/a\..\.git/config`, git)
	test(`/a\..\.git\config`, git)
	test("/.git%5cconfig", git)
	test("/.git%5Cconfig", git)
	test("/a%5c..%5c.git/config", git)
	test(`/a%5cb/..\.git/config`, git) // %5c is none between segments
	test(`/x\.git\config`, "")
	test(`/x/a\b`, "")
	// Both.
	test(`/a\..;b\.git/config`, git)
	test(`/;a\.git/config`, git)
	test(`/x;a\b/../.git/config`, git) // the backslash is part of the parameter
	test(`/x/..%3b%5c.git%5cconfig`, git)
	test("/"+strings.Repeat("a/..;/", 1300)+".git/x", git)
	test("/"+strings.Repeat(`a\..\`, 1600)+".git/x", git)

	test("/"+strings.Repeat("%2e/", 2000)+"%2egit/x", git)
	test("/"+strings.Repeat("a/../", 1500)+".git/x", git)

	// Escapes in rules mean what they stand for.
	test("/old%20shop/x", "path /old%20shop/*")
	test("/old%20s%68op/x", "path /old%20shop/*")
	test("/a*", "path /a%2a")
	test("/a%2A", "path /a%2a")
	test("/ab", "")
	test("/caf%C3%A9/x", "path /caf\u00e9*")
}

func TestEveryPath(t *testing.T) {
	f := build(t, Options{Paths: []string{"/*"}})
	for line, want := range map[string]string{
		"GET / HTTP/1.1": "path /*", "GET /x HTTP/1.1": "path /*", "GET http://shop.example HTTP/1.1": "path /*",
		"OPTIONS * HTTP/1.1": "", "CONNECT shop.example:443 HTTP/1.1": "", // have no path
	} {
		if got := name(f.Check(someone, 1, parse(t, line), 0)); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// Against a loop over all patterns.
func TestPathsAgainstALoop(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string { // few letters, so that much begins with much
		b := []byte("/")
		for range random.IntN(most) {
			b = append(b, "ab/"[random.IntN(3)])
		}
		return string(b)
	}
	for range 300 {
		var p paths
		p.exact = map[string]*Rule{}
		var patterns []string
		for range random.IntN(60) {
			pattern := text(7)
			if random.IntN(3) > 0 {
				pattern += "*"
			}
			patterns = append(patterns, pattern)
			p.add(pattern, &Rule{name: pattern})
		}
		p.link()
		for range 300 {
			path := text(9)
			want, length := "", -1
			for _, pattern := range patterns {
				if pattern == path {
					want = pattern
					break
				}
				if start, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(path, start) && len(start) > length {
					want, length = pattern, len(start)
				}
			}
			got := ""
			if rule := p.match([]byte(path)); rule != nil {
				got = rule.name
			}
			if got != want {
				t.Fatalf("%q in %q: %q, not %q", path, patterns, got, want)
			}
		}
	}
}

func ExampleNew() {
	f, err := New(Options{Paths: []string{"/a*", "/b*/c"}}, nil)
	fmt.Println(f, err)
	// Output: <nil> paths[1]: "/b*/c": a star may only stand at the end
}
