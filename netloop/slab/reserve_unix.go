//go:build unix && !race

package slab

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// reserve returns size zero bytes that start at a page and take memory only
// where they are touched.
func reserve(size int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return nil, fmt.Errorf("slab: cannot reserve %d KB of address space: %w", size>>10, err)
	}
	advise(b)
	return b, nil
}

func release(b []byte) error {
	if err := unix.Munmap(b); err != nil {
		return errors.Join(errors.New("slab: cannot give back a reservation"), err)
	}
	return nil
}
