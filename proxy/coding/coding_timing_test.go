package coding

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

var pairs = [...][2]Coding{
	{Identity, Identity}, {Gzip, Identity}, {Gzip, Gzip}, {Deflate, Gzip}, {Brotli, Gzip}, {Brotli, Brotli}, {Zstd, Gzip}, {Zstd, Zstd},
}

func page() string {
	return strings.Repeat("<p>hello <a href=\"/zzz\">aab</a>, how are you today?</p>\n", 20_000)[:1<<20]
}

// BenchmarkBodies rewrites bodies of 1 MB, in the pieces that a proxy reads.
func BenchmarkBodies(b *testing.B) {
	for _, c := range pairs {
		b.Run(fmt.Sprint(c[0], " to ", c[1]), func(b *testing.B) {
			coded := []byte(encode(b, c[0], page()))
			window, _ := Inspect(c[0], coded)
			p := NewPool(Options{})
			defer p.Close()
			stream := rules(b)
			b.SetBytes(1 << 20)
			b.ReportAllocs()
			for b.Loop() {
				o := own(b, p, Job{From: c[0], To: c[1], Window: window, Stream: stream})
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
				for !o.done {
					o.turn()
					o.out.Reset()
				}
				if o.body.Stop(); o.err != nil {
					b.Fatal(o.err)
				}
			}
		})
	}
}

// BenchmarkDirect does the same without a pool: the coders, used again, and the rules.
func BenchmarkDirect(b *testing.B) {
	for _, c := range pairs {
		b.Run(fmt.Sprint(c[0], " to ", c[1]), func(b *testing.B) {
			coded := encode(b, c[0], page())
			window, _ := Inspect(c[0], []byte(coded))
			var k machines
			stream := rules(b)()
			buffer := make([]byte, blockSize)
			b.SetBytes(1 << 20)
			b.ReportAllocs()
			for b.Loop() {
				d, err := k.decoder(c[0], allowed(window, 8<<20), strings.NewReader(coded))
				if err != nil {
					b.Fatal(err)
				}
				e, err := k.encoder(c[1], io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				emit := func(p []byte) { e.Write(p) }
				stream.Reset()
				for err == nil {
					var n int
					n, err = d.Read(buffer)
					stream.FeedTo(buffer[:n], emit)
				}
				stream.FinishTo(emit)
				if e.Close() != nil || err != io.EOF {
					b.Fatal(err)
				}
				k.keepDecoder(c[0], allowed(window, 8<<20), d)
				k.keepEncoder(c[1], e)
			}
		})
	}
}
