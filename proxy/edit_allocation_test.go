//go:build linux

package proxy

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"redoubt/proxy/config"
)

// TestRewritingAllocatesNothing counts what the whole process allocates while bodies are
// rewritten: nothing for plain ones, and no more than a coded one may.
func TestRewritingAllocatesNothing(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	// A coded body has its own goroutine, pipes and closures.
	const ofCoded = 40
	f := func(name, request, answer, end string, most float64, change func(*config.Config)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			c := rewriting(answering(t, answer), thirty(t)...)
			if change != nil {
				change(c)
			}
			_, addr := run(t, c, Options{})
			client := dialRaw(t, addr)
			out, in := []byte(request), make([]byte, 1<<20)
			round := func() {
				if _, err := client.Write(out); err != nil {
					t.Fatal(err)
				}
				for n := 0; !bytes.HasSuffix(in[:n], []byte(end)); {
					k, err := client.Read(in[n:])
					if err != nil {
						t.Fatalf("%v behind %.200q", err, in[:n])
					}
					n += k
				}
			}
			const rounds = 80
			for range 30 {
				round()
			}
			least := ^uint64(0)
			for range 3 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range rounds {
					round()
				}
				runtime.ReadMemStats(&after)
				least = min(least, after.Mallocs-before.Mallocs)
			}
			t.Logf("%.2f allocations in a round", float64(least)/rounds)
			if float64(least) > (most+0.05)*rounds {
				t.Errorf("%d allocations in %d rounds, and no more than %v may be in one", least, rounds, most)
			}
		})
	}
	const fields = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\nAccept-Encoding: gzip, br\r\nX-Odd: 1"
	text := strings.Repeat("<a href=\"https://www.origin.example/x\">a colour, 10.0.0.1</a>\n", 200) + "hello"
	chunks := func(lines, text string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", lines, 5, text[:5], len(text)-5, text[5:])
	}
	memory := func(c *config.Config) { c.Routes[0].ResponseBody.Memory = true }
	share := func(c *config.Config) { c.Routes[0].ResponseBody.Share = 99.99 }
	const last = "0\r\n\r\n"
	f("sized", field(fields), page("", text), "hello", 0, nil)
	f("chunked", field(fields), chunks("", text), "hello", 0, nil)
	f("nothing matches", field(fields), page("", strings.Repeat("<p>and so on</p>\n", 3000)+"hello"), "hello", 0, nil)
	f("large", field(fields), page("", strings.Repeat(strings.Repeat("<p>and so on</p>\n", 200)+"a colour, 10.0.0.1\n", 100)), last, 0, nil)
	f("fields", field(fields), page("ETag: \"x\"\r\nAccept-Ranges: bytes\r\nVary: Cookie\r\nContent-Encoding: none", text), "hello", 0, nil)
	f("remembered", field(fields), page(first, text), "hello", 0, memory)
	f("by time", field(fields), page("Date: Tue, 01 Jan 2019 00:10:00 GMT\r\nLast-Modified: Tue, 01 Jan 2019 00:09:00 GMT", text), "hello", 0, memory)
	f("remembered that nothing matches", field(fields), page(first, "hello"), "hello", 0, memory)
	f("share", field(fields), page("", text), "hello", 0, share)
	f("1.0", strings.Replace(field(fields+"\r\nConnection: keep-alive"), "1.1", "1.0", 1), page("", text), "hello", 0, nil)
	f("other types", field(fields), strings.Replace(page("", text), "text/html", "text/css", 1), "hello", 0, nil)
	f("gzip", field(fields), page("Content-Encoding: gzip\r\n"+first, coderOf("gzip").encode(text)), last, ofCoded, nil)
	f("gzip to none", strings.Replace(field(fields), "gzip, br", "x", 1), page("Content-Encoding: gzip", coderOf("gzip").encode(text)), last, ofCoded, nil)
	f("br", field(fields), page("Content-Encoding: br", coderOf("br").encode(text)), last, ofCoded, nil)
	f("zstd", field(fields), page("Content-Encoding: zstd", coderOf("zstd").encode(text)), last, ofCoded, nil)
}
