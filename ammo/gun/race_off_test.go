//go:build !race

package gun

const instrumented = false
