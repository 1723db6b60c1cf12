//go:build linux

package netloop

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the request path. They go straight to the kernel, which
// saves a sixth of a small request's time against package syscall's: that one
// tells the scheduler that the thread may block. These do not block: sockets
// are non-blocking, and waiting for events is blockForEvents' part alone.

func readSocket(fd int32, p []byte) (int, unix.Errno) {
	for {
		n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
		if e == 0 {
			return int(n), 0
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

// sendSocket sends without SIGPIPE.
func sendSocket(fd int32, p []byte) (int, unix.Errno) {
	for {
		n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
		if e == 0 {
			return int(n), 0
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

func writevSocket(fd int32, v []unix.Iovec) (int, unix.Errno) {
	for {
		n, _, e := syscall.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v)))
		if e == 0 {
			return int(n), 0
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

// writevMore sends like writev, but has the system wait for more before it
// makes a packet of the end: what follows at once is a shutdown, and its FIN
// then goes along.
func writevMore(fd int32, v []unix.Iovec) (int, unix.Errno) {
	var m unix.Msghdr
	m.Iov = unsafe.SliceData(v)
	m.SetIovlen(len(v))
	for {
		n, _, e := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), unix.MSG_MORE|unix.MSG_NOSIGNAL)
		if e == 0 {
			return int(n), 0
		}
		if e != unix.EINTR {
			return 0, e
		}
	}
}

func acceptSocket(fd int32) (int32, unix.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), 0, 0, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	if e != 0 {
		return -1, e
	}
	return int32(n), 0
}

func shutdownSocket(fd int32) { syscall.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_WR, 0) }

// closeSocket does not repeat after EINTR: the descriptor is gone all the
// same, and its number may already be another's.
func closeSocket(fd int32) { syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// resetOnClose makes close send a reset.
func resetOnClose(fd int32) {
	_ = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// epollEvent is the kernel's struct. Its 64 bits of data are in two fields.
type epollEvent = unix.EpollEvent

func eventTag(e *epollEvent) uint64 { return uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32 }

func tagged(events uint32, tag uint64) epollEvent {
	return epollEvent{Events: events, Fd: int32(uint32(tag)), Pad: int32(uint32(tag >> 32))}
}

func controlEpoll(ep, op int, fd int32, e *epollEvent) unix.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(ep), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(e)), 0, 0)
	return errno
}

// pollEvents returns the events there are.
func pollEvents(ep int, events []epollEvent) (int, unix.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// blockForEvents waits up to so many milliseconds, or for ever if negative.
// The scheduler knows, and gives the processor to others.
func blockForEvents(ep int, events []epollEvent, milliseconds int) (int, unix.Errno) {
	n, _, e := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(milliseconds), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}
