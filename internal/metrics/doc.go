// Package metrics counts for one writer and many readers, and writes what was
// counted in Prometheus's text format.
//
// A [Counter], [Gauge] or [Histogram] belongs to one goroutine, as a rule an
// event loop's, that alone changes it; anyone may read it at any time. So to
// count costs an addition, and no locked instruction. Each loop has a struct of
// its own for all that it counts, and whoever writes the text adds them up.
// That struct must be allocated for itself and share no cache line with another
// loop's: where it has less than 512 bytes, a [Pad] at its begin and its end
// keeps others away. (Go aligns larger objects to cache lines.)
//
// Zero values are ready for use.
package metrics
