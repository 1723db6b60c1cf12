// Command reader downloads a page again and again, at the speed it is told, and
// compares every byte. It prints what that took, a name and a number a line. It is
// a part of scripts/bench.sh and no part of Redoubt.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("reader: ")
	target := flag.String("target", "", "`address` of the server")
	path := flag.String("path", "/", "of the page")
	expect := flag.String("expect", "", "`file` that holds the page")
	connections := flag.Int("connections", 1, "each has one request under way")
	seconds := flag.Float64("seconds", 1, "in which requests begin; the first ones do in any case")
	rate := flag.Float64("rate", 0, "bytes a second that a connection takes of a page; 0: all it can get")
	coded := flag.Bool("gzip", false, "ask for gzip, and nothing else will do")
	flag.Parse()

	page, err := os.ReadFile(*expect)
	if err != nil {
		log.Fatal(err)
	}
	r := reader{url: "http://" + *target + *path, page: page, rate: *rate, coded: *coded, client: newClient(*rate, *connections)}
	begin := time.Now()
	r.readAll(*connections, time.Duration(*seconds*1e9))
	took := time.Since(begin).Seconds()
	if r.failed != nil {
		log.Fatal(r.failed)
	}
	slices.Sort(r.first)
	slices.Sort(r.whole)
	n := len(r.whole)
	fmt.Printf("requests %d\nseconds %.3f\nrps %.3f\n", n, took, float64(n)/took)
	fmt.Printf("first_p50_us %.1f\np50_us %.1f\np99_us %.1f\n", r.first[n/2], r.whole[n/2], r.whole[n*99/100])
}

// newClient has small buffers in the kernel where reading is slow: in those of the
// usual size a whole page would wait, and the server would not know.
func newClient(rate float64, connections int) *http.Client {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok && rate > 0 {
			err = tcp.SetReadBuffer(64 << 10)
		}
		return conn, err
	}
	return &http.Client{
		Transport: &http.Transport{DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: connections},
		Timeout:   2 * time.Minute,
	}
}

// reader reads a page over some connections.
type reader struct {
	url    string
	page   []byte
	rate   float64
	coded  bool
	client *http.Client

	mu           sync.Mutex
	first, whole []float64 // µs from the request to the body's first byte, and to its end
	failed       error
}

func (r *reader) readAll(connections int, span time.Duration) {
	end := time.Now().Add(span)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			buffer := make([]byte, 64<<10)
			for ok := true; ok; ok = ok && time.Now().Before(end) {
				first, whole, err := r.read(buffer)
				ok = r.note(first, whole, err)
			}
		})
	}
	all.Wait()
}

// note counts a page, unless something has gone wrong.
func (r *reader) note(first, whole time.Duration, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
	if r.failed != nil {
		return false
	}
	r.first = append(r.first, float64(first)/1e3)
	r.whole = append(r.whole, float64(whole)/1e3)
	return true
}

// read reads the page once.
func (r *reader) read(buffer []byte) (first, whole time.Duration, err error) {
	request, err := http.NewRequest(http.MethodGet, r.url, nil)
	if err != nil {
		return 0, 0, err
	}
	if r.coded {
		request.Header.Set("Accept-Encoding", "gzip")
	}
	begin := time.Now()
	response, err := r.client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	body, err := r.body(response)
	if err != nil {
		return 0, 0, err
	}
	if err := r.follow(body, buffer, func() { first = time.Since(begin) }); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", r.url, err)
	}
	return first, time.Since(begin), nil
}

// compare tells whether the page goes on like this at a place.
func (r *reader) compare(got []byte, at int) error {
	want := r.page[at:]
	if len(got) <= len(want) && bytes.Equal(got, want[:len(got)]) {
		return nil
	}
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	show := func(text []byte) []byte { return text[max(n-20, 0):min(len(text), n+60)] }
	return fmt.Errorf("at byte %d of %d: want %q, got %q", at+n, len(r.page), show(want), show(got))
}
