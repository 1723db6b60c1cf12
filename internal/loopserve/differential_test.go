//go:build linux

package loopserve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redoubt/ammo"
	"redoubt/data"
	"redoubt/data/gen"
	"redoubt/handlers"
	"redoubt/internal/fastserve"
	"redoubt/store"
)

// The same well-formed traffic to both engines gets the same answers: all but
// the order of fields, and the second of a Date.
func TestEnginesAgree(t *testing.T) {
	t.Run("generated set", func(t *testing.T) {
		dir := t.TempDir()
		o := gen.DefaultOptions()
		o.Users, o.Locations, o.Visits, o.Requests = 500, 300, 5000, 6000
		if testing.Short() {
			o.Requests = 1500
		}
		if _, err := gen.Write(context.Background(), dir, o, nil); err != nil {
			t.Fatal(err)
		}
		agreeOnAmmo(t, dir)
	})
	t.Run("official set", func(t *testing.T) {
		dir := os.Getenv("REDOUBT_TRAVELS")
		if dir == "" {
			t.Skip("REDOUBT_TRAVELS is not set")
		}
		agreeOnAmmo(t, dir)
	})
	t.Run("odd requests", func(t *testing.T) {
		p := newPair(t, newStore(t, 300), newStore(t, 300))
		for _, request := range oddRequests {
			p.ask(request)
		}
		rng := rand.New(rand.NewPCG(3, 0))
		rounds := 3000
		if testing.Short() {
			rounds = 600
		}
		for range rounds {
			p.ask(randomRequest(rng))
		}
	})
}

var oddRequests = []string{
	"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	"OPTIONS /users/1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"TRACE /users/1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /?a=b HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /users/1?? HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET http://x/users/1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET http://x/users/2/visits?toDate=5 HTTP/1.1\r\nHost: other\r\n\r\n",
	"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET http://x?a HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /users/1 HTTP/1.1\r\nhOST:x\r\n\r\n",
	"GET /users/1 HTTP/1.1\r\nHost: \t x \t \r\nX:\r\n\r\n",
	"GET /users/1 HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive\r\n\r\n",
	"GET /users/1 HTTP/1.1\r\nHost: x\r\nConnection: CLOSE\r\n\r\n",
	"GET /users/1 HTTP/1.0\r\nConnection: close\r\n\r\n",
	"HEAD /users/2/visits HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"GET /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
	"GET /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	"POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	"POST /users/1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /users/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n000002\r\n{}\r\n00\r\n\r\n",
	"PUT /users/new HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
	"DELETE /users/1/visits HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /users/1 HTTP/1.1\r\nHost: x\r\nX: \x80\xff\r\n\r\n",
	"\r\n\r\nGET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n",
}

