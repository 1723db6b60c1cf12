package ammo

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkFile reads records of the contest's size: how much of a core feeding
// a gun takes.
func BenchmarkFile(b *testing.B) {
	var text bytes.Buffer
	w := NewPhantomWriter(&text)
	for range 100_000 {
		w.Write("GET:/users/<entity_id>", []byte("GET /users/1 HTTP/1.1\r\n"+strings.Repeat("x", 200)))
	}
	w.Flush()
	for name, stored := range map[string]string{"plain": text.String(), "gzip": zip(b, gzip.DefaultCompression, text.String())} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a.ammo")
			if err := os.WriteFile(path, []byte(stored), 0o600); err != nil {
				b.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			b.SetBytes(int64(text.Len() / 100_000))
			for b.Loop() { // one record
				if _, err := f.Next(); err == io.EOF {
					if err := f.Rewind(); err != nil {
						b.Fatal(err)
					}
				} else if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
