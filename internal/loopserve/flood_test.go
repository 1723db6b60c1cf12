//go:build linux

package loopserve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/store"
)

// A reader that is slow gets every byte of its answers, in order, and what it
// asked meanwhile; others are served at once.
func TestSlowReader(t *testing.T) {
	eachWay(t, func(t *testing.T, o Options) {
		addr, server := start(t, newStore(t, visited), o)
		list := listOf(visited)
		c := dial(t, addr)
		c.SetReadBuffer(128 << 10)
		// More than 1,024 answers behind a long one, long ones between.
		const rounds = 1500
		var send strings.Builder
		for i := range rounds {
			if i%500 == 0 {
				send.WriteString(get("/users/2/visits"))
			}
			send.WriteString(get(fmt.Sprint("/users/", i%users)))
		}
		go io.WriteString(c, send.String())

		time.Sleep(20 * time.Millisecond)
		other := dial(t, addr)
		io.WriteString(other, get("/users/1"))
		if a, err := readAnswer(bufio.NewReader(other), "GET"); err != nil || a.String() != user(1) {
			t.Fatalf("a neighbour gets %v, %v", a, err)
		}

		r := bufio.NewReaderSize(&slowly{c, rand.New(rand.NewPCG(1, 2))}, 8<<10)
		for i := range rounds {
			if i%500 == 0 {
				if a, err := readAnswer(r, "GET"); err != nil || a.body != list {
					t.Fatalf("list before answer %d: %d bytes, want %d, %v", i, len(a.body), len(list), err)
				}
			}
			if a, err := readAnswer(r, "GET"); err != nil || a.String() != user(i%users) {
				t.Fatalf("answer %d: %v, %v", i, a, err)
			}
		}
		c.Close()
		other.Close()
		eventually(t, "buffers are still in use", func() bool {
			return server.group.Memory().Stats().Live.Bytes <= int64(max(o.Workers, 1))*256<<10
		})
	})
}

// listOf is the visits of user 2.
func listOf(visits int) string {
	var b strings.Builder
	for id := range visits {
		fmt.Fprintf(&b, `,{"mark":3,"visited_at":%d,"place":"P"}`, id)
	}
	return `{"visits":[` + b.String()[1:] + `]}`
}

// slowly reads little at a time, with pauses.
type slowly struct {
	io.Reader
	rng *rand.Rand
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.rng.IntN(20) == 0 {
		time.Sleep(time.Millisecond)
	}
	return s.Reader.Read(p[:min(len(p), 1+s.rng.IntN(8<<10))])
}

