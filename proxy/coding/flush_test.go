package coding

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"redoubt/proxy/subst"
)

// What a server has flushed comes out before more goes in.
func TestFlushes(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, from := range all {
		for _, to := range all {
			t.Run(fmt.Sprint(from, " to ", to), func(t *testing.T) {
				o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
				var b bytes.Buffer
				w := encoderOf(from, &b)
				text := ""
				for i := range 5 {
					event := fmt.Sprintf("data: %d aab\n\n", i)
					text += replaced(event)
					io.WriteString(w, event)
					w.Flush()
					o.body.Write(b.Bytes())
					b.Reset()
					for !strings.HasPrefix(partly(to, o.out.Bytes()), text) {
						o.turn()
					}
				}
				w.Close()
				o.body.Write(b.Bytes())
				o.body.End()
				coded, err := o.finish()
				if got, bad := decode(to, coded); err != nil || bad != nil || got != text {
					t.Errorf("%v %v %q, want %q", err, bad, got, text)
				}
			})
		}
	}
}

// A match over the end of a piece that the server has flushed is one, and only what may be
// of it is held back.
func TestMatchOverFlush(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, from := range all {
		for _, to := range all {
			o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
			var b bytes.Buffer
			w := encoderOf(from, &b)
			send := func(text string) {
				io.WriteString(w, text)
				w.Flush()
				o.body.Write(b.Bytes())
				b.Reset()
			}
			send("hello aa")
			for partly(to, o.out.Bytes()) != "hello " {
				o.turn()
			}
			send("ab zz")
			for partly(to, o.out.Bytes()) != "hello <aaab> " {
				o.turn()
			}
			w.Close()
			o.body.Write(b.Bytes())
			o.body.End()
			coded, err := o.finish()
			if got, bad := decode(to, coded); err != nil || bad != nil || got != "hello <aaab> zz" {
				t.Errorf("%v to %v: %v %v %q", from, to, err, bad, got)
			}
		}
	}
}

// There is one flush for what a server has flushed, however small its pieces are, and none
// for a body that is there as a whole: the output is what the encoder makes of as many.
func TestFlushesOnce(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, from := range []Coding{Gzip, Deflate, Zstd} { // br's decoder gives out what has come of a block
		for _, to := range all[1:] {
			for _, flush := range []bool{true, false} {
				written := make(chan bool)
				if flush {
					close(written)
				}
				o := own(t, p, Job{From: from, To: to, Stream: func() *subst.Stream { <-written; return nil }})
				var in, want bytes.Buffer
				w := encoderOf(from, &in)
				e, err := newEncoder(to)
				if err != nil {
					t.Fatal(err)
				}
				e.Reset(&want)
				text := ""
				for i := range 20 {
					event := fmt.Sprintf("data: %d hello hello\n\n", i*i)
					text += event
					io.WriteString(w, event)
					io.WriteString(e, event)
					if !flush {
						continue
					}
					e.Flush()
					w.Flush()
					for _, c := range in.Bytes() {
						o.body.Write([]byte{c})
						o.drained()
					}
					in.Reset()
					for partly(to, o.out.Bytes()) != text {
						o.turn()
					}
				}
				w.Close()
				e.Close()
				o.body.Write(in.Bytes())
				if o.body.End(); !flush {
					close(written)
				}
				if got, err := o.finish(); err != nil || got != want.String() {
					t.Errorf("%v to %v, flushed: %t: %v, %d bytes, want %d", from, to, flush, err, len(got), want.Len())
				}
			}
		}
	}
}
