package fastserve

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// listener accepts connections that close without losing what was sent, and
// no more of them at a time than it may. Those beyond wait in the system's
// queue: to refuse them would cost a descriptor, too.
//
// close(2) with unread input (the line break that ammo puts after a body is
// enough) resets the connection, and the reset may overtake the answer. So a
// connection first says that it is done, and then reads what is left, up to a
// limit, in a goroutine of its own: whoever closes it does not wait.
type listener struct {
	net.Listener
	slots     chan struct{} // one taken for each connection, lingering ones too
	closing   chan struct{} // closed when no more are accepted
	closeOnce sync.Once
	hurry     atomic.Bool // lingering ones are not waited for long any more
}

const (
	lingerBytes = 1 << 20
	lingerTime  = 2 * time.Second
	hurryTime   = 200 * time.Millisecond
)

func newListener(l net.Listener, maxConns int) *listener {
	return &listener{Listener: l, slots: make(chan struct{}, maxConns), closing: make(chan struct{})}
}

// Accept waits for a slot, then for a connection. Where the system lacks
// descriptors or memory, it waits for those as well: that passes, and nobody
// is served by a server that has ended.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closing:
		return nil, net.ErrClosed
	}
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		c, err := l.Listener.Accept()
		if err == nil {
			return &conn{Conn: c, listener: l}, nil
		}
		if !short(err) {
			<-l.slots
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-l.closing:
			<-l.slots
			return nil, net.ErrClosed
		}
	}
}

// short tells whether an accept failed for want of something that may come
// back.
func short(err error) bool {
	for _, want := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		// The new connection's own troubles: see accept(2).
		syscall.ECONNABORTED, syscall.EPERM, syscall.EPROTO, syscall.ENETDOWN, syscall.ENETUNREACH,
		syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENOPROTOOPT, syscall.EOPNOTSUPP,
	} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// empty waits until no connection is left, lingering ones included, or ctx
// ends.
func (l *listener) empty(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(l.slots) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Close stops accepting. It may be called again.
func (l *listener) Close() (err error) {
	l.closeOnce.Do(func() {
		close(l.closing)
		err = l.Listener.Close()
	})
	return err
}

type conn struct {
	net.Conn
	listener *listener
	once     sync.Once
	silent   atomic.Bool // the peer took too long: it is not waited for again

	mu     sync.Mutex
	closed bool // it may linger
}

// Close says to the peer that nothing more will be sent, and returns. The
// descriptor closes when the peer has closed its side, or had its time.
func (c *conn) Close() (err error) {
	c.once.Do(func() {
		half, ok := c.Conn.(interface{ CloseWrite() error })
		if !ok || c.silent.Load() || half.CloseWrite() != nil {
			err = c.Conn.Close()
			<-c.listener.slots
			return
		}
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		go c.linger()
	})
	return err
}

// SetDeadline and SetReadDeadline do not reach a connection that lingers: that
// time is ours.

func (c *conn) SetDeadline(t time.Time) error     { return c.unlessClosed(c.Conn.SetDeadline, t) }
func (c *conn) SetReadDeadline(t time.Time) error { return c.unlessClosed(c.Conn.SetReadDeadline, t) }

func (c *conn) unlessClosed(set func(time.Time) error, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return set(t)
}

func (c *conn) linger() {
	patience := lingerTime
	if c.listener.hurry.Load() {
		patience = hurryTime
	}
	if c.Conn.SetReadDeadline(time.Now().Add(patience)) == nil {
		_, _ = io.CopyN(io.Discard, struct{ io.Reader }{c.Conn}, lingerBytes)
	}
	c.Conn.Close()
	<-c.listener.slots
}
