//go:build linux

package netloop

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Listener accepts connections on all loops of a group: each loop has a socket
// of its own on the same address, and the system spreads connections over
// them.
type Listener struct {
	addr    netip.AddrPort
	accept  func(*Conn) Handler
	sockets []int32
}

// listening is a listener on one loop.
type listening struct {
	*Listener
	fd      int32
	tag     uint64
	paused  bool // out of epoll, since there may be no more connections now
	emptied bool // its queue has been empty since new connections are refused
}

// Listen opens addr, HOST:PORT or :PORT for all addresses of the machine, on
// all loops. accept is called on a loop's thread for each new connection and
// returns its handler. Port 0 picks a free one. It must be called before Run.
func (g *Group) Listen(addr string, accept func(*Conn) Handler) (*Listener, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.started {
		return nil, errors.New("netloop: Listen after Run")
	}
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	ls := &Listener{accept: accept}
	if err := ls.open(resolved.AddrPort(), len(g.loops)); err != nil {
		ls.closeSockets()
		return nil, fmt.Errorf("tcp %s: %w", addr, err)
	}
	for i, l := range g.loops {
		if err := l.listen(ls, ls.sockets[i]); err != nil {
			for _, l := range g.loops[:i] {
				l.listening = l.listening[:len(l.listening)-1]
			}
			ls.closeSockets()
			return nil, err
		}
	}
	g.listeners = append(g.listeners, ls)
	return ls, nil
}

// Addr is where the listener listens.
func (ls *Listener) Addr() netip.AddrPort { return ls.addr }

func (ls *Listener) open(addr netip.AddrPort, sockets int) error {
	to := makeSockaddr(addr)
	for i := range sockets {
		fd, errno := makeSocket(to.family())
		if errno == unix.EAFNOSUPPORT && !addr.Addr().IsValid() { // a machine without IPv6
			return ls.open(netip.AddrPortFrom(netip.IPv4Unspecified(), addr.Port()), sockets)
		}
		if errno != 0 {
			return os.NewSyscallError("socket", errno)
		}
		ls.sockets = append(ls.sockets, fd)
		if err := prepare(fd, to.family(), !addr.Addr().IsValid() || addr.Addr().IsUnspecified()); err != nil {
			return err
		}
		// The first socket is bound without SO_REUSEPORT: where another process
		// has the port, with that option or without, this is an error rather
		// than half of the connections.
		if i > 0 {
			if err := setOption(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
				return err
			}
		}
		if errno := bindSocket(fd, &to); errno != 0 {
			return os.NewSyscallError("bind", errno)
		}
		if i == 0 {
			if err := setOption(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, boolInt(sockets > 1)); err != nil {
				return err
			}
			if to, errno = localAddr(fd); errno != 0 {
				return os.NewSyscallError("getsockname", errno)
			}
			ls.addr = to.addrPort()
		}
	}
	for _, fd := range ls.sockets { // all or none
		if err := unix.Listen(int(fd), backlog); err != nil {
			return os.NewSyscallError("listen", err)
		}
	}
	return nil
}

const (
	backlog = 4096 // the system cuts it at net.core.somaxconn
	// unsent is how much a socket may hold that has not been sent yet. A peer
	// that reads slowly then ties 140 KB of the system's memory, rather than 4
	// MB.
	unsent = 32 << 10
)

