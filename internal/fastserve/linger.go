package fastserve

import (
	"io"
	"net"
	"sync"
	"time"
)

// lingering is a listener whose connections close without losing what was
// sent: close(2) with unread input (the line break that ammo puts after a
// body is enough) resets the connection, and the reset may overtake the
// answer. So such a connection first says that it is done, then reads what is
// left, up to a limit.
type lingering struct{ net.Listener }

const (
	lingerBytes = 1 << 20
	lingerTime  = 2 * time.Second
)

func (l lingering) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &lingeringConn{TCPConn: tcp}, nil
	}
	return c, err
}

type lingeringConn struct {
	*net.TCPConn
	once sync.Once
	err  error
}

// Close returns when the peer has closed too, or the limits are reached.
func (c *lingeringConn) Close() error {
	c.once.Do(func() {
		if c.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, struct{ io.Reader }{c.TCPConn}, lingerBytes)
		}
		c.err = c.TCPConn.Close()
	})
	return c.err
}
