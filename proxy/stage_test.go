//go:build linux

package proxy

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// stagePatience is how long a test waits for what must come.
const stagePatience = 5 * time.Second

// script is what a server says.
type script struct {
	early   string   // when a head has come
	answers []string // when a request has; the last again and again
	end     ending   // behind the last
}

type ending uint8

const (
	stays  ending = iota
	closes        // says no more, and reads on
	resets
)

func says(answer ...string) script { return script{answers: answer} }

// stage is a server that says what its script says, whatever it hears, and
// keeps what it hears.
type stage struct {
	addr string
	mu   sync.Mutex
	now  *scene
}

// scene is what one script has led to.
type scene struct {
	script script
	wait   sync.WaitGroup
	heard  []string // by connection
}

func newStage(t testing.TB) *stage {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{addr: l.Addr().String(), now: new(scene)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			now, number := s.now, len(s.now.heard)
			now.heard = append(now.heard, "")
			now.wait.Add(1)
			s.mu.Unlock()
			go func() {
				defer now.wait.Done()
				s.play(c.(*net.TCPConn), now, number)
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended; s.all() })
	return s
}

// play plays the script on a connection.
func (s *stage) play(c *net.TCPConn, now *scene, number int) {
	defer c.Close()
	script := now.script
	c.SetDeadline(time.Now().Add(stagePatience))
	heard, buffer := "", make([]byte, 64<<10)
	early, answered := 0, 0
	for {
		n, err := c.Read(buffer)
		heard += string(buffer[:n])
		s.mu.Lock()
		now.heard[number] = heard
		s.mu.Unlock()
		if err != nil {
			return
		}
		list, rest, bad := requests(heard, false)
		if bad != nil {
			return // got tells
		}
		if heads := len(list) + strings.Count(rest, "\r\n\r\n"); script.early != "" && heads > early {
			early = heads
			io.WriteString(c, script.early)
		}
		for ; answered < len(list) && len(script.answers) > 0; answered++ {
			io.WriteString(c, script.answers[min(answered, len(script.answers)-1)])
			if answered < len(script.answers)-1 || script.end == stays {
				continue
			}
			if script.end == resets {
				c.SetLinger(0)
				return
			}
			c.CloseWrite()
			io.Copy(io.Discard, c)
			return
		}
	}
}

// next begins another scene.
func (s *stage) next(script script) {
	s.mu.Lock()
	s.now = &scene{script: script}
	s.mu.Unlock()
}

// all is what has been heard on each connection, when all have ended.
func (s *stage) all() []string {
	s.mu.Lock()
	now := s.now
	s.mu.Unlock()
	now.wait.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.heard
}

// got are the requests that have been heard, which strict has judged. None may
// be but whole ones, unless cut is allowed.
func (s *stage) got(t testing.TB, cut bool) (list []message) {
	t.Helper()
	for _, heard := range s.all() {
		some, rest, err := requests(heard, false)
		if err != nil {
			t.Errorf("the server gets %q: %v", heard, err)
		} else if rest != "" && !cut {
			t.Errorf("the server gets part of a request: %q", rest)
		}
		list = append(list, some...)
	}
	return list
}

// say sends bytes to an address, ends its side, and returns all that comes, and
// how that ends: nil is in order.
func say(t testing.TB, addr, bytes string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(stagePatience))
	io.WriteString(c, bytes)
	c.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(c)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Errorf("%.200q: nothing but %.300q comes, and no end", bytes, answer)
	}
	return string(answer), err
}

// theatre is a proxy before a stage. Every request gets a connection of its
// own, so that scenes do not see each other's.
func theatre(t testing.TB) (*stage, string) {
	s := newStage(t)
	c := settings(s.addr)
	c.Upstreams[0].Keepalive = 0
	c.Limits.Body = 100 << 10
	_, addr := start(t, c, Options{})
	return s, addr
}
