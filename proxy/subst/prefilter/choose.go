package prefilter

import "math"

// Choose finds the window in a stretch of places that is rarest in typical
// text: of Width places, or of all if there are fewer. It returns its offset in
// the stretch, the smaller one of equals, and how often to expect it, in hits
// per byte. The window is a part of the stretch, not a copy.
func Choose(stretch []Set) (offset int, window Window, rate float64) {
	n := min(Width, len(stretch))
	rate = math.Inf(1)
	places := make([]place, len(stretch))
	for k := range stretch {
		if k > 0 && stretch[k] == stretch[k-1] {
			places[k] = places[k-1]
		} else {
			places[k] = placeOf(&stretch[k])
		}
	}
	for i := 0; i+n <= len(stretch); i++ {
		var w walk
		for k := range n {
			w.goOn(&places[i+k])
		}
		if r := w.rate(); r < rate {
			offset, rate = i, r
		}
	}
	return offset, Window(stretch[offset : offset+n : offset+n]), rate
}
