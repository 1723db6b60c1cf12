//go:build race || slabdebug

package httpconn

const instrumented = true // and so slower, and allocating
