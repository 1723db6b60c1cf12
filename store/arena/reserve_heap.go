//go:build !unix || race

package arena

import "unsafe"

// Lazy tells that a reservation costs memory only where it has been touched.
const Lazy = false

// reserve returns size zero bytes of the Go heap, aligned to 8.
func reserve(size int) ([]byte, error) {
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size), nil
}

func release([]byte) error { return nil }
func adviseHuge([]byte)    {}
