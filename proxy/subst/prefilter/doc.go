// Package prefilter finds the next place of a text where any of many rules
// could possibly match: it lets a matcher skip what cannot matter.
//
// Of each rule it takes a [Window]: up to four places that follow one another,
// with a set of bytes for each. [Choose] finds the window of a rule that is
// rarest in typical text. A [Filter] puts the windows into 8 or 16 buckets, where
// windows of one bucket are joined place by place: "ab" and "cd" become
// "[ac][bd]". For each place a table tells in which buckets a byte may stand
// there; a window begins at i if the masks that the tables have for text[i],
// text[i+1], ... have a bit in common. There are no false negatives; what comes
// of joining windows is for the matcher to find out.
//
// That is done for 64 bytes at once with AVX-512 VBMI, whose permutations look
// up 128 entries; for 32 with AVX2, whose look-ups have 16 entries, so that
// tables are for each half of a byte, let more through, and what they let
// through is checked; and byte by byte elsewhere. The answer is the same. In GB/s,
// on one core of an AMD EPYC (Zen 4), where nothing is found:
//
//	                        VBMI   AVX2   plain
//	8 buckets                 33     14     1.8
//	  ... with bytes >= 0x80  20     14     1.8
//	16 buckets                20      7     1.8
//	  ... with bytes >= 0x80  10      7     1.8
//
// A [Stop] is the simpler thing for one place: the next byte that is in a set.
//
// Nothing reads outside the text, be it masked out or not.
package prefilter
