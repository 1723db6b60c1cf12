//go:build linux

package netloop

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An answer of thousands of segments to a peer that reads late arrives in
// order, though the caller's memory is used for something else at once.
func TestSegmentsToSlowReader(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		rnd := rand.New(rand.NewPCG(1, 2))
		var want []byte
		var sizes []int
		for i := range 5000 {
			n := rnd.IntN(3000)
			if i%7 == 0 || i > 2000 && i < 3100 { // more in a row than a writev takes
				n = 0
			}
			sizes = append(sizes, n)
			want = append(want, pattern(n + 1)[1:]...)
		}
		rnd.Shuffle(len(want)/8, func(i, j int) { want[i], want[j] = want[j], want[i] })

		var drains, pending int
		drained := make(chan bool, 10)
		r := start(t, Options{Wait: w}, all(&funcs{
			data: func(c *Conn, in []byte) int {
				mine := bytes.Clone(want)
				segments := make([][]byte, 0, len(sizes))
				for _, n := range sizes {
					segments = append(segments, mine[:n:n])
					mine = mine[n:]
				}
				c.Writev(nil)
				c.Writev(segments[:0])
				c.Writev(segments)
				pending = c.Pending()
				for _, s := range segments {
					clear(s)
				}
				return len(in)
			},
			drain: func(c *Conn) {
				if drains++; c.Pending() != 0 {
					t.Errorf("OnDrain with %d bytes pending", c.Pending())
				}
				drained <- true
			},
		}))
		c := r.dial()
		_ = c.SetReadBuffer(64 << 10)
		for round := 1; round <= 3; round++ {
			c.send("go")
			r.turns(3)
			r.on(0, func(*Loop) {
				if pending == 0 || pending > len(want) {
					t.Errorf("%d bytes pending of %d", pending, len(want))
				}
				if held := int(r.Memory().Stats().Live.Bytes) - scratchSize; held < pending-1<<20 || held > 2*pending {
					t.Errorf("%d bytes pending take %d", pending, held)
				}
				if drains != round-1 {
					t.Errorf("OnDrain came %d times", drains)
				}
			})
			c.expect(string(want))
			wait(t, "OnDrain", drained)
			r.turns(3)
			r.on(0, func(*Loop) {
				if drains != round {
					t.Errorf("round %d: OnDrain came %d times", round, drains)
				}
				if held := r.Memory().Stats().Live.Bytes; held != scratchSize {
					t.Errorf("%d bytes are held", held)
				}
			})
		}
	})
}

// What is written while something is pending goes behind it, however it was
// written, and input waits for nothing.
func TestWritesMixed(t *testing.T) {
	var want bytes.Buffer
	r := start(t, Options{}, all(&funcs{data: func(c *Conn, in []byte) int {
		rnd := rand.New(rand.NewPCG(3, 4))
		text := []byte(pattern(40_000))
		for range 300 {
			n := rnd.IntN(len(text))
			k := rnd.IntN(n + 1)
			want.Write(text[:n])
			switch rnd.IntN(3) {
			case 0:
				c.Write(text[:n])
			case 1:
				c.Writev([][]byte{text[:k], nil, text[k:n]})
			case 2:
				c.Write(text[:k])
				c.Writev([][]byte{nil, text[k:n], nil})
			}
		}
		c.Close()
		return len(in)
	}}))
	c := r.dial()
	c.send("go")
	r.turns(3)
	c.expect(want.String())
	c.expectEnd()
}

// A peer that has shut its side gets the rest of a long answer.
func TestHalfClose(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		answer := pattern(4 << 20)
		r := start(t, Options{Wait: w}, all(&funcs{
			end: func(c *Conn) { c.Write([]byte(answer)); c.Close() },
		}))
		c := r.dial()
		c.send("question")
		_ = c.CloseWrite()
		r.turns(3)
		c.expect(answer)
		c.expectEnd()
	})
}

// CloseWrite ends our side behind what is pending, and input still comes.
func TestCloseWrite(t *testing.T) {
	answer := pattern(4 << 20)
	got := make(chan string, 1)
	var late []byte
	r := start(t, Options{}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			if string(in) == "go" {
				c.Write([]byte(answer))
				c.CloseWrite()
				return len(in)
			}
			late = append(late, in...)
			return len(in)
		},
		end: func(c *Conn) { got <- string(late); c.Close() },
	}))
	c := r.dial()
	c.send("go")
	r.turns(3)
	c.expect(answer)
	c.expectEnd()
	c.send("late")
	c.Close()
	if s := wait(t, "late input", got); s != "late" {
		t.Errorf("got %q", s)
	}
}

// A server may answer and close while it is still being sent to: the reset
// that we get for what it has not read must not hide its answer.
func TestAnswerBeforeReset(t *testing.T) {
	answer := make(chan string, 10)
	why := make(chan error, 1)
	r := start(t, Options{}, all(&funcs{
		open: func(c *Conn) { c.Write(make([]byte, 8<<20)) },
		data: func(c *Conn, in []byte) int {
			if len(in) > 4 { // not all in one turn
				c.Again()
				return 1
			}
			answer <- string(in)
			return 0 // as one would that waits for more
		},
		end:   func(c *Conn) { t.Error("OnEnd where output was broken") },
		close: func(c *Conn, reason error) { why <- reason },
	}))
	for range times(40) {
		c := r.dial()
		_ = c.SetReadBuffer(64 << 10)
		c.expect("\x00")
		release := r.hold(0)
		c.send("go away")
		c.reset()
		release()
		reason := wait(t, "OnClose", why)
		if !errors.Is(reason, unix.ECONNRESET) && !errors.Is(reason, unix.EPIPE) {
			t.Errorf("the reason is %v", reason)
		}
		if len(answer) == 0 {
			t.Fatal("the answer was lost")
		}
		if got := <-answer; got != "away" {
			t.Fatalf("the answer was %q", got)
		}
	}
}

