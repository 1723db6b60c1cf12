// Package subst searches and replaces in streams: up to thousands of regular
// expressions at once, in one pass, exactly, with only those bytes held back
// that are part of a match that is still open. How the text is cut into pieces
// makes no difference to the output.
//
// Compile makes a [Set] of [Rule]s, which any number of goroutines share. A
// [Stream] replaces in one text: Feed it the pieces, then Finish. [NewReader]
// and [NewWriter] do so for an io.Reader and an io.Writer; [Set.FindAll] only
// finds, in a text that is all there; a [Library] makes equal sets one.
//
// # Which match wins
//
// Rules look at the text all at once, and not at each other's output. The match
// that begins leftmost wins. Of those that begin at the same place, with
// [Longest] the longest one wins, then the one of the earlier rule; with
// [First] the one of the earlier rule, then what Perl prefers, so that a*? and
// (a|ab) mean what they say. Matches do not overlap: the search goes on where
// the one before has ended.
//
// A rule without flag g replaces its first winning match only. Its later ones
// stay as they are, and no other rule matches inside them.
//
// An empty match counts where Go's ReplaceAll has one: not at the end of the
// match before, and not inside a UTF-8 sequence. Another rule does not get its
// place.
//
// ^ and \A match at the beginning of the text, $ and \z at its end; with (?m),
// ^ and $ at those of lines. What assertions see behind a match is the byte
// that was there in the text, not what was put in its place.
//
// # Bytes
//
// Expressions are text, but match bytes, so that a binary body, and UTF-8 that
// is broken or in another coding, passes unharmed:
//
//   - A dot takes one byte, any but \n; with (?s) also that. So does a class that
//     holds every rune beyond ASCII, such as [^a], \W, \S or \D. One é is two
//     bytes: a.c does not match aéc, a..c and a.+c do; s/./x/g makes xx of it.
//   - Other runes beyond ASCII, alone, in classes and as \x{e9} or \p{Greek}, take
//     their UTF-8. [^é] holds not every rune: it takes a single byte of ASCII, or
//     the whole UTF-8 of another rune, and no byte that is not part of any.
//   - \xff is the rune ÿ, two bytes. The byte FF itself has no name: [^\x00-\x7f]
//     takes any one from 80 on.
//   - \b, \B, \w, \d and \s know ASCII only, as everywhere in Go: é is no letter
//     to them, and \bx matches in éx.
//   - Flag i, or (?i), folds as Unicode does, but a letter of ASCII only with its
//     other form: k does not match K (U+212A), nor s the long ſ (U+017F). In a
//     class both do: (?i)[k].
//
// # The hold limit
//
// A match has at most Options.Hold bytes, 8 KB unless set: longer ones do not
// exist, and where no match from a place ends within the limit, none begins
// there and the search goes on behind its first byte. That is exact, and does
// not depend on pieces: a[^z]*z with a limit of 3 replaces az in abaz. An
// assertion may look one byte further. Stats count the places given up.
//
// # Who owns slices
//
// Feed takes a piece that is the caller's again when it returns, and appends
// output to a slice of the caller's. FeedTo passes on what it does not change as
// slices of the piece: they are valid as long as the piece is. The other slices
// that it emits, of bytes that had been held back and of replacements, are valid
// until the next FeedTo, FinishTo, Release or Reset of that stream. Nobody may
// write to any of them.
//
// # Memory and time
//
// A stream that holds nothing back takes less than 1 KB, or four bytes for each of
// many rules, and no allocation is made once it is warm: keep streams, and Reset them. A set keeps the states of
// its automaton that texts have led to, at most Options.Memory bytes of them (2
// MB, or 500 states if that is more); when they are full it begins anew, and where that does not pay the search
// goes on without keeping any, more slowly. Either way time is linear in the
// text.
//
// While nothing is open, the search goes past whatever no match can begin with or
// lead to, many bytes at a time (package prefilter). That takes rare bytes in each
// match of each rule: Info tells by which ones a rule is found, and warns of those
// that slow all others down.
package subst
