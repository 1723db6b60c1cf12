// Package prefilter finds the next place of a text where any of many rules
// could possibly match: it lets a matcher skip what cannot matter.
//
// Of each rule it takes a [Window]: up to four places that follow one another,
// with a set of bytes for each. [Choose] finds the window of a rule that is rarest
// in typical text, by how often bytes come there and follow one another. With the
// places around it, it is a [Stretch].
//
// A [Finder] puts the windows into 8 or 16 buckets, where windows of one bucket are
// joined place by place: "ab" and "cd" become "[ac][bd]". For each place a table
// tells in which buckets a byte may stand there; a window begins at i if the masks
// that the tables have for text[i], text[i+1], ... have a bit in common. Where one
// does, the finder looks around: it goes over the stretches of those buckets, or,
// of many, over those with the same byte at one place, and tells whether one is
// there. Nothing is passed over, and what remains of a stretch beyond the text or
// 64 places from the window is for the matcher to find out.
//
// Windows are found among 64 bytes at once with AVX-512 VBMI, whose permutations look
// up 128 entries, for the low seven bits of a byte; among 32 with AVX2, whose look-ups have 16 entries, so that
// tables are for each half of a byte and there is more to look at; and byte by byte
// elsewhere. If there is one window only, the vectors compare the two rarest bytes
// of it. What is found is the same. In GB/s, on one core of an AMD EPYC (Zen 4),
// where nothing is looked at:
//
//	            VBMI   AVX2   plain
//	8 buckets     38     14     1.8
//	16 buckets    22      7     1.8
//
// A look costs 40 to 60 ns with its way back to the text. In a page that has none of
// so many words of 8 to 12 letters, all of them made like its own:
//
//	              looks per byte   VBMI   AVX2   plain
//	10 words             0.00004     30     12     1.8
//	100 words            0.0044     3.6    1.3     1.4   (AVX2: 0.019)
//	1000 words           0.31      0.08   0.07    0.06   (AVX2: 0.37)
//
// A [Stop] is the simpler thing for one place: the next byte that is in a set.
//
// Nothing reads outside the text, be it masked out or not.
package prefilter
