package gun

import (
	"errors"
	"syscall"

	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// outcomeOf names the reason why a connection has ended with a shot in
// flight.
func outcomeOf(reason error, connected bool) Outcome {
	var fault http1.Fault
	var number syscall.Errno
	switch {
	case reason == nil, errors.Is(reason, httpconn.ErrNoAnswer), errors.Is(reason, httpconn.ErrUnsent):
		return Closed
	case errors.Is(reason, httpconn.ErrTruncated):
		return Cut
	case errors.As(reason, &fault), errors.Is(reason, httpconn.ErrUnasked):
		return Malformed
	case errors.Is(reason, netloop.ErrMemory):
		return NoMemory
	case !errors.As(reason, &number):
		return Other
	}
	switch number {
	case syscall.ECONNREFUSED:
		return Refused
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM:
		return Unreachable
	case syscall.EADDRNOTAVAIL:
		return NoPorts
	case syscall.EMFILE, syscall.ENFILE:
		return NoFiles
	case syscall.ENOMEM, syscall.ENOBUFS:
		return NoMemory
	case syscall.ETIMEDOUT:
		if connected {
			return Timeout
		}
		return ConnectTimeout
	case syscall.ECONNRESET:
		return Reset
	case syscall.EPIPE:
		return Closed
	}
	return Other
}
