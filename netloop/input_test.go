//go:build linux

package netloop

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEcho(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		r := start(t, Options{Wait: w}, all(echo()))
		for _, size := range []int{1, 63, 1000, scratchSize - 1, scratchSize, scratchSize + 1, 300_000, 3 << 20} {
			for _, piece := range []int{1, 7, 1000, scratchSize, size} {
				if size/piece > 4000 {
					continue
				}
				c, want := r.dial(), pattern(size)
				go func() {
					for rest := want; rest != ""; {
						n := min(piece, len(rest))
						if _, err := io.WriteString(c, rest[:n]); err != nil {
							t.Error(err)
							return
						}
						rest = rest[n:]
					}
					_ = c.CloseWrite()
				}()
				c.expect(want)
				c.expectEnd()
			}
		}
	})
}

// Input that the handler leaves comes again, with what arrives behind it,
// wherever the pieces are cut.
func TestInputIsKept(t *testing.T) {
	const record = 10
	seen := make(chan string, 100)
	r := start(t, Options{}, func(*Conn) Handler {
		return &funcs{data: func(c *Conn, in []byte) int {
			whole := len(in) / record * record
			seen <- fmt.Sprintf("%d:%s", len(in), in[:whole])
			for i := range in[:whole] { // it is the handler's to write to
				in[i] = '!'
			}
			return whole
		}}
	})
	message := pattern(4 * record)
	for cut := 1; cut < len(message); cut++ {
		c := r.dial()
		c.send(message[:cut])
		whole := cut / record * record
		if got, want := wait(t, "the first piece", seen), fmt.Sprintf("%d:%s", cut, message[:whole]); got != want {
			t.Fatalf("cut at %d: got %q, want %q", cut, got, want)
		}
		c.send(message[cut:])
		if got, want := wait(t, "the second piece", seen), fmt.Sprintf("%d:%s", len(message)-whole, message[whole:]); got != want {
			t.Fatalf("cut at %d: got %q, want %q", cut, got, want)
		}
		c.Close()
	}
}

// A handler that consumes nothing stops its peer in the end, and can go on
// later.
func TestMaxInput(t *testing.T) {
	for _, most := range []int{4 << 10, 64 << 10, 100_000, 1 << 20, 64 << 20} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			size := 2*min(most, 4<<20) + 1<<20
			want := pattern(size)
			var conn *Conn
			var got strings.Builder
			taking := false
			r := start(t, Options{MaxInput: most}, all(&funcs{
				open: func(c *Conn) { conn = c },
				data: func(c *Conn, in []byte) int {
					if !taking {
						return 0
					}
					got.Write(in)
					return len(in)
				},
				end: func(c *Conn) { c.Write([]byte("end")); c.Close() },
			}))
			c := r.dial()
			go func() {
				_, _ = io.WriteString(c, want)
				_ = c.CloseWrite()
			}()
			full := false
			until(t, "input is full", func() bool {
				r.on(0, func(*Loop) { full = conn != nil && conn.held > 0 && conn.held == len(conn.kept) && conn.readable })
				return full
			})
			r.turns(10)
			r.on(0, func(*Loop) {
				if held := conn.Held(); held > 2*max(min(most, 4<<20), scratchSize) || held < min(most, 4<<20) {
					t.Errorf("%d bytes are held where no more than %d are wanted", held, most)
				}
				taking = true
				conn.Again()
			})
			c.expect("end")
			r.on(0, func(*Loop) {
				if got.String() != want {
					t.Errorf("%d of %d bytes arrived, or others", got.Len(), size)
				}
			})
		})
	}
}

