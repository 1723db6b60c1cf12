//go:build linux

package httpconn

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// ClientHandler hears what a server answers. The answers come in the order of
// the requests; of each: OnBegin, OnInterim for each of 1xx, OnResponse, OnBody
// for each piece, OnDone. OnTurn comes after any of them.
type ClientHandler interface {
	// OnConnect says that the connection stands. What was sent before goes out
	// now.
	OnConnect(c *Client)
	// OnBegin says that the first byte of an answer has come. It comes once for
	// each, before OnInterim and OnResponse, and does not wait for a whole head.
	OnBegin(c *Client)
	// OnInterim brings the head of an answer of 1xx; the final one follows.
	// Views are valid until it returns. (What has been found in the head can be
	// asked for until then, here and in OnResponse; for its bytes see OnTurn.)
	OnInterim(c *Client, r *http1.Response)
	// OnResponse brings the head of a final answer.
	OnResponse(c *Client, r *http1.Response)
	// OnBody brings a piece of its body, valid until OnTurn returns.
	OnBody(c *Client, piece []byte)
	// OnDone says that the answer is whole, and brings its trailers. reusable tells whether the connection can take another request;
	// if not, it ends by itself, and nothing but OnClose comes any more: at
	// once, or where the server has said that it will close, when it does, or
	// after 100 ms. Who calls Close there closes first, and has TIME_WAIT. (A
	// client that has asked for the end must: not every server does.)
	OnDone(c *Client, trailers *http1.Body, reusable bool)
	// OnTurn says that all that has arrived was handed over. Until it returns,
	// the views that OnResponse, OnBody and OnDone have brought since the last
	// time are valid, for who would send them together.
	OnTurn(c *Client)
	// OnDrain says that the server has taken all that was sent.
	OnDrain(c *Client)
	// OnClose comes last. The reason is nil where the connection ended in order
	// with no answer outstanding. The client must not be used any more, but for
	// being dialled anew, from within OnClose on.
	OnClose(c *Client, reason error)
}

// ClientOptions are the limits of a client. Zero means no limit. What a server
// does not take is netloop.Options.WriteTimeout's affair.
type ClientOptions struct {
	DialTimeout time.Duration
	HeadTimeout time.Duration // from the end of a request, or the answer before, to the end of an answer's head
	BodyTimeout time.Duration // between the pieces of a body
	IdleTimeout time.Duration // without a request, then the connection closes
}

// Reasons of ClientHandler.OnClose, besides those of netloop and the faults of
// http1.
var (
	ErrTimeout   = errors.New("the server took too long to answer")
	ErrUnsent    = errors.New("the request was not sent: the connection was about to close")
	ErrNoAnswer  = errors.New("the server closed the connection without a byte of an answer")
	ErrTruncated = errors.New("the server closed the connection before its answer was whole")
	ErrUnasked   = errors.New("the server sent what nobody had asked for")
)

// Client is the client's side of a connection. The zero value is one that has
// not been dialled. It implements netloop.Handler.
type Client struct {
	conn    *netloop.Conn
	handler ClientHandler
	options ClientOptions

	asked []Ask // requests whose answers have not ended, oldest first, from first on
	first int
	clientState

	response http1.Response
	body     http1.Body
}

// clientState is what begins anew with each connection.
type clientState struct {
	open      bool // dialled, and OnClose has not come
	connected bool
	sending   bool // the youngest request has not been sent whole
	last      bool // the connection ends with the answer under way, or has ended with the one before
	surplus   bool // ... because bytes that nobody asked for came behind it
	parting   bool // ... and the server, which has said that it will close, may do so first
	begun     bool // a byte of the oldest's answer has come
	tunnel    bool // ... which makes the connection another protocol's
	unsent    bool // the youngest request came too late to be sent
	inBody    bool // of the oldest's answer
	handed    bool
	read      int   // bytes of the oldest's answer that were used
	partial   int   // ... and of those behind them that do not suffice to go on
	reason    error // why the connection was given up
}

// Ask is what has to be known of a request to read its answer.
type Ask uint8

// Kinds of requests.
const (
	Plain   Ask = iota // any but those below
	Head               // HEAD: its answer has no body
	Connect            // CONNECT: with 2xx the connection is a tunnel
	Switch             // with Upgrade: 101 is welcome
)

// AskOf is the Ask of a method, but for Switch.
func AskOf(method []byte) Ask {
	switch string(method) {
	case "HEAD":
		return Head
	case "CONNECT":
		return Connect
	}
	return Plain
}

var askMethods = [...][]byte{Plain: []byte("GET"), Head: []byte("HEAD"), Connect: []byte("CONNECT"), Switch: []byte("GET")}

// Dial connects a new client to a server.
func Dial(l *netloop.Loop, addr netip.AddrPort, o ClientOptions, h ClientHandler) *Client {
	c := new(Client)
	c.Dial(l, addr, o, h)
	return c
}

