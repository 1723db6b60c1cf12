package fastserve

import (
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
	lingering sync.WaitGroup
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
	for _, want := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
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
		c.listener.lingering.Go(c.linger)
	})
	return err
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
