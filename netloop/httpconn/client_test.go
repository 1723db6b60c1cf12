//go:build linux

package httpconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// diary is a ClientHandler that writes down what it hears, one word a call.
type diary struct {
	words    []string
	closed   chan struct{}
	reasons  []error
	begun    bool
	received int // bytes of all answers

	begin    func(*Client)
	response func(*Client, *http1.Response)
	body     func(*Client, []byte)
	done     func(*Client, bool)
}

func newDiary() *diary { return &diary{closed: make(chan struct{})} }

func (d *diary) note(format string, args ...any) {
	d.words = append(d.words, fmt.Sprintf(format, args...))
}

func (d *diary) said(r *rig) (words []string) {
	r.do(func() { words = slices.Clone(d.words) })
	return words
}

func (d *diary) OnConnect(*Client) { d.note("up") }

func (d *diary) OnBegin(c *Client) {
	if d.begun || !c.Begun() || c.Received() != 0 {
		d.note("(begins once more: %t, %d)", c.Begun(), c.Received())
	}
	d.begun = true
	if d.begin != nil {
		d.begin(c)
	}
}

func (d *diary) mustHaveBegun() {
	if !d.begun {
		d.note("(has not begun)")
	}
}

func (d *diary) OnInterim(_ *Client, r *http1.Response) {
	d.mustHaveBegun()
	d.note("%d..", r.Status())
}

func (d *diary) OnResponse(c *Client, r *http1.Response) {
	d.mustHaveBegun()
	d.note("%d", r.Status())
	if d.response != nil {
		d.response(c, r)
	}
}

func (d *diary) OnBody(c *Client, piece []byte) {
	if n := len(d.words) - 1; strings.HasPrefix(d.words[n], "=") { // cuts make no difference
		d.words[n] += string(piece)
	} else {
		d.note("=%s", piece)
	}
	if d.body != nil {
		d.body(c, piece)
	}
}

func (d *diary) OnDone(c *Client, b *http1.Body, reusable bool) {
	d.begun = false
	d.received += c.Received()
	d.note("done")
	if len(b.Trailers()) > 0 {
		d.note("(%s)", bytes.TrimSpace(b.Trailers()))
	}
	if reusable {
		d.note("reusable")
	}
	if d.done != nil {
		d.done(c, reusable)
	}
}

func (d *diary) OnTurn(*Client) {}

func (d *diary) OnDrain(c *Client) {
	if !c.Usable() {
		d.note("(drained too late)")
	}
}

func (d *diary) OnClose(c *Client, reason error) {
	d.received += c.Received() // of an answer under way
	d.reasons = append(d.reasons, reason)
	if reason != nil {
		d.note("%v", reason)
	}
	close(d.closed)
}

func (r *rig) client(addr netip.AddrPort, o ClientOptions, d ClientHandler) (c *Client) {
	r.do(func() { c = Dial(r.loop, addr, o, d) })
	return c
}

func bytesOf(s string) [][]byte { return [][]byte{[]byte(s)} }

func clientRig(t *testing.T) *rig {
	return newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: hello}))
}

