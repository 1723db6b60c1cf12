//go:build linux && !race && !slabdebug

package proxy

const instrumented = false
