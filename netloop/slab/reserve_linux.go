//go:build linux && !race

package slab

import "golang.org/x/sys/unix"

const noReserve = unix.MAP_NORESERVE

// advise keeps clients' bytes, and gigabytes of address space, out of core
// dumps. Failure costs nothing but that.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTDUMP) }

// discard gives the memory behind b back to the system; b reads as zeros then.
// Where it fails, the memory merely stays.
func discard(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