// Dial connects to a server. Requests may be sent at once; they go out when
// the connection stands. A client may be dialled again, also on another loop,
// when its OnClose has come, and keeps its memory. One that has handed its
// connection over may not.
func (c *Client) Dial(l *netloop.Loop, addr netip.AddrPort, o ClientOptions, h ClientHandler) {
	if c.open {
		panic(fmt.Sprintf("httpconn: a client is dialled that is still open (%d requests outstanding)", c.Outstanding()))
	}
	c.handler, c.options = h, o
	c.asked, c.first = c.asked[:0], 0
	c.clientState = clientState{open: true}
	c.response.Reset()
	c.conn = l.Dial(addr, c, o.DialTimeout)
}

// Conn is the client's connection, for its addresses and how much output is
// pending; nil from OnClose on.
func (c *Client) Conn() *netloop.Conn { return c.conn }

// Outstanding is how many requests have no whole answer yet.
func (c *Client) Outstanding() int { return len(c.asked) - c.first }

// Send sends a whole request, which is the caller's again when Send returns.
// Requests may follow each other without waiting for answers (pipelining);
// whether that is wise is the caller's affair.
func (c *Client) Send(ask Ask, request [][]byte) {
	c.Begin(ask, request)
	c.End()
}

// Begin sends the head of a request whose body follows piece by piece by More,
// until End.
func (c *Client) Begin(ask Ask, head [][]byte) {
	if c.sending {
		panic("httpconn: a request begins before the one before has ended")
	}
	if c.first > len(c.asked)/2 { // never empty, it would grow for ever
		c.asked, c.first = append(c.asked[:0], c.asked[c.first:]...), 0
	}
	c.sending = true
	if !c.Usable() {
		c.unsent = true
		if c.Outstanding() == 0 && c.reason == nil {
			c.reason = ErrUnsent
		}
		c.asked = append(c.asked, ask)
		return
	}
	c.asked = append(c.asked, ask)
	if c.Outstanding() == 1 {
		c.setDeadline()
	}
	c.conn.Writev(head)
}

// Usable tells whether another request may be sent: not on a connection that
// is about to close. One that is begun all the same is not sent, and OnClose
// says ErrUnsent.
func (c *Client) Usable() bool { return !c.last && c.reason == nil && !c.handed }

// Begun tells whether a byte of the oldest outstanding answer has come. Where
// none has, a request without a body may be repeated elsewhere.
func (c *Client) Begun() bool { return c.begun }

// Received is how many bytes of the answer under way have come, as they were
// sent: its head, and those of 1xx before it, its body with what frames it, its
// trailers. In a handler's method what the handler has heard of counts: nothing
// in OnBegin, all in OnDone. Of a head or trailers that are not whole, or no
// good, all that has come counts, also in OnClose.
func (c *Client) Received() int { return c.read + c.partial }

// Surplus tells, in OnDone, that bytes have come behind the answer although no
// other is outstanding. The connection is not used any more then, and OnClose
// says ErrUnasked, as it does if they come later.
func (c *Client) Surplus() bool { return c.surplus }

// More sends a piece of a request's body, framed by the caller.
func (c *Client) More(piece [][]byte) {
	if !c.unsent {
		c.conn.Writev(piece)
	}
}

// End ends the request that Begin has begun.
func (c *Client) End() {
	c.sending = false
	if c.Outstanding() == 1 && !c.inBody {
		c.setDeadline()
	}
}

// PauseBody stops the answer under way: it stays with the server. Its end ends
// the pause as well.
func (c *Client) PauseBody() {
	c.conn.PauseRead()
	c.setDeadline()
}

// ResumeBody goes on with it.
func (c *Client) ResumeBody() {
	c.conn.ResumeRead()
	c.setDeadline()
}

// Close closes the connection; answers outstanding are given up. It may come
// late: one that has ended stays as it is.
func (c *Client) Close() {
	if !c.open {
		return
	}
	c.last = true
	if c.Outstanding() > 0 && c.reason == nil {
		c.giveUp(netloop.ErrAborted)
	} else {
		c.conn.Close()
	}
}

func (c *Client) setDeadline() {
	d := c.options.IdleTimeout
	switch {
	case !c.connected, c.parting: // DialTimeout, or partingTime, counts
		return
	case c.conn.Paused(): // the server is not to blame
		d = 0
	case c.inBody:
		d = c.options.BodyTimeout
	case c.sending && c.Outstanding() == 1: // nor before it knows what is asked
		d = 0
	case c.Outstanding() > 0:
		d = c.options.HeadTimeout
	}
	c.conn.SetDeadline(d)
}

// HandOver gives the connection to another handler, after an answer that has
// made it another protocol's: in OnResponse, of 101 or of 2xx to CONNECT. The
// client must not be used any more. The new handler is offered what the
// server has already sent.
func (c *Client) HandOver(h netloop.Handler) {
	if !c.inBody || !c.tunnel {
		panic(fmt.Sprintf("httpconn: HandOver outside of OnResponse of a tunnel (%d requests outstanding)", c.Outstanding()))
	}
	c.handed = true
	c.conn.SetDeadline(0)
	c.conn.ResumeRead()
	c.conn.SetHandler(h)
}