// prepare sets what accepted sockets inherit.
func prepare(fd int32, family int, bothFamilies bool) error {
	err := errors.Join(
		setOption(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		setOption(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
		setOption(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent),
	)
	if family == unix.AF_INET6 {
		err = errors.Join(err, setOption(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, boolInt(!bothFamilies)))
	}
	return err
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (ls *Listener) closeSockets() {
	for _, fd := range ls.sockets {
		closeSocket(fd)
	}
	ls.sockets = nil
}

// refuseNew has the system drop the first packet of every new connection,
// while those that are in the queue, or in the middle of a handshake, still
// come: the filter sees the TCP header and drops what has SYN set. Where
// filters are not to be had, new ones come until the very end.
func (ls *Listener) refuseNew() {
	const flags, syn = 13, 0x02
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1<<32 - 1}, // whole: connections inherit this
	}
	for _, fd := range ls.sockets {
		_ = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	}
}

// listen puts a listener's socket into the loop's epoll, level-triggered:
// what is not accepted now is seen again.
func (l *Loop) listen(ls *Listener, fd int32) error {
	li := &listening{Listener: ls, fd: fd, tag: uint64(tagListener + len(l.listening))}
	e := tagged(unix.EPOLLIN, li.tag)
	if errno := controlEpoll(l.ep, unix.EPOLL_CTL_ADD, fd, &e); errno != 0 {
		return os.NewSyscallError("epoll_ctl", errno)
	}
	l.listening = append(l.listening, li)
	return nil
}

const (
	acceptBudget = 64                    // connections before it is the others' turn
	acceptPause  = 20 * time.Millisecond // before it is tried anew where descriptors are lacking
)

// accept takes connections from a listener's queue. What it leaves there is
// seen again.
//
// A new connection is read before epoll knows of it: most requests are there
// already, and many a connection brings just one.
func (l *Loop) accept(ls *listening) {
	for range acceptBudget {
		if !l.admit() {
			l.pauseAccept(ls)
			return
		}
		fd, peer, errno := acceptSocket(ls.fd)
		if errno != 0 {
			l.group.conns.Add(-1)
			switch errno {
			case unix.EAGAIN:
				if l.telling {
					ls.emptied = true
					l.noteDrained()
				}
				return
			case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
				// To ask again at once would spin. No descriptor is kept in reserve to
				// turn clients away with: they do better to wait.
				l.pauseAccept(ls)
				return
			case unix.EBADF, unix.EINVAL, unix.ENOTSOCK, unix.EOPNOTSUPP, unix.EFAULT:
				l.group.fail(fmt.Errorf("netloop: accept on %v: %w", ls.addr, errno))
				return
			}
			continue // EINTR, or the new connection's own trouble: see accept(2)
		}
		c := l.newConn(fd)
		c.accepted, c.peer = true, peer.addrPort()
		c.handler = ls.accept(c)
		c.handler.OnOpen(c)
		c.service()
		c.register()
	}
	if l.telling { // there may be no event any more, but it has to be seen empty
		l.Post(func() { l.accept(ls) })
	}
}

// admit counts one more connection, if there may be one.
func (l *Loop) admit() bool {
	if l.group.conns.Add(1) > int64(l.group.options.MaxConns) {
		l.group.conns.Add(-1)
		return false
	}
	return true
}

// register has epoll tell of everything about c, once and for all: further
// calls would cost more than the events that nobody waits for.
func (c *Conn) register() {
	if c.over || c.registered {
		return
	}
	events := uint32(unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET)
	if c.lingering {
		events &^= unix.EPOLLOUT
	}
	e := tagged(events, uint64(c.slot)|uint64(c.loop.gens[c.slot])<<32)
	if errno := controlEpoll(c.loop.ep, unix.EPOLL_CTL_ADD, c.fd, &e); errno != 0 {
		c.fail(errno)
		return
	}
	c.registered = true
}

// pauseAccept takes a listener out of epoll; its queue waits.
func (l *Loop) pauseAccept(ls *listening) {
	ls.paused = true
	e := tagged(0, ls.tag)
	controlEpoll(l.ep, unix.EPOLL_CTL_MOD, ls.fd, &e)
	l.Arm(&l.acceptTimer, acceptPause)
}

// placeFreed puts paused listeners back once a twentieth of the places is
// free. Single ones are given out by the timer: to do that for each would cost
// as much as accepting it.
func (l *Loop) placeFreed() {
	if most := int64(l.group.options.MaxConns); l.group.conns.Load() < most-most/20 {
		l.resumeAccept()
	}
}

// resumeAccept puts paused listeners back, or waits some more if no place is
// free.
func (l *Loop) resumeAccept() {
	for _, ls := range l.listening {
		if !ls.paused {
			continue
		}
		if l.group.conns.Load() >= int64(l.group.options.MaxConns) {
			l.Arm(&l.acceptTimer, acceptPause)
			return
		}
		ls.paused = false
		e := tagged(unix.EPOLLIN, ls.tag)
		controlEpoll(l.ep, unix.EPOLL_CTL_MOD, ls.fd, &e)
		if l.telling { // there may be no event any more, but it has to be seen empty
			l.Post(func() { l.accept(ls) })
		}
	}
}
