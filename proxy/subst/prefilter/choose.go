package prefilter

import "math"

// Choose finds the window in a stretch of places that is rarest in typical
// text: of Width places, or of all if there are fewer. It returns its offset in
// the stretch, the smaller one of equals, and how often to expect it, in hits
// per byte. The window is a part of the stretch, not a copy.
func Choose(stretch []Set) (offset int, window Window, rate float64) {
	n := min(Width, len(stretch))
	rate = math.Inf(1)
	for i := 0; i+n <= len(stretch); i++ {
		if r := Window(stretch[i : i+n]).rate(); r < rate {
			offset, rate = i, r
		}
	}
	return offset, Window(stretch[offset : offset+n : offset+n]), rate
}
