//go:build linux

package netloop

import (
	"context"
	"fmt"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// benchServer runs a group that echoes for as long as the benchmark does.
func benchServer(b *testing.B, o Options, h Handler) (*Group, unix.Sockaddr) {
	b.Helper()
	g, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	ls, err := g.Listen("127.0.0.1:0", all(h))
	if err != nil {
		b.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- g.Run() }()
	b.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.Shutdown(ctx); err != nil {
			b.Error(err)
		}
		<-ran
	})
	return g, &unix.SockaddrInet4{Port: int(ls.Addr().Port()), Addr: ls.Addr().Addr().As4()}
}

// netServer is the plain twin: a goroutine for each connection.
func netServer(b *testing.B) unix.Sockaddr {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					if _, err := c.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	a := l.Addr().(*net.TCPAddr).AddrPort()
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().Unmap().As4()}
}

func eachServer(b *testing.B, f func(b *testing.B, to unix.Sockaddr)) {
	for _, s := range []struct {
		name string
		to   func(b *testing.B) unix.Sockaddr
	}{
		{"block", func(b *testing.B) unix.Sockaddr { _, to := benchServer(b, Options{}, echo()); return to }},
		{"busy", func(b *testing.B) unix.Sockaddr { _, to := benchServer(b, Options{Wait: Busy}, echo()); return to }},
		{"net", netServer},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			f(b, s.to(b))
		})
	}
}

func BenchmarkEcho(b *testing.B) {
	eachServer(b, func(b *testing.B, to unix.Sockaddr) {
		fd := rawConnect(b, to)
		defer unix.Close(fd)
		message := make([]byte, 100)
		b.ResetTimer()
		for range b.N {
			rawEcho(b, fd, message)
		}
	})
}

func BenchmarkConnectionPerRequest(b *testing.B) {
	eachServer(b, func(b *testing.B, to unix.Sockaddr) {
		message := make([]byte, 100)
		for range b.N {
			fd := rawConnect(b, to)
			rawEcho(b, fd, message)
			unix.Close(fd)
		}
	})
}

// BenchmarkBulk is what a large answer costs whose peer takes it as fast as it
// comes.
func BenchmarkBulk(b *testing.B) {
	const size = 1 << 20
	answer := make([]byte, size)
	_, to := benchServer(b, Options{}, &funcs{data: func(c *Conn, in []byte) int { c.Write(answer); return len(in) }})
	fd := rawConnect(b, to)
	defer unix.Close(fd)
	buf := make([]byte, 256<<10)
	b.SetBytes(size)
	b.ReportAllocs()
	for range b.N {
		if _, err := unix.Write(fd, buf[:1]); err != nil {
			b.Fatal(err)
		}
		for got := 0; got < size; {
			n, err := unix.Read(fd, buf)
			if n <= 0 || err != nil {
				b.Fatal(n, err)
			}
			got += n
		}
	}
}

// BenchmarkPieces is what an answer costs that is written in so many pieces:
// each sent, kept until the turn ends, or given together.
func BenchmarkPieces(b *testing.B) {
	const size = 100
	piece := make([]byte, size)
	for _, n := range []int{1, 3, 10} {
		segments := make([][]byte, n)
		for i := range segments {
			segments[i] = piece
		}
		write := func(c *Conn) {
			for range n {
				c.Write(piece)
			}
		}
		for _, how := range []struct {
			name  string
			write func(c *Conn)
		}{
			{"write", write},
			{"cork", func(c *Conn) { c.Cork(); write(c) }},
			{"writev", func(c *Conn) { c.Writev(segments) }},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, how.name), func(b *testing.B) {
				_, to := benchServer(b, Options{Wait: Busy}, &funcs{data: func(c *Conn, in []byte) int { how.write(c); return len(in) }})
				fd := rawConnect(b, to)
				defer unix.Close(fd)
				buf := make([]byte, n*size)
				b.ReportAllocs()
				for range b.N {
					if _, err := unix.Write(fd, buf[:1]); err != nil {
						b.Fatal(err)
					}
					for got := 0; got < len(buf); {
						k, err := unix.Read(fd, buf)
						if k <= 0 || err != nil {
							b.Fatal(k, err)
						}
						got += k
					}
				}
			})
		}
	}
}

// BenchmarkPost is one function at a time, to a loop that sleeps and to one
// that does not, and many from everywhere.
func BenchmarkPost(b *testing.B) {
	for _, w := range []struct {
		name string
		wait Wait
	}{{"block", Block}, {"busy", Busy}} {
		b.Run(w.name, func(b *testing.B) {
			g, _ := benchServer(b, Options{Wait: w.wait}, echo())
			done := make(chan bool)
			f := func() { done <- true }
			b.ReportAllocs()
			for range b.N {
				g.loops[0].Post(f)
				<-done
			}
		})
	}
	b.Run("many", func(b *testing.B) {
		g, _ := benchServer(b, Options{}, echo())
		f := func() {}
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				g.loops[0].Post(f)
			}
		})
	})
}

// BenchmarkWheel is what a deadline costs: put off, as with every request, and
// taken back and set anew.
func BenchmarkWheel(b *testing.B) {
	var w wheel
	timers := make([]Timer, 1024)
	b.Run("put off", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			w.arm(&timers[i%len(timers)], int64(i)+1000*tick)
		}
	})
	b.Run("set anew", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			t := &timers[i%len(timers)]
			w.forget(t)
			w.arm(t, int64(1+i%4000)*tick)
		}
	})
}
