//go:build linux

package proxy

import (
	"errors"

	"golang.org/x/sys/unix"

	"redoubt/netloop"
)

// reasonText says in a log's words why a connection has ended.
func reasonText(err error) string {
	switch {
	case err == nil:
		return "the connection was closed"
	case errors.Is(err, netloop.ErrCut):
		return "still under way when the time to drain was over"
	case errors.Is(err, unix.ECONNREFUSED):
		return "refused"
	case errors.Is(err, unix.ECONNRESET):
		return "reset"
	case errors.Is(err, unix.ETIMEDOUT):
		return "timed out"
	}
	return err.Error()
}

// isOurs tells that the proxy lacked something, and the server did not.
func isOurs(err error) bool {
	for _, ours := range []error{netloop.ErrMemory, unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}
