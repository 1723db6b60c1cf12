package prefilter

// In plain Go the buckets that are still possible are shifted along: 16 bits
// for each place, where a bit means that the bucket is out. A byte of text moves
// all up by one place and adds what it rules out. A window is complete when a bit
// of the top 16 is missing.

const complete = 0xffff << 48 // less than this

// start is what there is before the first byte: the first place comes into the
// lowest 16 bits if there are four, higher up if there are fewer.
func (f *filter) start() uint64 { return ^uint64(0) << (16 * (Width - f.width)) }

func (f *filter) fillMissing(buckets []bucket) {
	f.missing = new(missing)
	for c := range f.missing {
		out := f.start()
		for k := range f.width {
			for i := range buckets {
				if buckets[i].sets[k].has(byte(c)) {
					out &^= 1 << (16*(Width-f.width+k) + i)
				}
			}
		}
		f.missing[c] = out
	}
}

func (f *filter) nextPlain(text []byte, from int) int {
	out, missing := f.start(), f.missing
	for i, c := range text[from:] {
		if out = out<<16 | missing[c]; out < complete {
			return from + i - (f.width - 1)
		}
	}
	return len(text) - (f.width - 1)
}
