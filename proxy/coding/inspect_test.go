package coding

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func TestInspect(t *testing.T) {
	f := func(c Coding, first string, window int64, want Verdict) {
		t.Helper()
		if w, v := Inspect(c, []byte(first)); w != window || v != want {
			t.Errorf("%v %q: %d %d, want %d %d", c, first, w, v, window, want)
		}
	}
	for _, c := range all {
		f(c, "", 0, NeedMore)
	}
	f(Gzip, "\x1f", 0, NeedMore)
	f(Gzip, "\x1f\x8b", 0, NeedMore)
	f(Gzip, "\x1f\x8b\x08", 32<<10, Fine)
	f(Gzip, "\x1f\x8b\x07", 0, Wrong)
	f(Gzip, "<", 0, Wrong)
	f(Gzip, "\x1f<", 0, Wrong)
	f(Zstd, "\x28\xb5\x2f", 0, NeedMore)
	f(Zstd, "\x28\xb5\x2e", 0, Wrong)
	f(Zstd, "\x28\xb5\x2f\xfd", 0, NeedMore)
	f(Zstd, "\x28\xb5\x2f\xfd\x00\x00", 1<<10, Fine)  // the smallest window
	f(Zstd, "\x28\xb5\x2f\xfd\x00\x68", 8<<20, Fine)  // 2^(10+13)
	f(Zstd, "\x28\xb5\x2f\xfd\x00\x6f", 15<<20, Fine) // ... and seven eighths
	f(Zstd, "\x28\xb5\x2f\xfd\x20\x05", 5, Fine)      // a single segment
	f(Zstd, "\x5a\x2a\x4d", 0, NeedMore)
	f(Zstd, "\x5a\x2a\x4d\x18", 0, Fine)
	f(Zstd, "\x6a\x2a\x4d\x18", 0, Wrong)
	f(Brotli, "\x11", 1<<30, Fine) // large windows

	for bits := 10; bits <= 24; bits++ {
		var b bytes.Buffer
		w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: 5, LGWin: bits})
		io.WriteString(w, "hello")
		w.Close()
		if window, v := Inspect(Brotli, b.Bytes()[:1]); v != Fine || window != 1<<bits-16 {
			t.Errorf("br with %d bits: %d, %d", bits, window, v)
		}
	}
	for bits := 10; bits <= 29; bits++ {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<bits), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "hello")
		w.Flush()
		io.WriteString(w, "hello")
		w.Close()
		for n := 4; n < 18; n++ {
			if window, v := Inspect(Zstd, b.Bytes()[:n]); v == Wrong || v == Fine && window != 1<<bits {
				t.Errorf("zstd with %d bits, %d bytes: %d, %d", bits, n, window, v)
			}
		}
	}
}

// A window that turns out to be larger than was said ends the body.
func TestWindow(t *testing.T) {
	coded := func(bits int) string {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<bits), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "hello ")
		w.Flush()
		w.Close()
		return b.String()
	}
	p := NewPool(Options{Window: 1 << 20})
	defer p.Close()
	for _, c := range []struct {
		body, want string
		bad        bool
	}{
		{coded(20), "hello ", false}, {coded(20) + coded(18), "hello hello ", false}, {coded(20) + coded(21), "hello ", true}, {coded(23), "", true},
	} {
		o := own(t, p, Job{From: Zstd, To: Identity})
		o.body.Write([]byte(c.body))
		o.body.End()
		if got, err := o.finish(); got != c.want || c.bad != (err != nil) {
			t.Errorf("%q %v, want %q", got, err, c.want)
		}
	}
}

// What this package decodes is what the libraries make of the whole, in whatever pieces.
func FuzzDecode(f *testing.F) {
	for i, c := range all {
		f.Add(byte(i), byte(3), []byte(encode(f, c, "hello aab hello aab zzz")))
	}
	pool := NewPool(Options{})
	f.Cleanup(pool.Close)
	f.Fuzz(func(t *testing.T, number, piece byte, coded []byte) {
		c := all[int(number)%len(all)]
		o := own(t, pool, Job{From: c, To: Gzip})
		for rest := coded; len(rest) > 0; {
			n := min(len(rest), int(piece)+1)
			o.body.Write(rest[:n])
			rest = rest[n:]
			for o.body.Full() {
				o.turn()
			}
		}
		o.body.End()
		for !o.done {
			if o.turn(); o.out.Len() > 64<<10 { // in gzip that is much
				o.body.Stop()
				return
			}
		}
		out, err := o.finish()
		want, bad := decode(c, string(coded))
		switch {
		case err != nil:
			if _, whole := decode(Gzip, out); whole == nil {
				t.Errorf("%v: %v, and what comes out is whole", c, err)
			}
			if bad == nil && c != Deflate && len(coded) > 0 { // others are less strict about nothing at all
				t.Errorf("%v: %v, which the library takes: %q", c, err, want)
			}
		default:
			z, bad2 := gzip.NewReader(bytes.NewReader([]byte(out)))
			if bad2 != nil {
				t.Fatal(bad2)
			}
			got, _ := io.ReadAll(z)
			if bad == nil && string(got) != want {
				t.Errorf("%v: %q, want %q", c, got, want)
			}
		}
	})
}
