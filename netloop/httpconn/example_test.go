//go:build linux

package httpconn_test

import (
	"context"
	"fmt"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// greeter answers at once, with whole bodies.
type greeter struct{ httpconn.WholeOnly }

func (greeter) OnRequest(s *httpconn.Session, r *http1.Request) {
	switch string(r.Method()) {
	case "GET":
		s.Reply(200, "", []byte("hello from "+string(r.Path())))
	case "POST":
		s.Reply(201, "", []byte("you said "+string(s.WholeBody())))
	default:
		s.Reply(405, "Allow: GET, POST\r\n", nil)
	}
}

// visitor asks two questions over one connection, the second when the first
// is answered.
type visitor struct {
	group *netloop.Group
	asked int
}

var questions = []string{
	"GET /door HTTP/1.1\r\nHost: example\r\n\r\n",
	"POST /door HTTP/1.1\r\nHost: example\r\nContent-Length: 6\r\n\r\nknock!",
}

func (v *visitor) ask(c *httpconn.Client) {
	c.Send(httpconn.Plain, [][]byte{[]byte(questions[v.asked])})
	v.asked++
}

func (v *visitor) OnConnect(c *httpconn.Client) { v.ask(c) }

func (v *visitor) OnBegin(*httpconn.Client) {}

func (v *visitor) OnInterim(*httpconn.Client, *http1.Response) {}

func (v *visitor) OnResponse(c *httpconn.Client, r *http1.Response) {
	fmt.Printf("%d %s", r.Status(), r.Reason())
}

func (v *visitor) OnBody(c *httpconn.Client, piece []byte) { fmt.Printf(": %s", piece) }

func (v *visitor) OnDone(c *httpconn.Client, trailers *http1.Body, reusable bool) {
	fmt.Println()
	if reusable && v.asked < len(questions) {
		v.ask(c)
	} else {
		c.Close()
	}
}

func (v *visitor) OnTurn(*httpconn.Client)  {}
func (v *visitor) OnDrain(*httpconn.Client) {}

func (v *visitor) OnClose(c *httpconn.Client, reason error) {
	fmt.Println("closed, reason:", reason)
	go v.group.Shutdown(context.Background())
}

// A small server, and a client on the same loop.
func Example() {
	group, err := netloop.New(netloop.Options{})
	if err != nil {
		panic(err)
	}
	loop := group.Loops()[0]
	server := httpconn.NewServer(loop, httpconn.ServerOptions{
		HeadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxBody: 1 << 10, WholeBodies: true,
	}, func(*httpconn.Session) httpconn.Handler { return greeter{} })
	listener, err := group.Listen("127.0.0.1:0", server.Accept)
	if err != nil {
		panic(err)
	}
	loop.Post(func() {
		httpconn.Dial(loop, listener.Addr(), httpconn.ClientOptions{DialTimeout: time.Second, HeadTimeout: 10 * time.Second}, &visitor{group: group})
	})
	if err := group.Run(); err != nil {
		panic(err)
	}
	// Output:
	// 200 OK: hello from /door
	// 201 Created: you said knock!
	// closed, reason: <nil>
}
