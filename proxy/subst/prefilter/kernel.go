package prefilter

import "fmt"

// Kernel is a way to do the work. All give the same answers.
type Kernel uint8

// The kernels.
const (
	Auto  Kernel = iota // the best that the processor has
	Plain               // Go, byte by byte
	AVX2                // 32 bytes at once
	VBMI                // 64 bytes at once, with AVX-512 VBMI
)

func (k Kernel) String() string {
	switch k {
	case Auto:
		return "auto"
	case Plain:
		return "plain"
	case AVX2:
		return "AVX2"
	case VBMI:
		return "VBMI"
	}
	return fmt.Sprintf("Kernel(%d)", uint8(k))
}

// Supported tells whether processor and system have what a kernel needs.
func Supported(k Kernel) bool {
	switch k {
	case Auto, Plain:
		return true
	case AVX2:
		return hasAVX2()
	case VBMI:
		return hasVBMI()
	}
	return false
}

// resolve is the kernel to use when one is asked for.
func (k Kernel) resolve() Kernel {
	switch {
	case k == Auto && hasVBMI():
		return VBMI
	case k == Auto && hasAVX2():
		return AVX2
	case k == Auto:
		return Plain
	case !Supported(k):
		panic(fmt.Sprintf("prefilter: no %v on this processor", k))
	}
	return k
}
