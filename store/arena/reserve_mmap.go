//go:build unix && !race

package arena

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Lazy tells that a reservation costs memory only where it has been touched.
const Lazy = true

// reserve returns size zero bytes that start at a page.
func reserve(size int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return nil, fmt.Errorf("cannot reserve %d MB of address space: %w", size>>20, err)
	}
	advise(b)
	return b, nil
}

func release(b []byte) error {
	if b == nil {
		return nil
	}
	if err := unix.Munmap(b); err != nil {
		return errors.Join(errors.New("cannot give back a reservation"), err)
	}
	return nil
}
