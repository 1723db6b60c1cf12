//go:build !amd64

package prefilter

const avx2Block = 32

func hasAVX2() bool { return false }
func hasVBMI() bool { return false }

func (f *filter) blockVBMI([]byte, int, int) (int, uint64) { panic("prefilter: no VBMI here") }
func (f *filter) blockAVX2([]byte, int, int) (int, uint64) { panic("prefilter: no AVX2 here") }
func (s *Stop) nextVector(text []byte, from int) int       { return s.nextPlain(text, from) }
