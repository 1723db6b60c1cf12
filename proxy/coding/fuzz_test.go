package coding

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

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
			if bad == nil && err != ErrWindow && c != Deflate && len(coded) > 0 { // others are less strict about nothing at all
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
