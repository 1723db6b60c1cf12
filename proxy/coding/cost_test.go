package coding

import (
	"bytes"
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

// What machines hold in the middle of a long body is what Cost says, or less.
func TestCost(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 24<<20)
	for i := range text {
		text[i] = "etaoin shrdlu<>/=\n"[r.IntN(18)]
	}
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
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 1, LGWin: bits})
		}})
		list = append(list, coded{Zstd, 1 << bits, func(w io.Writer) io.WriteCloser {
			e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<bits), zstd.WithEncoderLevel(zstd.SpeedFastest))
			if err != nil {
				t.Fatal(err)
			}
			return e
		}})
	}
	for _, c := range list {
		var b bytes.Buffer
		w := c.make(&b)
		w.Write(text)
		w.Close()
		window, v := Inspect(c.from, b.Bytes()[:32])
		if v != Fine || window > c.window || window < c.window/2 {
			t.Errorf("%v with a window of %d: Inspect says %d, %v", c.from, c.window, window, v)
		}
		is := held(func() any {
			var k machines
			src := bytes.NewReader(b.Bytes())
			d, err := k.decoder(c.from, window, src)
			if err == nil {
				_, err = io.CopyN(io.Discard, d, 20<<20)
			}
			if err != nil {
				t.Error(err)
			}
			return d
		})
		said := decoderCost(c.from, window)
		t.Logf("decoder of %v, window %4d KB: %5d KB, Cost says %5d", c.from, c.window>>10, is>>10, said>>10)
		if is > said || said > 3*is+256<<10 {
			t.Errorf("decoder of %v, window %d KB: %d KB, Cost says %d", c.from, c.window>>10, is>>10, said>>10)
		}
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
		said := encoderCost(c)
		t.Logf("encoder of %v: %5d KB, Cost says %5d", c, is>>10, said>>10)
		if is > said || said > 3*is+256<<10 {
			t.Errorf("encoder of %v: %d KB, Cost says %d", c, is>>10, said>>10)
		}
	}
	if n := Cost(Gzip, Gzip, deflateWindow); n > 2<<20 {
		t.Errorf("gzip takes %d bytes", n)
	}
}