// A thousand connections at once: each gets what it asked for, not what
// another did.
func TestThousandConnections(t *testing.T) {
	conns := 1000
	if testing.Short() {
		conns = 200
	}
	eachWay(t, func(t *testing.T, o Options) {
		before := descriptors(t)
		addr, server := start(t, newStore(t, 10), o)
		var wg sync.WaitGroup
		all := make([]net.Conn, conns)
		for i := range all {
			all[i] = dial(t, addr)
		}
		for i, c := range all {
			wg.Go(func() {
				r := bufio.NewReaderSize(c, 512)
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				for range 5 {
					id, more := rng.IntN(users), rng.IntN(4)
					send := strings.Repeat(get(fmt.Sprint("/users/", id)), 1+more)
					cut := rng.IntN(len(send))
					io.WriteString(c, send[:cut])
					if rng.IntN(2) == 0 {
						time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
					}
					io.WriteString(c, send[cut:])
					for range 1 + more {
						if a, err := readAnswer(r, "GET"); err != nil || a.String() != user(id) {
							t.Errorf("connection %d asked for %d and got %v, %v", i, id, a, err)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if got := server.group.Conns(); got != conns {
			t.Errorf("%d connections, want %d", got, conns)
		}
		// Idle ones hold no buffer.
		eventually(t, "idle connections hold buffers", func() bool {
			return server.group.Memory().Stats().Live.Bytes <= int64(o.Workers)*256<<10
		})
		for _, c := range all {
			c.Close()
		}
		eventually(t, "connections are left", func() bool { return server.group.Conns() == 0 })
		eventually(t, "descriptors are left", func() bool { return descriptors(t) <= before+1+4*o.Workers })
	})
}

// Clients that reset in the middle of long answers, or close early, harm
// nobody and leave nothing.
func TestResets(t *testing.T) {
	eachWay(t, func(t *testing.T, o Options) {
		addr, server := start(t, newStore(t, visited), o)
		before := descriptors(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), 2))
				for range 15 {
					c, err := net.Dial("tcp", addr)
					if err != nil {
						t.Error(err)
						return
					}
					io.WriteString(c, strings.Repeat(get("/users/2/visits")+post("/users/3", "{}"), 1+rng.IntN(3)))
					io.CopyN(io.Discard, c, int64(rng.IntN(300_000)))
					switch rng.IntN(3) {
					case 0:
						c.(*net.TCPConn).SetLinger(0)
					case 1:
						c.(*net.TCPConn).CloseWrite()
					}
					c.Close()
				}
			})
		}
		c := dial(t, addr)
		r := bufio.NewReader(c)
		for i := range 200 {
			io.WriteString(c, get(fmt.Sprint("/users/", i%users)))
			if a, err := readAnswer(r, "GET"); err != nil || a.String() != user(i%users) {
				t.Fatalf("a neighbour gets %v, %v", a, err)
			}
		}
		wg.Wait()
		c.Close()
		eventually(t, "connections are left", func() bool { return server.group.Conns() == 0 })
		eventually(t, "descriptors are left", func() bool { return descriptors(t) <= before })
		eventually(t, "buffers are left", func() bool {
			return server.group.Memory().Stats().Live.Bytes <= int64(o.Workers)*256<<10
		})
	})
}

// Shutdown under load: who got a connection gets answers, whole ones, and an
// end in order; a request that was sent before the end is never reset, though
// one that crosses the end of an idle connection may stay without an answer.
func TestShutdownUnderLoad(t *testing.T) {
	eachWay(t, func(t *testing.T, o Options) {
		addr, server := start(t, newStore(t, 0), o)
		var wg sync.WaitGroup
		var asked atomic.Int64
		over := make(chan struct{})
		for i := range 8 {
			perConn := 1 // a request, on half of the connections; many on the others
			if i%2 == 0 {
				perConn = 1 << 30
			}
			wg.Go(func() {
				for {
					if err := askUntil(addr, perConn, &asked); err != nil {
						select {
						case <-over:
						default:
							t.Error(err)
						}
						return
					}
					select {
					case <-over:
						return
					default:
					}
				}
			})
		}
		eventually(t, "few requests", func() bool { return asked.Load() > 500 })
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := server.Shutdown(ctx)
		close(over)
		if err != nil {
			t.Error(err)
		}
		wg.Wait()
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Error("the listener is still open")
		}
	})
}

// askUntil asks over one connection until the server ends it.
func askUntil(addr string, most int, asked *atomic.Int64) error {
	c, err := net.DialTimeout("tcp", addr, 3*time.Second)
	if err != nil {
		return nil // refused: the server has ended, or does not take new ones any more
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(c)
	for n := range most {
		request := get("/users/1")
		if n == most-1 {
			request = strings.Replace(request, "Host", "Connection: close\r\nHost", 1)
		}
		if _, err := io.WriteString(c, request); err != nil {
			return nil
		}
		a, err := readAnswer(r, "GET")
		if n > 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && r.Buffered() == 0) {
			return nil // closed between two requests
		}
		if err != nil {
			return fmt.Errorf("request %d of a connection: %w", n+1, err)
		}
		if a.String() != user(1) {
			return fmt.Errorf("got %v", a)
		}
		asked.Add(1)
		if a.closed {
			return nil
		}
	}
	return nil
}

// What a reader is being sent does not change under its hands: lists are read
// while their blocks are replaced, and the memory of old ones is used for
// others.
func TestReadersBesideWriters(t *testing.T) {
	const visits = 3000
	s := newStore(t, visits) // of user 2, with mark 3
	for id := range uint32(visits) {
		v := &store.Visit{Has: store.WholeVisit, ID: visits + id, User: 3, VisitedAt: int32(id), Mark: 1}
		if err := s.CreateVisit(v); err != nil {
			t.Fatal(err)
		}
	}
	addr, _ := start(t, s, Options{Workers: 2})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for writer := range 4 { // more than loops: some share the readers'
		wg.Go(func() {
			c := dial(t, addr)
			r := bufio.NewReader(c)
			rng := rand.New(rand.NewPCG(uint64(writer), 3))
			for {
				select {
				case <-done:
					return
				default:
				}
				id, mark := rng.IntN(visits), 3+rng.IntN(2)
				if rng.IntN(2) == 0 {
					id, mark = id+visits, 1+rng.IntN(2)
				}
				io.WriteString(c, post(fmt.Sprint("/visits/", id), fmt.Sprintf(`{"mark":%d}`, mark)))
				if a, err := readAnswer(r, "POST"); err != nil || a.status != 200 {
					t.Errorf("%v, %v", a, err)
					return
				}
			}
		})
	}
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for range 2 {
		wg.Go(func() {
			c := dial(t, addr)
			r := bufio.NewReader(c)
			for range rounds {
				io.WriteString(c, get("/users/2/visits"))
				a, err := readAnswer(r, "GET")
				if threes, fours := strings.Count(a.body, `{"mark":3,`), strings.Count(a.body, `{"mark":4,`); err != nil || threes+fours != visits {
					t.Errorf("%d visits with mark 3, %d with 4, want %d in all; %v", threes, fours, visits, err)
					return
				}
			}
		})
	}
	go func() { time.Sleep(time.Duration(rounds) * 5 * time.Millisecond); close(done) }()
	wg.Wait()
}

