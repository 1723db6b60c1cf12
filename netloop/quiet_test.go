//go:build linux

package netloop

import (
	"net"
	"testing"
	"time"
)

// Quiet sees what no event has told yet: all happens while the loop is busy.
func TestQuiet(t *testing.T) {
	f := func(name string, peer func(*net.TCPConn), want bool) {
		t.Run(name, func(t *testing.T) {
			r := start(t, Options{}, all(echo()))
			ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			d := newDialled()
			conn := r.dialFrom(ln.Addr().(*net.TCPAddr).AddrPort(), d, time.Minute)
			wait(t, "OnOpen", d.seen)
			other, err := ln.AcceptTCP()
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			r.on(0, func(*Loop) {
				if !conn.Quiet() {
					t.Error("not quiet before anything has happened")
				}
				peer(other)
				if got := conn.Quiet(); got != want {
					t.Errorf("Quiet: %t, want %t", got, want)
				}
				conn.Close()
			})
			wait(t, "OnClose", d.why)
		})
	}
	f("silent", func(*net.TCPConn) {}, true)
	f("a byte", func(c *net.TCPConn) { c.Write([]byte("x")) }, false)
	f("closed", func(c *net.TCPConn) { c.Close() }, false)
	f("half closed", func(c *net.TCPConn) { c.CloseWrite() }, false)
	f("reset", func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, false)
}
