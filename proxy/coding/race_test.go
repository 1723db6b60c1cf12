//go:build race

package coding

// instrumented: the race detector allocates, and is slow.
const instrumented = true
