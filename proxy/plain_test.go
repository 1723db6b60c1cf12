//go:build linux && !race

package proxy

const instrumented = false
