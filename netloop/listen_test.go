//go:build linux

package netloop

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestListenErrors(t *testing.T) {
	files := openFiles(t)
	listen := func(loops int, addr string) (*Group, string, error) {
		g, err := New(Options{Loops: loops})
		if err != nil {
			t.Fatal(err)
		}
		ls, err := g.Listen(addr, all(echo()))
		if err != nil {
			g.Close()
			return nil, "", err
		}
		return g, ls.Addr().String(), nil
	}
	for _, loops := range []int{1, 2} { // the second kind uses SO_REUSEPORT
		g, addr, err := listen(loops, "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		for _, again := range []int{1, 2, 3} {
			_, _, err := listen(again, addr)
			if !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(err.Error(), addr) {
				t.Errorf("%d loops on the address of %d: %v", again, loops, err)
			}
		}
		g.Close()
		g, _, err = listen(loops, addr) // it is free again
		if err != nil {
			t.Errorf("after Close: %v", err)
			continue
		}
		g.Close()
	}

	// Another program's listener that would share its port.
	fd := rawSocket(t)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := listen(2, nameOf(t, fd).String()); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("a port shared with others: %v", err)
	}
	unix.Close(fd)

	for _, addr := range []string{"nonsense", "127.0.0.1:99999", "300.0.0.1:0", "192.0.2.1:0"} {
		if _, at, err := listen(1, addr); err == nil {
			t.Errorf("%q listens at %s", addr, at)
		}
	}

	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
	if _, err := g.Listen("127.0.0.1:0", all(echo())); err == nil {
		t.Error("a closed group listens")
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d descriptors are left", n-files)
	}
}

// Each loop takes its part of an address; no HOST is all addresses of both
// families.
func TestListenAddresses(t *testing.T) {
	hasIPv6 := true
	if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
		hasIPv6 = false
	} else {
		l.Close()
	}
	for _, c := range []struct {
		listen string
		dial   []string
		v6     bool
	}{
		{":0", []string{"127.0.0.1", "::1"}, false},
		{"0.0.0.0:0", []string{"127.0.0.1"}, false},
		{"127.0.0.1:0", []string{"127.0.0.1"}, false},
		{"localhost:0", []string{"localhost"}, false},
		{"[::]:0", []string{"127.0.0.1", "::1"}, true},
		{"[::1]:0", []string{"::1"}, true},
	} {
		if c.v6 && !hasIPv6 {
			continue
		}
		t.Run(c.listen, func(t *testing.T) {
			r := start(t, Options{Loops: 2}, all(echo()))
			r.stop() // only for its checks at the end
			g, err := New(Options{Loops: 2})
			if err != nil {
				t.Fatal(err)
			}
			hits := make([]bool, 2)
			ls, err := g.Listen(c.listen, func(c *Conn) Handler {
				hits[c.Loop().Index()] = true
				if a := c.RemoteAddr(); !a.IsValid() || c.LocalAddr() == a {
					t.Errorf("addresses %v and %v", a, c.LocalAddr())
				}
				return echo()
			})
			if err != nil {
				t.Fatal(err)
			}
			ran := make(chan error, 1)
			go func() { ran <- g.Run() }()
			for _, host := range c.dial {
				if host == "::1" && !hasIPv6 {
					continue
				}
				for range 40 {
					conn, err := net.Dial("tcp", net.JoinHostPort(host, fmt.Sprint(ls.Addr().Port())))
					if err != nil {
						t.Fatal(err)
					}
					(&client{conn.(*net.TCPConn), t}).send("x")
					(&client{conn.(*net.TCPConn), t}).expect("x")
					conn.Close()
				}
			}
			r.Group = g
			if err := r.shutdown(patience); err != nil {
				t.Error(err)
			}
			if err := <-ran; err != nil {
				t.Error(err)
			}
			if !hits[0] || !hits[1] {
				t.Errorf("of 40 connections the loops had some: %v", hits)
			}
		})
	}
}
