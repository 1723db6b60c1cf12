//go:build linux && race

package proxy

// instrumented: the race detector allocates.
const instrumented = true
