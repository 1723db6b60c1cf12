//go:build linux && race

package gun

// memory is what the loops' buffers may take. For the race detector they are in
// Go's heap, which clears all of it for each run.
const memory = 64 << 20
