package coding

import (
	"io"
	"strings"
	"testing"
)

// A body that is cut anywhere ends with an error, and what comes out is not whole. It is
// all that could be decoded, but for what may be the beginning of a match.
func TestCuts(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	text := strings.Repeat("hello zzz aab ", 20)
	for _, from := range all {
		coded := encode(t, from, text)
		for _, to := range all {
			for cut := range coded {
				for _, end := range []bool{false, true} { // as whole, or not
					if end && from == Identity {
						continue // it is whole then
					}
					o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
					o.body.Write([]byte(coded[:cut]))
					if end {
						o.body.End()
					} else {
						o.body.Cut()
					}
					out, err := o.finish()
					if err == nil || !end && err != ErrCut {
						t.Fatalf("%v to %v, cut at %d of %d: %v", from, to, cut, len(coded), err)
					}
					if _, bad := decode(to, out); to != Identity && bad == nil && out != "" {
						t.Fatalf("%v to %v, cut at %d of %d: looks whole", from, to, cut, len(coded))
					}
					got, known := partly(to, []byte(out)), replaced(partly(from, []byte(coded[:cut])))
					if !strings.HasPrefix(known, got) || len(known)-len(got) > 2 { // aa, or zz
						t.Fatalf("%v to %v, cut at %d of %d: %q of %q", from, to, cut, len(coded), got, known)
					}
				}
			}
		}
	}
}

// Where a byte is another one, a body ends, and says so if its coding has a sum.
func TestWrongBytes(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	text := strings.Repeat("hello zzz aab ", 5)
	for i, from := range all[1:] {
		coded := []byte(encode(t, from, text))
		to := all[i]
		for at := range coded {
			for _, bits := range []byte{1, 0x80, 0xff} {
				coded[at] ^= bits
				o := own(t, p, Job{From: from, To: to})
				o.body.Write(coded)
				o.body.End()
				out, err := o.finish()
				got, bad := decode(to, out)
				switch {
				case err == nil && (bad != nil || got != text && from != Brotli):
					t.Errorf("%v, byte %d ^ %#x: %v, %q", from, at, bits, bad, got)
				case err != nil && bad == nil && to != Identity && out != "":
					t.Errorf("%v, byte %d ^ %#x: %v, and it looks whole", from, at, bits, err)
				}
				coded[at] ^= bits
			}
		}
	}
}

type panics struct{}

func (*panics) Read([]byte) (int, error) { var none []byte; return int(none[3]), nil }
func (*panics) begin(io.Reader) error    { return nil }

// A decoder that panics costs its body.
func TestPanic(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	p.kept.decoders[Gzip][windowClass(allowed(0, p.Window()))].Put(new(panics))
	for range 100 { // a sync.Pool may lose what it has, and does under the race detector
		o := own(t, p, Job{From: Gzip})
		o.body.Write([]byte(encode(t, Gzip, "hello")))
		o.body.End()
		if out, err := o.finish(); out != "hello" || err != nil {
			if err == nil || !strings.Contains(err.Error(), "index out of range") {
				t.Errorf("%q, %v", out, err)
			}
			return
		}
		p.kept.decoders[Gzip][windowClass(allowed(0, p.Window()))].Put(new(panics))
	}
	t.Error("it never came to it")
}
