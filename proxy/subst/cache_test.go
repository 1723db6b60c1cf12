package subst

import "testing"

// What stateAt makes of rows, for all strides and as many rows as there can be.
func TestRowsAreDividedExactly(t *testing.T) {
	for stride := uint64(1); stride <= 256; stride++ {
		inv := (1<<32-1)/stride + 1
		for n := uint64(0); n*stride < 1<<31; n += 1 + n/1000 {
			if n*stride*inv>>32 != n {
				t.Fatal(stride, n)
			}
		}
	}
}