// randomRequest mixes parts that any request may have.
func randomRequest(rng *rand.Rand) string {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	method := pick("GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "get", "PATCH")
	path := pick("/users/", "/users/", "/locations/", "/visits/", "/users", "/x/") +
		pick("0", "1", "2", "2", "49", "50", "new", "01", "-1", "4294967295", "4294967297", "%31", "") +
		pick("", "", "", "/visits", "/avg", "/", "//", "/visits/")
	query := ""
	for n := rng.IntN(4); n > 0; n-- {
		query += pick("?", "&") + pick("fromDate", "toDate", "country", "toDistance", "fromAge", "toAge", "gender", "query_id", "%66romDate", "") +
			pick("=", "=", "=", "") + pick("", "0", "10", "-5", "C", "m", "x", "1e3", "99999999999999999999", "%43", "+", "%", "%zz", "%ff")
	}
	var b strings.Builder
	version := pick("1.1", "1.1", "1.1", "1.0")
	fmt.Fprintf(&b, "%s %s%s HTTP/%s\r\n", method, path, query, version)
	fields := []string{"Host: x"}
	for _, f := range []string{"Accept: */*", "X-Long: " + strings.Repeat("y", rng.IntN(3000)), "Cookie: a=b; c=d", "cookie: e", "User-Agent:", "Connection: keep-alive", "Connection: close", "Accept-Encoding: gzip", "If-None-Match: *", "Range: bytes=0-3"} {
		if rng.IntN(6) == 0 {
			fields = append(fields, f)
		}
	}
	body := ""
	if method == "POST" || method == "PUT" || method == "PATCH" {
		body = pick("{}", "", "[]", "{", `{"first_name":"Ж"}`, `{"birth_date":5}`, `{"id":7}`, `{"mark":4}`, `{"distance":9,"x":[{}]}`, `{"gender":"q"}`, strings.Repeat(" ", rng.IntN(20000))+"{}")
		if rng.IntN(4) == 0 && version == "1.1" {
			fields = append(fields, "Transfer-Encoding: chunked")
			body = chunked(rng, body)
		} else {
			fields = append(fields, fmt.Sprint("Content-Length: ", len(body)))
		}
	}
	rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	b.WriteString(strings.Join(fields, "\r\n") + "\r\n\r\n" + body)
	return b.String()
}

func chunked(rng *rand.Rand, body string) string {
	var b strings.Builder
	for body != "" {
		n := 1 + rng.IntN(len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

// agreeOnAmmo fires the ammo of all three phases.
func agreeOnAmmo(t *testing.T, dir string) {
	p := newPair(t, load(t, dir), load(t, dir))
	records := 0
	for _, phase := range ammo.TravelsPhases(dir) {
		file, err := os.Open(phase.Ammo)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for r := ammo.NewPhantomReader(file, phase.Ammo, 1<<20); ; records++ {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			p.ask(string(record.Bytes))
		}
	}
	t.Logf("%d requests", records)
	if records < 1000 {
		t.Errorf("only %d requests", records)
	}
}

func load(t *testing.T, dir string) *store.Store {
	t.Helper()
	source, err := data.Open(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	builder, err := store.NewBuilder(store.Config{Now: source.Options().Now, Users: source.Counts().Users, Locations: source.Counts().Locations, Visits: source.Counts().Visits})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Load(context.Background(), func() data.Adder { return builder.Adder() }, 1, func(data.Progress) {}); err != nil {
		t.Fatal(err)
	}
	s, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pair is both engines over equal stores.
type pair struct {
	t    *testing.T
	addr [2]string // ours, fasthttp's
	conn [2]*bufio.Reader
	out  [2]net.Conn
}

func newPair(t *testing.T, ours, theirs *store.Store) *pair {
	p := &pair{t: t}
	p.addr[0], _ = start(t, ours, Options{Workers: 2})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr[1] = l.Addr().String()
	server := fastserve.New(handlers.New(theirs), fastserve.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		for _, c := range p.out {
			if c != nil {
				c.Close()
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served, theirs.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// ask sends a request to both and compares all there is to an answer. Their
// connections stay as long as both answers let them.
func (p *pair) ask(request string) {
	p.t.Helper()
	var got [2]answer
	for i := range got {
		if p.out[i] == nil {
			c := dial(p.t, p.addr[i])
			p.out[i], p.conn[i] = c, bufio.NewReader(c)
		}
		p.out[i].SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(p.out[i], request); err != nil {
			p.t.Fatalf("%.300q: %v", request, err)
		}
		method, _, _ := strings.Cut(strings.TrimLeft(request, "\r\n"), " ")
		a, err := readAnswer(p.conn[i], method)
		if err != nil {
			p.t.Fatalf("engine %d, %.300q: %v", i, request, err)
		}
		if date, err := http.ParseTime(a.header.Get("Date")); err != nil || time.Since(date).Abs() > time.Minute {
			p.t.Errorf("engine %d: Date %q", i, a.header.Get("Date"))
		}
		a.header.Del("Date")
		got[i] = a
		if a.closed {
			p.out[i].Close()
			p.out[i] = nil
		}
	}
	if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) || fmt.Sprint(got[0].header) != fmt.Sprint(got[1].header) || got[0].closed != got[1].closed {
		p.t.Errorf("%.300q\nnetloop:  %.300v %v, closed %v\nfasthttp: %.300v %v, closed %v", request,
			got[0], got[0].header, got[0].closed, got[1], got[1].header, got[1].closed)
	}
}
