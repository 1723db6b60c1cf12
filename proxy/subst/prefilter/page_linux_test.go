package prefilter

import (
	"strings"
	"syscall"
	"testing"
)

// guarded is memory between two pages that must not be touched.
func guarded(t *testing.T) []byte {
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{memory[:page], memory[2*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return memory[page : 2*page]
}

// Texts of up to 300 bytes, each at the end of a page and at the beginning, from
// each place.
func TestPageEdges(t *testing.T) {
	eachKernel(t, func(t *testing.T, kernel Kernel) {
		page := guarded(t)
		copy(page, strings.Repeat(filler, len(page)/2))
		for _, s := range shapes() {
			f := s.finder(kernel)
			for length := range 301 {
				for _, text := range [][]byte{page[len(page)-length:], page[:length:length]} {
					for from := range length + 2 {
						if got, want := f.Next(text, from).At, max(from, length-f.Width()+1); got != want {
							t.Fatalf("%s: from %d of %d: %d, not %d", s.name, from, length, got, want)
						}
					}
				}
			}
		}
		for _, set := range []string{"", "a", "bc", "\x80\xff"} {
			stop := NewStop(setOf(set), kernel)
			for length := range 301 {
				for _, text := range [][]byte{page[len(page)-length:], page[:length:length]} {
					for from := range length + 2 {
						if got, want := stop.Next(text, from), max(from, length); got != want {
							t.Fatalf("%q: from %d of %d: %d, not %d", set, from, length, got, want)
						}
					}
				}
			}
		}
	})
}