// Errors of sending end a connection also where nothing is read.
func TestErrorWhilePaused(t *testing.T) {
	why := make(chan error, 1)
	r := start(t, Options{}, all(&funcs{
		data:  func(c *Conn, in []byte) int { c.PauseRead(); c.Write(make([]byte, 8<<20)); return 0 },
		drain: func(c *Conn) { t.Error("OnDrain of what was lost") },
		close: func(c *Conn, reason error) { why <- reason },
	}))
	c := r.dial()
	c.send("go")
	c.expect("\x00")
	c.reset()
	if reason := wait(t, "OnClose", why); !errors.Is(reason, unix.ECONNRESET) && !errors.Is(reason, unix.EPIPE) {
		t.Errorf("the reason is %v", reason)
	}

	// Nor where there is no room for more input.
	r = start(t, Options{MaxInput: 1024}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			if c.Pending() == 0 {
				c.Write(make([]byte, 8<<20))
			}
			return 0
		},
		close: func(c *Conn, reason error) { why <- reason },
	}))
	c = r.dial()
	go func() { _, _ = io.Copy(c, endless{}) }()
	until(t, "input is full", func() (full bool) {
		r.on(0, func(l *Loop) {
			for _, conn := range l.conns {
				full = conn != nil && conn.held > 0 && conn.held == len(conn.kept)
			}
		})
		return full
	})
	c.reset()
	if reason := wait(t, "OnClose", why); !errors.Is(reason, unix.ECONNRESET) && !errors.Is(reason, unix.EPIPE) {
		t.Errorf("the reason is %v", reason)
	}
}

// A peer that takes nothing is given up after WriteTimeout, one that takes 64
// KB in each such time is not.
func TestSlowReader(t *testing.T) {
	const size = 24 << 20
	var conn *Conn
	why := make(chan error, 1)
	r := start(t, Options{WriteTimeout: time.Minute}, all(&funcs{
		data: func(c *Conn, in []byte) int {
			conn = c
			c.Write(make([]byte, size))
			return len(in)
		},
		close: func(c *Conn, reason error) { why <- reason },
	}))
	pending := func() (n int) {
		r.on(0, func(*Loop) {
			if conn != nil {
				n = conn.Pending()
			}
		})
		return n
	}
	c := r.dial()
	c.send("go")
	until(t, "output is pending", func() bool { return pending() > 0 })
	buf := make([]byte, 16<<10)
	for range 5 {
		before := pending()
		until(t, "64 KB more are taken", func() bool {
			if _, err := io.ReadFull(c, buf); err != nil {
				t.Fatal(err)
			}
			return pending() <= before-moveBytes
		})
		r.jump(59 * time.Second)
	}
	if pending() == 0 {
		t.Fatal("nothing left to be slow about")
	}
	select {
	case reason := <-why:
		t.Fatalf("given up though it has read: %v", reason)
	default:
	}
	r.jump(2 * time.Minute)
	if reason := wait(t, "OnClose", why); reason != ErrSlowReader {
		t.Errorf("the reason is %v", reason)
	}
	c.expectReset()
}

// A connection that finds no memory ends, others go on, and the memory comes
// back.
func TestOutOfMemory(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		why := make(chan error, 10)
		r := start(t, Options{Wait: w, Memory: 1 << 20, MaxInput: 4 << 20}, all(&funcs{
			data: func(c *Conn, in []byte) int {
				switch in[0] {
				case 'w':
					c.Write(make([]byte, 16<<20))
				case 'k': // kept for ever
					return 0
				default:
					c.Write(in)
				}
				return len(in)
			},
			close: func(c *Conn, reason error) { why <- reason },
		}))
		for _, greedy := range []string{"w", "k"} {
			c := r.dial()
			go func() {
				_, _ = io.WriteString(c, greedy)
				if greedy == "k" {
					_, _ = io.Copy(c, endless{})
				}
			}()
			if reason := wait(t, "OnClose", why); reason != ErrMemory {
				t.Fatalf("the reason is %v", reason)
			}
			if greedy == "w" {
				c.expectReset() // what has come must not look whole
			}
			c.Close()
			r.idle()
			other := r.dial()
			other.send(pattern(100_000)[:1])
			other.expect(pattern(100_000)[:1])
			_ = other.CloseWrite()
			other.expectEnd()
			wait(t, "OnClose", why)
		}
		if n := r.Memory().Stats().Refused; n < 2 {
			t.Errorf("memory was refused %d times", n)
		}
	})
}

// What a loop keeps idle is there for another one that has been refused.
func TestMemoryIsShared(t *testing.T) {
	r := start(t, Options{Loops: 2, Memory: 1 << 20}, all(echo()))
	const size = 64 << 10
	take := func(l *Loop) (blocks [][]byte) {
		for {
			b, err := l.Memory().Get(size)
			if err != nil {
				return blocks
			}
			blocks = append(blocks, b)
		}
	}
	give := func(l *Loop, blocks [][]byte) {
		for _, b := range blocks {
			l.Memory().Put(b)
		}
	}
	var first, second, more [][]byte
	r.on(0, func(l *Loop) { first = take(l); give(l, first) }) // some stay idle
	r.on(1, func(l *Loop) { second = take(l) })
	r.turns(2)
	r.on(1, func(l *Loop) {
		more = take(l)
		give(l, second)
		give(l, more)
	})
	if len(more) == 0 || len(second)+len(more) < len(first) {
		t.Errorf("%d blocks, then %d, then %d more", len(first), len(second), len(more))
	}
}
