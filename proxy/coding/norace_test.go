//go:build !race

package coding

const instrumented = false