// A paused connection gets nothing, neither kept nor new, until it resumes.
func TestPauseRead(t *testing.T) {
	var conn *Conn
	seen := make(chan string, 10)
	r := start(t, Options{}, all(&funcs{
		open: func(c *Conn) { conn = c },
		data: func(c *Conn, in []byte) int {
			seen <- string(in)
			c.PauseRead()
			return 1
		},
		end: func(c *Conn) { seen <- "end"; c.Close() },
	}))
	resume := func(want string) {
		t.Helper()
		r.turns(5)
		select {
		case s := <-seen:
			t.Fatalf("a paused connection got %q", s)
		default:
		}
		r.on(0, func(*Loop) {
			if !conn.Paused() {
				t.Error("not paused")
			}
			conn.ResumeRead()
		})
		if got := wait(t, "input", seen); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	c := r.dial()
	c.send("abc")
	if got := wait(t, "input", seen); got != "abc" {
		t.Fatalf("got %q", got)
	}
	resume("bc") // what was left
	c.send("d")
	_ = c.CloseWrite()
	resume("c") // once more, before what is new
	resume("d") // ... all of "c" was taken
	resume("end")
}

// Again gives others a turn before the rest is offered.
func TestAgain(t *testing.T) {
	var order strings.Builder
	var conns []*Conn
	done := make(chan bool)
	r := start(t, Options{}, func(c *Conn) Handler {
		name := byte('a' + len(conns))
		conns = append(conns, c)
		return &funcs{data: func(c *Conn, in []byte) int {
			order.WriteByte(name)
			if len(in) > 1 {
				c.Again()
			} else if order.Len() == 10 {
				close(done)
			}
			return 1
		}}
	})
	a, b := r.dial(), r.dial()
	until(t, "both are open", func() (both bool) {
		r.on(0, func(*Loop) { both = len(conns) == 2 })
		return both
	})
	release := r.hold(0)
	a.send("12345")
	b.send("12345")
	release()
	wait(t, "all input", done)
	if s := order.String(); strings.Contains(s, "aa") || strings.Contains(s, "bb") {
		t.Errorf("turns %q", s)
	}
}

// The new handler gets what is left, and hears of what is past.
func TestSetHandler(t *testing.T) {
	seen := make(chan string, 10)
	second := &funcs{
		data:     func(c *Conn, in []byte) int { seen <- string(in); return len(in) },
		end:      func(c *Conn) { seen <- "end" },
		shutdown: func(c *Conn) { seen <- "shutdown"; c.Close() },
	}
	var conn *Conn
	told := make(chan bool, 1)
	r := start(t, Options{}, all(&funcs{
		open: func(c *Conn) { conn = c },
		data: func(c *Conn, in []byte) int {
			if string(in[:1]) == "!" {
				c.SetHandler(second)
				return 1
			}
			return 0
		},
		end:      func(c *Conn) { told <- true },
		shutdown: func(c *Conn) { told <- true },
	}))
	expect := func(want string) {
		t.Helper()
		if got := wait(t, want, seen); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}

	inData := r.dial()
	inData.send("!rest")
	expect("rest")
	inData.send("more")
	expect("more")
	inData.reset()

	afterEnd := r.dial()
	afterEnd.send("left")
	_ = afterEnd.CloseWrite()
	wait(t, "the end", told)
	r.on(0, func(*Loop) { conn.SetHandler(second) })
	expect("left")
	expect("end")
	afterEnd.reset()
	r.idle()

	opened := r.dial()
	opened.send("x")
	until(t, "the connection is open", func() (is bool) {
		r.on(0, func(*Loop) { is = conn.Held() == 1 })
		return is
	})
	go func() { r.ran <- r.shutdown(patience) }()
	wait(t, "OnShutdown", told)
	r.on(0, func(*Loop) { conn.SetHandler(second) })
	expect("x")
	expect("shutdown")
	opened.expectEnd()
	opened.Close()
	if err := wait(t, "Shutdown", r.ran); err != nil {
		t.Error(err)
	}
}

// However fast a peer is, its connection is left after a budget of input, and
// after one of output.
func TestBudgets(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	openDevice := func(name string) int32 {
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return int32(fd)
	}
	null := openDevice("/dev/null") // the fastest reader
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	fill := func() { // more than a turn may read
		_ = unix.SetsockoptInt(pair[1], unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20)
		for piece := make([]byte, 8<<10); err == nil; {
			_, err = unix.Write(pair[1], piece)
		}
		err = nil
	}
	r.on(0, func(l *Loop) {
		read := 0
		c := l.newConn(int32(pair[0]))
		fill()
		c.handler = &funcs{data: func(c *Conn, in []byte) int { read += len(in); return len(in) }}
		c.service()
		if read < readBudget || read > readBudget+scratchSize || !c.queued {
			t.Errorf("%d bytes read in a turn, another turn: %v", read, c.queued)
		}
		// One that leaves a little each time is not read in small pieces.
		reads, largest := 0, 0
		c.handler = &funcs{data: func(c *Conn, in []byte) int {
			reads++
			largest = max(largest, len(in))
			return len(in) - 1
		}}
		fill()
		c.service()
		if reads > 16 || largest > scratchSize {
			t.Errorf("%d reads for a budget of %d bytes, the largest %d", reads, readBudget, largest)
		}
		// Again gives the turn away at once.
		reads = 0
		c.handler = &funcs{data: func(c *Conn, in []byte) int { reads++; c.Again(); return len(in) }}
		fill()
		if c.service(); reads != 1 {
			t.Errorf("%d reads in a turn that was given away", reads)
		}
		c.Abort()

		c = l.newConn(null)
		c.handler = &funcs{}
		c.paused, c.writable = true, false
		for range 5 * writeBudget / 1024 { // no writev takes more than one budget
			c.Write(make([]byte, 1024))
		}
		c.writable = true
		for turn := 1; turn <= 5; turn++ {
			c.service()
			if left := (5 - turn) * writeBudget; c.Pending() != left || !c.queued && left > 0 {
				t.Errorf("%d bytes pending after turn %d, another turn: %v", c.Pending(), turn, c.queued)
			}
		}
		c.Abort()
	})
}

// A neighbour of one that sends without end is served.
func TestFastSenderStarvesNobody(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		var flood, since, most int
		r := start(t, Options{Wait: w}, all(&funcs{data: func(c *Conn, in []byte) int {
			if len(in) == 1 {
				c.Write(in)
				most, since = max(most, since), 0
				return 1
			}
			flood += len(in)
			since += len(in)
			return len(in)
		}}))
		fast, slow := r.dial(), r.dial()
		go func() { _, _ = io.Copy(fast, endless{}) }()
		until(t, "the flood is there", func() (is bool) {
			r.on(0, func(*Loop) { is = flood > 1<<20 })
			return is
		})
		for range times(100) {
			// The loop has something to read from both when it looks.
			release := r.hold(0)
			slow.send("?")
			since = 0 // the loop is held
			release()
			slow.expect("?")
		}
		// At most a turn because of the event and one because of the queue.
		r.on(0, func(*Loop) {
			if limit := 3 * (readBudget + scratchSize); most > limit {
				t.Errorf("%d bytes of the flood before one of the other, more than %d", most, limit)
			}
		})
	})
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
