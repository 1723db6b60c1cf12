//go:build linux && (race || slabdebug)

package proxy

// instrumented: the race detector and slabdebug allocate.
const instrumented = true
