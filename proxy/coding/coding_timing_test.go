package coding

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkBodies rewrites bodies of 1 MB, in the pieces that a proxy reads.
func BenchmarkBodies(b *testing.B) {
	text := strings.Repeat("<p>hello <a href=\"/zzz\">aab</a>, how are you today?</p>\n", 20_000)[:1<<20]
	for _, c := range [...][2]Coding{{Identity, Identity}, {Gzip, Identity}, {Gzip, Gzip}, {Deflate, Gzip}, {Brotli, Gzip}, {Brotli, Brotli}, {Zstd, Gzip}, {Zstd, Zstd}} {
		b.Run(fmt.Sprint(c[0], " to ", c[1]), func(b *testing.B) {
			coded := []byte(encode(b, c[0], text))
			p := NewPool(Options{})
			defer p.Close()
			stream := rules(b)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				o := own(b, p, Job{From: c[0], To: c[1], Stream: stream})
				for rest := coded; len(rest) > 0; {
					n := min(len(rest), 64<<10)
					o.body.Write(rest[:n])
					rest = rest[n:]
					for o.body.Full() {
						o.turn()
						o.out.Reset()
					}
				}
				o.body.End()
				if _, err := o.finish(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
