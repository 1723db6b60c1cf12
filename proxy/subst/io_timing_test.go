package subst

import (
	"fmt"
	"io"
	"testing"
)

func BenchmarkWriter(b *testing.B) {
	text, _ := tagged(100)
	for _, size := range []int{100, 16 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			piece := []byte(text)[:size]
			b.SetBytes(int64(size))
			w := NewWriter(io.Discard, tags(b))
			for b.Loop() {
				w.Write(piece)
			}
		})
	}
}
