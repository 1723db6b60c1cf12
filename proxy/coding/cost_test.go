package coding

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// held is how many bytes live on the heap because of what f returns.
func held(f func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// manyKinds is text whose parts have little in common, so that coders change their tables.
func manyKinds(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for len(text) < size {
		letters := make([]byte, 2+r.IntN(60))
		for i := range letters {
			letters[i] = byte(r.IntN(256))
		}
		for range 20_000 {
			if r.IntN(10) == 0 && len(text) > 1000 {
				from := len(text) - 1 - r.IntN(min(len(text)-100, 1<<18))
				text = append(text, text[from:min(from+4+r.IntN(30), len(text))]...)
			}
			text = append(text, letters[r.IntN(len(letters))])
		}
	}
	return text[:size]
}

// What machines hold in the middle of a long body is what Cost says, or less.
func TestCost(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	text := manyKinds(12 << 20)
	type coded struct {
		from   Coding
		window int64
		make   func(w io.Writer) io.WriteCloser
	}
	list := []coded{
		{Gzip, deflateWindow, func(w io.Writer) io.WriteCloser { return encoderOf(Gzip, w) }},
		{Deflate, deflateWindow, func(w io.Writer) io.WriteCloser { return encoderOf(Deflate, w) }},
	}
	for _, bits := range []int{18, 20, 22, 23} {
		list = append(list, coded{Brotli, 1 << bits, func(w io.Writer) io.WriteCloser {
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 5, LGWin: bits})
		}})
	}
	for _, bits := range []int{18, 20, 22, 23} {
		list = append(list, coded{Zstd, 1 << bits, func(w io.Writer) io.WriteCloser {
			e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<bits), zstd.WithEncoderLevel(zstd.SpeedFastest))
			if err != nil {
				t.Fatal(err)
			}
			return e
		}})
	}
	check := func(what string, is, said, slack int64) {
		t.Logf("%-27s %5d KB, counted as %5d", what, is>>10, said>>10)
		if is > said || said > 2*is+slack {
			t.Errorf("%s takes %d KB, and is counted as %d", what, is>>10, said>>10)
		}
	}
	for _, c := range list {
		var b bytes.Buffer
		w := c.make(&b)
		w.Write(text)
		w.Close()
		window, v := Inspect(c.from, b.Bytes()[:32])
		if v != Fine || window > c.window || window < c.window-16 {
			t.Errorf("%v with a window of %d: Inspect says %d, %v", c.from, c.window, window, v)
		}
		is := int64(0)
		for part := range int64(3) {
			is = max(is, held(func() any {
				var k machines
				d, err := k.decoder(c.from, window, bytes.NewReader(b.Bytes()))
				if err == nil {
					_, err = io.CopyN(io.Discard, d, (part+1)*int64(len(text))/3-1000)
				}
				if err != nil {
					t.Error(err)
				}
				return d
			}))
		}
		slack := int64(128 << 10)
		if c.from == Brotli {
			slack = decoderCost(Brotli, 0) // this is for bodies that mean ill
		}
		check(fmt.Sprintf("decoder of %v, %d KB", c.from, c.window>>10), is, decoderCost(c.from, window), slack)
	}
	for _, c := range all[1:] {
		is := held(func() any {
			var k machines
			e, err := k.encoder(c, io.Discard)
			if err == nil {
				_, err = e.Write(text[:4<<20])
			}
			if err != nil {
				t.Error(err)
			}
			return e
		})
		check("encoder of "+c.String(), is, encoderCost(c), 0)
	}
	if n := Cost(Gzip, Gzip, deflateWindow); n > 2<<20 {
		t.Errorf("gzip to gzip is counted as %d KB", n>>10)
	}
}
