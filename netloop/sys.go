//go:build linux

package netloop

import (
	"os"
	"syscall"
	"time"
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

// quietSocket tells that a read would wait: no input, no end, no error.
func quietSocket(fd int32) bool {
	var b [1]byte
	_, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b)), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	return e == unix.EAGAIN
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

// acceptSocket accepts a connection, and tells who has made it. To ask later may
// be too late: a socket whose peer has reset it knows its address no more.
func acceptSocket(fd int32) (int32, sockaddr, unix.Errno) {
	var s sockaddr
	s.size = uint32(unsafe.Sizeof(s.six))
	n, _, e := syscall.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&s.six)), uintptr(unsafe.Pointer(&s.size)), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	if e != 0 {
		return -1, s, e
	}
	return int32(n), s, 0
}

// makeSocket makes a TCP socket that does not block.
func makeSocket(family int) (int32, unix.Errno) {
	fd, _, e := syscall.RawSyscall(unix.SYS_SOCKET, uintptr(family), unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if e != 0 {
		return -1, e
	}
	return int32(fd), 0
}

func bindSocket(fd int32, to *sockaddr) unix.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&to.six)), uintptr(to.size))
	return e
}

// connectSocket begins to connect. An interrupted connect goes on, like one in
// progress.
func connectSocket(fd int32, to *sockaddr) unix.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to.six)), uintptr(to.size))
	if e == unix.EINPROGRESS || e == unix.EINTR {
		return 0
	}
	return e
}

func localAddr(fd int32) (sockaddr, unix.Errno)  { return socketAddr(unix.SYS_GETSOCKNAME, fd) }
func remoteAddr(fd int32) (sockaddr, unix.Errno) { return socketAddr(unix.SYS_GETPEERNAME, fd) }

func socketAddr(call uintptr, fd int32) (s sockaddr, errno unix.Errno) {
	s.size = uint32(unsafe.Sizeof(s.six))
	_, _, errno = syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&s.six)), uintptr(unsafe.Pointer(&s.size)))
	return s, errno
}

func setOption(fd int32, level, name, value int) error {
	v := int32(value)
	_, _, e := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name), uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v), 0)
	if e != 0 {
		return os.NewSyscallError("setsockopt", e)
	}
	return nil
}

// socketError is the error that the socket has met, or what came of asking.
func socketError(fd int32) unix.Errno {
	var code int32
	size := uint32(unsafe.Sizeof(code))
	_, _, e := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_ERROR, uintptr(unsafe.Pointer(&code)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return e
	}
	return unix.Errno(code)
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

// blockForEvents waits up to d, or for ever if that is never. The scheduler
// knows, and gives the processor to others.
func blockForEvents(ep int, events []epollEvent, d time.Duration) (int, unix.Errno) {
	var limit *unix.Timespec
	if d != never {
		ts := unix.NsecToTimespec(int64(d))
		limit = &ts
	}
	n, _, e := syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// napForEvents waits up to d, of which the scheduler does not know: it thinks
// that the thread works. A signal of its ends the wait.
func napForEvents(ep int, events []epollEvent, d time.Duration) (int, unix.Errno) {
	limit := unix.NsecToTimespec(int64(d))
	n, _, e := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(unsafe.Pointer(&limit)), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// blockForMilliseconds is blockForEvents where the system has only this (before
// Linux 5.11). Negative is for ever.
func blockForMilliseconds(ep int, events []epollEvent, milliseconds int) (int, unix.Errno) {
	n, _, e := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), uintptr(milliseconds), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), 0
}

// sleepExactly has the thread's sleeps end as near to their time as the system
// can. Otherwise it gathers those that end within 50 µs of each other.
func sleepExactly() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }
