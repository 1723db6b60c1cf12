//go:build !amd64

package prefilter

func hasAVX2() bool { return false }
func hasVBMI() bool { return false }

func (f *Filter) nextVBMI(text []byte, from, positions int) int { return f.nextPlain(text, from) }
func (f *Filter) nextAVX2(text []byte, from, positions int) int { return f.nextPlain(text, from) }
func (s *Stop) nextVector(text []byte, from int) int            { return s.nextPlain(text, from) }
