//go:build race

package gun

const instrumented = true // and so slower, and allocating
