//go:build linux && !race

package gun

// memory is what the loops' buffers may take. It is address space until it is
// used.
const memory = 1 << 30