// Who asks for much at once does not keep others waiting for all of it.
func TestHeavyNeighbours(t *testing.T) {
	const heavy = 40
	addr, _ := start(t, newStore(t, visited), Options{Workers: 1})
	var answered atomic.Int64
	var wg sync.WaitGroup
	for range heavy {
		c := dial(t, addr)
		io.WriteString(c, strings.Repeat("HEAD /users/2/visits HTTP/1.1\r\nHost: x\r\n\r\n", 20))
		wg.Go(func() {
			r := bufio.NewReader(c)
			for range 20 {
				if _, err := readAnswer(r, "HEAD"); err != nil {
					t.Error(err)
					return
				}
				answered.Add(1)
			}
		})
	}
	c := dial(t, addr)
	r := bufio.NewReader(c)
	fewest := int64(heavy * 20) // our own threads may be late to count
	for range 5 {
		before := answered.Load()
		io.WriteString(c, get("/users/1"))
		if a, err := readAnswer(r, "GET"); err != nil || a.String() != user(1) {
			t.Fatalf("%v, %v", a, err)
		}
		fewest = min(fewest, answered.Load()-before)
	}
	if fewest > heavy/2 {
		t.Errorf("at least %d long answers were made before a short one", fewest)
	}
	wg.Wait()
}

// A flood of reads gives the garbage collector nothing to do.
func TestNoGarbage(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	addr, _ := start(t, newStore(t, 100), Options{Workers: 1})
	c := dial(t, addr)
	send := []byte(strings.Repeat(get("/users/1")+get("/users/2/visits")+get("/locations/0/avg?toAge=40"), 10))
	in := make([]byte, 256<<10)
	size := 0 // of the answers to send
	r := bufio.NewReader(io.TeeReader(c, writer(func(p []byte) { size += len(p) })))
	c.Write(send)
	for range 30 {
		if _, err := readAnswer(r, "GET"); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 3000 {
		c.Write(send)
		if _, err := io.ReadFull(c, in[:size]); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 0 {
		t.Errorf("%d cycles, %d bytes allocated, over 90,000 requests", n, after.TotalAlloc-before.TotalAlloc)
	}
}

type writer func(p []byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// Nothing on the way of a GET or a POST allocates, be it counted or not.
func TestNoAllocation(t *testing.T) {
	t.Run("counted", func(t *testing.T) { testNoAllocation(t, Options{Workers: 1, Metrics: true}) })
	t.Run("not counted", func(t *testing.T) { testNoAllocation(t, Options{Workers: 1}) })
}

func testNoAllocation(t *testing.T, o Options) {
	addr, _ := start(t, newStore(t, 100), o)
	for _, request := range []string{
		get("/users/1"), get("/locations/0"), get("/visits/7"), get("/users/2/visits?fromDate=50&country=C"),
		get("/locations/0/avg?toAge=40&gender=m"), get("/users/77"), get("/users/1/visits?toDate="), "DELETE /users/1 HTTP/1.1\r\nHost: x\r\n\r\n",
		post("/users/1", `{"first_name":"A"}`), strings.Repeat(get("/users/1"), 20),
	} {
		c := dial(t, addr)
		send, in := []byte(request), make([]byte, 64<<10)
		want := 0
		ask := func() {
			if _, err := c.Write(send); err != nil {
				t.Fatal(err)
			}
			got := 0
			for {
				n, err := c.Read(in[got:])
				if err != nil {
					t.Fatal(err)
				}
				if got += n; got == want || want == 0 && bytes.Count(in[:got], []byte("HTTP/1.1 ")) == strings.Count(request, " HTTP/1.1") {
					want = got
					return
				}
			}
		}
		for range 10 {
			ask()
			time.Sleep(time.Millisecond) // the first answer may come in pieces
		}
		if n := testing.AllocsPerRun(300, ask); n > 0 && !raceEnabled {
			t.Errorf("%.20q: %v allocations", request, n)
		}
	}
}
