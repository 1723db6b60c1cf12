package prefilter

import "testing"

// FuzzNext makes windows of bytes: a width, then for each place how many bytes
// to add from which on; and looks for them with every kernel.
func FuzzNext(f *testing.F) {
	f.Add([]byte("the quick brown fox jumps over the lazy dog, and again, and again"), []byte("\x02\x00t\x00h"))
	f.Add([]byte("\x00\x7f\x80\xff\x00\x7f\x80\xff\x00\x7f\x80\xff\x00\x7f\x80\xff\x00\x7f\x80\xff\x00\x7f\x80\xff\x00\x7f\x80\xff\x00\x7f\x80\xff\x00"), []byte("\x04\x00\x80\x00\xff\x00\x00\x00\x7f\x01\xff\x00"))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), []byte("\x01\x00b\x03\x00a\x00a\x00b"))
	f.Add([]byte(""), []byte(""))
	f.Fuzz(func(t *testing.T, text, spec []byte) {
		if len(text) > 1000 || len(spec) > 1000 {
			t.Skip("too long to ask from every place")
		}
		var windows []Window
		for len(spec) > 0 {
			width := int(spec[0])%Width + 1
			spec = spec[1:]
			var w Window
			for ; width > 0 && len(spec) > 1; width-- {
				var set Set
				for i := range int(spec[0]) + 1 {
					c := spec[1] + byte(i)
					set[c>>6] |= 1 << (c & 63)
				}
				w, spec = append(w, set), spec[2:]
			}
			if w == nil {
				break
			}
			windows = append(windows, w)
		}
		for _, kernel := range []Kernel{Plain, AVX2, VBMI} {
			if !Supported(kernel) {
				continue
			}
			for _, most := range []int{slim, fat} {
				join(windows[:min(len(windows), mostOpen)], most, kernel).compare(t, text)
			}
			if len(windows) > 0 {
				compareStop(t, windows[0][0], kernel, text)
			}
		}
	})
}
