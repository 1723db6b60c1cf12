//go:build linux

package netloop

import "testing"

// A read brings no more than was asked for, and all comes all the same.
func TestSetReadSize(t *testing.T) {
	for _, c := range []struct{ ask, want int }{{1, 1 << 10}, {4 << 10, 4 << 10}, {1 << 20, 256 << 10}} {
		most, total := 0, 0
		done := make(chan struct{})
		const size = 300_000
		h := &funcs{data: func(_ *Conn, in []byte) int {
			most, total = max(most, len(in)), total+len(in)
			if total == size {
				close(done)
			}
			return len(in)
		}}
		r := start(t, Options{}, all(h))
		r.on(0, func(l *Loop) { l.SetReadSize(c.ask) })
		p := r.dial()
		p.Write(make([]byte, size))
		wait(t, "all of it", done)
		if most > c.want {
			t.Errorf("SetReadSize(%d): a read of %d bytes", c.ask, most)
		}
	}
}
