package ammo

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A gzip file that ends early is an error wherever it does, unless between two
// members; the records before are given out.
func TestFileCutGzip(t *testing.T) {
	texts := []string{"3 a\nabc\n", "3 b\nxyz\n"}
	want := []string{`1 0 a "abc"`, `2 8 b "xyz"`}
	stored := zip(t, 6, texts...)
	between := len(zip(t, 6, texts[0]))
	for n := 2; n < len(stored); n++ {
		f := open(t, stored[:n])
		got, err := pass(f.Next)
		same(t, fmt.Sprintf("%d bytes", n), got, want[:len(got)])
		if n == between {
			if len(got) != 1 || err != io.EOF {
				t.Errorf("one member of two: got %v, %v", got, err)
			}
			continue
		}
		bad, ok := errors.AsType[*SyntaxError](err)
		if !ok || !bad.Unpacked || bad.Record != len(got)+1 || bad.File != f.Name() ||
			!strings.Contains(bad.Got, fmt.Sprintf("the end of the file after byte %d", n)) {
			t.Errorf("%d bytes of %d: %v", n, len(stored), err)
		}
		if _, again := f.Next(); again != err {
			t.Errorf("%d bytes: then %v", n, again)
		}
	}
}

// One flipped bit is noticed at the end at the latest, unless it lies where
// gzip keeps what does not matter (the time, padding): the standard library
// knows.
func TestFileFlippedGzip(t *testing.T) {
	const text = "3 a\nabc\n"
	stored := zip(t, 6, text)
	noticed := 0
	for i := range 8 * len(stored) {
		flipped := []byte(stored)
		flipped[i/8] ^= 1 << (i % 8)
		_, err := pass(readFile("f", bytes.NewReader(flipped)).Next)
		_, bad := errors.AsType[*SyntaxError](err)
		if bad {
			noticed++
		}
		if i/8 == 3 && i%8 >= 5 {
			if !bad {
				t.Errorf("a reserved flag was taken (RFC 1952, 2.3.1.2; the standard library does take it)")
			}
			continue
		}
		if unpacked, stdErr := unzip(flipped); bad == (stdErr == nil && unpacked == text) || !bad && err != io.EOF {
			t.Errorf("bit %d of byte %d flipped: %v, the standard library: %q, %v", i%8, i/8, err, unpacked, stdErr)
		}
	}
	if noticed < 6*len(stored) {
		t.Errorf("%d of %d bits matter", noticed, 8*len(stored))
	}
}

// unzip is what the standard library reads.
func unzip(stored []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// FuzzFile reads anything, plain and packed, and compares with the standard
// library's gzip where that can read it whole.
func FuzzFile(f *testing.F) {
	packed := zip(f, 6, "1 a\nx", "2 b\nxy\n0")
	for _, seed := range []string{"", "3 a\nabc", "0", "\x1f\x8b", packed, packed[:len(packed)-9], packed + "\n", zip(f, 0, "9 a\nx")} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		compare := func(stored []byte, text string) {
			got, err := pass(readFile("f", bytes.NewReader(stored)).Next)
			want, wantErr := pass(NewPhantomReader(strings.NewReader(text), "f", 0).Next)
			same(t, "against the text itself", got, want)
			if (err == io.EOF) != (wantErr == io.EOF) {
				t.Fatalf("got %v, want %v", err, wantErr)
			}
		}
		compare([]byte(zip(t, 1, string(stored))), string(stored))
		if !bytes.HasPrefix(stored, []byte("\x1f\x8b")) {
			compare(stored, string(stored))
			return
		}
		_, err := pass(readFile("f", bytes.NewReader(stored)).Next)
		if _, bad := errors.AsType[*SyntaxError](err); err != io.EOF && !bad {
			t.Fatalf("got %v", err)
		}
		text, stdErr := unzip(stored)
		if stdErr == nil && !strings.Contains(err.Error(), "no valid gzip header") { // ours is the stricter one
			compare(stored, text)
		}
	})
}
