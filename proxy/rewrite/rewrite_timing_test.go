package rewrite

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"redoubt/netloop/http1"
)

// browser is what a browser sends.
const browser = "Host: www.shop.example\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\n" +
	"Sec-Fetch-Site: same-origin\n" +
	"Sec-Fetch-Mode: no-cors\n" +
	"Sec-Fetch-Dest: script\n" +
	"Referer: https://www.shop.example/catalog/shoes?page=3\n" +
	"Accept-Encoding: gzip, deflate, br, zstd\n" +
	"Accept-Language: en-GB,en;q=0.9,de;q=0.8\n" +
	"Cookie: session=8c1f7a3b9d2e4c5f; theme=dark; consent=a1b2c3d4\n" +
	"If-Modified-Since: Tue, 11 Jun 2024 08:00:00 GMT\n"

func BenchmarkHead(b *testing.B) {
	tests := []struct {
		name string
		o    Options
	}{
		{"none", Options{}},
		{"fields", Options{Remove: []string{"X-Debug"}, Set: []Field{{"X-Real-IP", "$client"}}, Add: []Field{{"X-Served-By", "redoubt"}}}},
		{"quiet", Options{Headers: []Rule{{"Referer", `//origin\.example`, "//shop.example", ""}, {"Cookie", `^(?:token)=(\w+)`, "$1", ""}}}},
		{"literal", Options{Headers: []Rule{{"Referer", "//www.shop", "//shop", "l"}}}},
		{"matches", Options{Headers: []Rule{{"Referer", `//www\.(\w+)\.`, "//$1.", ""}}}},
	}
	h := parse(b, Request, browser)
	for _, test := range tests {
		r := compile(b, test.o, Request)
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(browser)))
			var out http1.Segments
			v := testVars
			for b.Loop() {
				out.Reset()
				apply(r, &out, h, &v)
			}
		})
	}
	// What others do: a map that is cloned, and package regexp.
	b.Run("fields/net/http", func(b *testing.B) {
		in := make(http.Header)
		for line := range strings.Lines(browser) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			in.Add(name, value)
		}
		b.ReportAllocs()
		b.SetBytes(int64(len(browser)))
		for b.Loop() {
			out := in.Clone()
			out.Del("X-Debug")
			out.Set("X-Real-Ip", "192.0.2.7")
			out.Add("X-Served-By", "redoubt")
		}
	})
}

func BenchmarkURL(b *testing.B) {
	rules := []Rule{{"", "^/old/(.*)", "/new/$1", ""}}
	r := compile(b, Options{URL: rules}, Request)
	literal := compile(b, Options{URL: []Rule{{"", "/old/", "/new/", "l"}}}, Request)
	re := regexp.MustCompile(rules[0].Find)
	for _, target := range []string{"/assets/app/main.4f2a9c.js?v=20240611", "/old/app/main.4f2a9c.js?v=20240611"} {
		name := strings.Split(target, "/")[1]
		run := func(who string, f func(in, dst []byte)) {
			b.Run(name+"/"+who, func(b *testing.B) {
				b.ReportAllocs()
				in, dst := []byte(target), make([]byte, 0, 1<<10)
				for b.Loop() {
					f(in, dst)
				}
			})
		}
		v := testVars
		run("ours", func(in, dst []byte) { r.URL(dst, in, &v) })
		run("literal", func(in, dst []byte) { literal.URL(dst, in, &v) })
		run("regexp", func(in, _ []byte) { re.ReplaceAll(in, []byte("/new/$1")) })
	}
}

// The most that matches may cost, of one long value, of many, and of a target.
func BenchmarkWorst(b *testing.B) {
	for _, find := range []string{"(?:a.*b|a)", `(?:a(?:\w+\w+)*b|a)`, "[ab]"} {
		r := compile(b, Options{Headers: []Rule{{"A", find, "-", "g"}}, URL: []Rule{{"", find, "-", "g"}}}, Request)
		v := testVars
		for _, n := range []int{32000, 8000, 1000, 500} {
			h := parse(b, Request, strings.Repeat("A: "+strings.Repeat("a", n)+"\n", min(99, 32000/n)))
			b.Run(fmt.Sprintf("%s/values=%d", find, n), func(b *testing.B) {
				var out http1.Segments
				for b.Loop() {
					out.Reset()
					apply(r, &out, h, &v)
				}
			})
		}
		target := []byte("/" + strings.Repeat("a", http1.MaxTarget-1))
		b.Run(find+"/target", func(b *testing.B) {
			for b.Loop() {
				r.URL(nil, target, &v)
			}
		})
	}
}
