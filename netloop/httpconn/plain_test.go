//go:build !race && !slabdebug

package httpconn

const instrumented = false