// What a client makes of answers, however they are cut. Requests are sent all
// at once; then the origin answers, and closes, or the client does. What stands
// behind § is no part of an answer; all before must count.
func TestClientReads(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	const end = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	f := func(asks []Ask, answer string, close bool, want string) {
		t.Helper()
		counted := strings.Index(answer, "§")
		if answer = strings.Replace(answer, "§", "", 1); counted < 0 {
			counted = len(answer)
		}
		cuts := []int{0}
		for cut := 1; cut < len(answer); cut++ {
			cuts = append(cuts, cut)
		}
		for i, slow := 0, 0; i < len(cuts); i++ {
			cut := cuts[i]
			d := newDiary()
			c := r.client(o.addr(), ClientOptions{}, d)
			p := o.accept()
			r.do(func() {
				for _, ask := range asks {
					c.Send(ask, bytesOf("x"))
				}
			})
			p.expect(strings.Repeat("x", len(asks)))
			begin := time.Now()
			p.send(answer[:cut])
			if cut > 0 {
				r.settled()
			}
			_, _ = p.Write([]byte(answer[cut:]))
			late := time.Since(begin) > partingTime/2
			if close {
				_ = p.CloseWrite()
			}
			want := strings.TrimSpace("up " + want)
			for end := time.Now().Add(patience); strings.Join(d.said(r), " ") != want && time.Now().Before(end); {
				r.settled()
			}
			r.settled() // nothing else comes
			r.do(func() {
				if len(d.reasons) == 0 {
					c.Close()
				}
			})
			<-d.closed
			p.Close()
			if got := strings.Join(d.words, " "); got != want {
				if slow++; late && slow < 5 { // the client may have been tired of waiting
					i--
					continue
				}
				t.Errorf("%q, cut at %d:\n got %s\nwant %s", answer, cut, got, want)
				return
			}
			if fault := http1.Fault(0); d.received != counted && !errors.As(d.reasons[0], &fault) {
				t.Errorf("%q, cut at %d: %d bytes, want %d", answer, cut, d.received, counted)
				return
			}
		}
	}
	one := []Ask{Plain}
	unasked, truncated := ErrUnasked.Error(), ErrTruncated.Error()

	// sized, chunked, without a body, until the end
	f(one, end, false, "200 =hi done reusable")
	f(one, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, "200 done reusable")
	f(one, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\nX-A: 1\r\n\r\n", false, "200 =hi done (X-A: 1) reusable")
	f(one, "HTTP/1.1 204 No\r\n\r\n", false, "204 done reusable")
	f(one, "HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", false, "304 done reusable")
	f(one, "HTTP/1.1 200 OK\r\n\r\nall there is", true, "200 =all there is done")
	f([]Ask{Head}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, "200 done reusable")
	f([]Ask{Head}, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, "200 done reusable")

	// whether the connection can be used again
	f(one, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", false, "200 =hi done")
	f(one, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, "200 =hi done")
	f(one, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", false, "200 =hi done reusable")
	f([]Ask{Head}, "HTTP/1.0 200 OK\r\n\r\n", false, "200 done")
	f(one, end, true, "200 =hi done reusable") // it has not said that it would close
	f(one, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi§junk", true, "200 =hi done "+unasked)

	// pipelined
	f([]Ask{Plain, Head, Plain}, end+"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n"+end, false, "200 =hi done reusable 404 done reusable 200 =hi done reusable")
	f([]Ask{Plain, Plain}, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi§"+end, true, "200 =hi done "+truncated)
	f([]Ask{Plain, Plain}, end, true, "200 =hi done reusable "+ErrNoAnswer.Error())
	f([]Ask{Plain, Plain}, "HTTP/1.1 200 OK\r\n\r\nhi", true, "200 =hi done "+truncated)

	// before the final answer
	f(one, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </>\r\n\r\n"+end, false, "100.. 103.. 200 =hi done reusable")
	f(one, "HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, unasked)
	f([]Ask{Switch}, end, false, "200 =hi done reusable")
	f([]Ask{Switch}, "HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, "101 done") // not handed over
	f([]Ask{Connect}, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", false, "200 done")
	f([]Ask{Connect}, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n§junk", false, "200 done")
	f([]Ask{Connect}, "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nhi", false, "403 =hi done reusable")

	// cut short
	f(one, "", true, ErrNoAnswer.Error())
	f(one, "HTTP/1.1 200 O", true, truncated)
	f(one, "HTTP/1.1 100 Continue\r\n\r\n", true, "100.. "+truncated)
	f(one, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", true, "200 =hi "+truncated)
	f(one, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n", true, "200 =hi "+truncated)
	f(nil, "", true, "")

	// no good
	f(one, "HTTP/1.1 20 OK\r\n\r\n", false, http1.BadStatusLine.Error())
	f(one, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz", false, "200 "+http1.BadChunkSize.Error())
	f(nil, "§HTTP/1.1 408 Late\r\n\r\n", false, unasked)
}

// Bytes behind an answer must not pass for the answer to the next request: who
// sends two answers to one would give a client another's.
func TestClientTakesNoAnswerInAdvance(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	for _, answer := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 204 No\r\n\r\n"} {
		d := newDiary()
		d.done = func(c *Client, reusable bool) {
			if reusable {
				c.Send(Plain, bytesOf("y"))
			}
		}
		c := r.client(o.addr(), ClientOptions{}, d)
		p := o.accept()
		r.do(func() { c.Send(Plain, bytesOf("x")) })
		p.expect("x")
		p.send(answer + answer)
		<-d.closed
		if got := strings.Join(d.words, " "); !strings.HasSuffix(got, " done "+ErrUnasked.Error()) {
			t.Errorf("got %s", got)
		}
		p.expectEnd()
	}
}

// What was sent before the connection stands goes out then.
func TestClientSendsWhileDialling(t *testing.T) {
	r := clientRig(t)
	d := newDiary()
	d.done = func(c *Client, _ bool) { c.Close() }
	r.do(func() {
		c := Dial(r.loop, r.addr, ClientOptions{}, d)
		c.Send(Plain, bytesOf(get("/a")))
		c.Send(Head, bytesOf(strings.Replace(get("/b"), "GET", "HEAD", 1)))
		d.done = func(c *Client, _ bool) {
			if c.Outstanding() == 0 {
				c.Close()
			}
		}
	})
	<-d.closed
	if got := strings.Join(d.words, " "); got != "up 200 =/a done reusable 200 done reusable" {
		t.Error(got)
	}
}

// An answer that comes while the request is still being sent, and the end of
// the connection with it.
func TestEarlyAnswer(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	f := func(answer string, upload int, want string) {
		t.Helper()
		d := newDiary()
		c := r.client(o.addr(), ClientOptions{}, d)
		p := o.accept()
		r.do(func() {
			c.Begin(Plain, bytesOf("HEAD"))
			c.More([][]byte{pattern(upload)})
		})
		p.expect("HEAD")
		p.send(answer)
		<-d.closed
		p.Close()
		if got := strings.Join(d.words, " "); got != want {
			t.Errorf("%q with %d bytes:\n got %s\nwant %s", answer, upload, got, want)
		}
	}
	for _, upload := range []int{1, 20 << 20} {
		f("HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", upload, "up 413 =no done")
		f("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno", upload, "up 413 =no done")
	}

	// The origin answers, closes and resets, in one go.
	d := newDiary()
	c := r.client(o.addr(), ClientOptions{}, d)
	p := o.accept()
	r.do(func() { c.Begin(Plain, bytesOf("HEAD")) })
	p.expect("HEAD")
	r.do(func() {
		p.send("HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
		p.Close()
		for range 3 {
			c.More(bytesOf("more"))
		}
	})
	<-d.closed
	if got := strings.Join(d.words, " "); got != "up 413 =no done" {
		t.Error(got)
	}
}

func TestClientTimeouts(t *testing.T) {
	const short, long = 100 * time.Millisecond, time.Minute
	r := clientRig(t)
	o := newOrigin(t)
	type talk struct {
		options ClientOptions
		asks    int
		answer  string
		want    string
	}
	late := ErrTimeout.Error()
	head := ClientOptions{DialTimeout: long, HeadTimeout: short, BodyTimeout: long, IdleTimeout: long}
	body := ClientOptions{DialTimeout: long, HeadTimeout: long, BodyTimeout: short, IdleTimeout: long}
	idle := ClientOptions{DialTimeout: long, HeadTimeout: long, BodyTimeout: long, IdleTimeout: short}
	var diaries []*diary
	talks := []talk{
		{head, 1, "", "up " + late},
		{head, 1, "HTTP/1.1 ", "up " + late},
		{head, 1, "HTTP/1.1 100 C\r\n\r\n", "up 100.. " + late},
		{head, 2, "HTTP/1.1 204 No\r\n\r\n", "up 204 done reusable " + late},
		{body, 1, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh", "up 200 =h " + late},
		{idle, 0, "", "up"},
		{idle, 1, "HTTP/1.1 204 No\r\n\r\n", "up 204 done reusable"},
	}
	for _, talk := range talks {
		d := newDiary()
		diaries = append(diaries, d)
		c := r.client(o.addr(), talk.options, d)
		p := o.accept()
		r.until("the connection", func() bool { return len(d.words) == 1 })
		r.do(func() {
			for range talk.asks {
				c.Send(Plain, bytesOf("x"))
			}
		})
		p.send(talk.answer)
	}
	for i, d := range diaries {
		<-d.closed
		if got := strings.Join(d.words, " "); got != talks[i].want {
			t.Errorf("%q:\n got %s\nwant %s", talks[i].answer, got, talks[i].want)
		}
	}

	// Nobody is blamed for what others keep it waiting for.
	d := newDiary()
	d.response = func(c *Client, _ *http1.Response) { c.PauseBody() }
	c := r.client(o.addr(), ClientOptions{HeadTimeout: short, BodyTimeout: short, IdleTimeout: long}, d)
	p := o.accept()
	r.do(func() { c.Begin(Plain, bytesOf("x")) })
	time.Sleep(2 * short) // the request is not whole
	r.do(func() { c.End() })
	p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	r.until("the head", func() bool { return len(d.words) == 2 })
	time.Sleep(2 * short) // paused
	r.do(func() { c.ResumeBody() })
	r.until("the answer", func() bool { return c.Outstanding() == 0 })
	r.do(c.Close)
	<-d.closed
	p.Close()
	if got := strings.Join(d.words, " "); got != "up 200 =hi done reusable" {
		t.Error(got)
	}
}

// The time for dialling counts until the connection stands, also where a
// request waits to be sent.
func TestDialTimeout(t *testing.T) {
	r := clientRig(t)
	full, stop := fullListener(t)
	defer stop()
	for _, head := range []time.Duration{0, 5 * time.Millisecond, time.Minute} {
		d := newDiary()
		r.do(func() {
			c := Dial(r.loop, full, ClientOptions{DialTimeout: 50 * time.Millisecond, HeadTimeout: head}, d)
			c.Send(Plain, bytesOf("x"))
			c.PauseBody()
			c.ResumeBody()
		})
		select {
		case <-d.closed:
		case <-time.After(patience):
			t.Fatal("dialling goes on")
		}
		if !errors.Is(d.reasons[0], syscall.ETIMEDOUT) {
			t.Errorf("closed with %v", d.reasons[0])
		}
	}

	d := newDiary()
	r.client(netip.MustParseAddrPort("127.0.0.1:1"), ClientOptions{}, d)
	<-d.closed
	if !errors.Is(d.reasons[0], syscall.ECONNREFUSED) || len(d.words) != 1 {
		t.Error(d.words)
	}
}

// fullListener is an address that answers no more connections.
func fullListener(t *testing.T) (netip.AddrPort, func()) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	sa, _ := syscall.Getsockname(fd)
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(sa.(*syscall.SockaddrInet4).Port))
	c, err := net.Dial("tcp", addr.String()) // the queue's one place
	if err != nil {
		t.Fatal(err)
	}
	return addr, func() { c.Close(); syscall.Close(fd) }
}

// A slow user of answers holds the server back, and memory stays bounded.
func TestClientBackPressure(t *testing.T) {
	answer := pattern(10 << 20)
	r := newRig(t, netloop.Options{}, ServerOptions{NoDate: true}, handle(&funcs{request: func(s *Session, _ *http1.Request) { s.Reply(200, "", nil) }}))
	o := newOrigin(t)
	d := newDiary()
	var got []byte
	pauses := 0
	c := r.client(o.addr(), ClientOptions{}, &slowUser{diary: d, got: &got, pauses: &pauses})
	p := o.accept()
	r.do(func() { c.Send(Plain, bytesOf("x")) })
	go func() {
		_, _ = p.Write([]byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sHTTP/1.1 204 No\r\n\r\n", len(answer), answer)))
	}()
	r.do(func() { c.Send(Plain, bytesOf("x")) })
	done := false
	for end := time.Now().Add(patience); !done && time.Now().Before(end); {
		r.settled()
		if live := r.group.Memory().Stats().Live.Bytes; live > 1<<20 {
			t.Fatalf("%d bytes of the slab live", live)
		}
		r.do(func() {
			if done = c.Outstanding() == 0; !done {
				c.ResumeBody()
			}
		})
	}
	r.do(c.Close)
	<-d.closed
	if !bytes.Equal(got, answer) || pauses < 10 {
		t.Errorf("got %d bytes, differing at %d, with %d pauses", len(got), differsAt(got, answer), pauses)
	}
}

// A pause ends with its answer: the next one comes.
func TestClientPauseEndsWithItsAnswer(t *testing.T) {
	r := clientRig(t)
	d := newDiary()
	d.body = func(c *Client, _ []byte) { c.PauseBody() }
	d.done = func(c *Client, _ bool) {
		if c.Outstanding() == 0 {
			c.Close()
		}
	}
	c := r.client(r.addr, ClientOptions{HeadTimeout: patience}, d)
	r.do(func() {
		c.Send(Plain, bytesOf(get("/a")))
		c.Send(Plain, bytesOf(get("/b")))
	})
	<-d.closed
	if got := strings.Join(d.words, " "); got != "up 200 =/a done reusable 200 =/b done reusable" {
		t.Error(got)
	}
}

// slowUser pauses at every piece.
type slowUser struct {
	*diary
	got    *[]byte
	pauses *int
}

func (u *slowUser) OnBody(c *Client, piece []byte) {
	*u.got = append(*u.got, piece...)
	c.PauseBody()
	*u.pauses++
}

// tunnel is another protocol at the client's end.
type tunnel struct {
	shouter
	got chan string
}

func (u *tunnel) OnData(c *netloop.Conn, in []byte) int {
	u.got <- string(in)
	return len(in)
}

func (u *tunnel) OnClose(*netloop.Conn, error) { close(u.got) }

func TestClientHandsOver(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	f := func(ask Ask, answer string, early bool) {
		t.Helper()
		d := newDiary()
		u := &tunnel{got: make(chan string, 10)}
		d.response = func(c *Client, _ *http1.Response) {
			conn := c.Conn()
			c.HandOver(u)
			conn.Write([]byte("over"))
		}
		c := r.client(o.addr(), ClientOptions{HeadTimeout: time.Minute}, d)
		p := o.accept()
		r.do(func() { c.Send(ask, bytesOf("x")) })
		p.expect("x")
		if early {
			p.send(answer + "first")
			_ = p.CloseWrite()
		} else {
			p.send(answer)
			p.expect("over")
			p.send("first")
			_ = p.CloseWrite()
		}
		got := ""
		for s := range u.got {
			got += s
		}
		p.Close()
		if got != "first" {
			t.Errorf("the new protocol got %q", got)
		}
	}
	for _, early := range []bool{true, false} {
		f(Switch, "HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", early)
		f(Connect, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", early) // which counts for nothing
	}
}

// While the loop drains, a connection is not used again.
func TestClientDrains(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	busy, idle := newDiary(), newDiary()
	c := r.client(o.addr(), ClientOptions{}, busy)
	p := o.accept()
	r.client(o.addr(), ClientOptions{}, idle)
	q := o.accept()
	r.settled()
	r.do(func() { c.Send(Plain, bytesOf("x")) })
	p.expect("x")
	ended := make(chan error)
	go func() { ended <- r.group.Shutdown(context.Background()) }()
	q.expectEnd()
	p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
	p.expectEnd()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := strings.Join(busy.words, " "); got != "up 200 =hi done" {
		t.Error(got)
	}
	if got := strings.Join(idle.words, " "); got != "up" {
		t.Error(got)
	}
}

// Closing in the middle of an answer gives it up, and ends what is told of it.
func TestClientCloses(t *testing.T) {
	r := clientRig(t)
	o := newOrigin(t)
	f := func(ask func(*diary), want string) {
		t.Helper()
		d := newDiary()
		ask(d)
		c := r.client(o.addr(), ClientOptions{}, d)
		p := o.accept()
		r.do(func() { c.Send(Plain, bytesOf("x")); c.Send(Plain, bytesOf("x")) })
		p.expect("xx")
		p.send(strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 2))
		<-d.closed
		p.Close()
		if got := strings.Join(d.words, " "); got != want+" "+netloop.ErrAborted.Error() {
			t.Error(got)
		}
	}
	f(func(d *diary) { d.response = func(c *Client, _ *http1.Response) { c.Close() } }, "up 200")
	f(func(d *diary) { d.body = func(c *Client, _ []byte) { c.Close() } }, "up 200 =hi")
	f(func(d *diary) { d.done = func(c *Client, _ bool) { c.Close() } }, "up 200 =hi done reusable")
}
