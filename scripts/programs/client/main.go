// Command client asks scripts/programs/origin the same with and without the
// proxy in between, by Go's own client and by hand, and compares what comes. It
// prints a line for each case, and exits with 1 if any is wrong.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	origin := flag.String("origin", "", "`address` of the origin")
	proxy := flag.String("proxy", "", "`address` of the proxy")
	get := flag.String("get", "", "print what this `URL` gives, and do nothing else")
	flag.Parse()
	if *get != "" {
		if err := show(*get); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	wrong := 0
	report := func(name string, err error) {
		if err != nil {
			wrong++
			fmt.Printf("WRONG go %s: %v\n", name, err)
			return
		}
		fmt.Printf("ok    go %s\n", name)
	}
	for _, c := range cases {
		report(c.name, compare(*origin, *proxy, c.talk))
	}
	for _, c := range single {
		s := newSide(*proxy)
		report(c.name, c.talk(s))
		s.close()
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

func show(url string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// side is one of the two ways to the origin.
type side struct {
	addr      string
	client    *http.Client
	transport *http.Transport
}

func newSide(addr string) *side {
	t := &http.Transport{
		// All URLs name the same host: what the origin sees must not differ.
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
		ExpectContinueTimeout:  5 * time.Second,
		MaxIdleConnsPerHost:    64,
		MaxResponseHeaderBytes: 1 << 20,
	}
	return &side{addr: addr, transport: t, client: &http.Client{
		Transport: t, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (s *side) close() { s.transport.CloseIdleConnections() }

// note is what has come, in words that do not depend on the way.
type note struct{ strings.Builder }

func (n *note) line(format string, args ...any) { fmt.Fprintf(n, format+"\n", args...) }

// compare runs a talk on both sides.
func compare(origin, proxy string, talk func(*side, *note) error) error {
	var texts [2]string
	for i, addr := range []string{origin, proxy} {
		s, n := newSide(addr), &note{}
		if err := talk(s, n); err != nil {
			return fmt.Errorf("%s: %w", []string{"without the proxy", "with it"}[i], err)
		}
		s.close()
		texts[i] = n.String()
	}
	return difference(texts[0], texts[1])
}

// difference shows the first line that differs.
func difference(want, got string) error {
	if want == got {
		return nil
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; ; i++ {
		switch {
		case i == len(a) || i == len(b):
			return fmt.Errorf("%d lines without the proxy, %d with it", len(a), len(b))
		case a[i] != b[i]:
			return fmt.Errorf("without the proxy %q, with it %q", cmp.Or(a[i], "nothing"), cmp.Or(b[i], "nothing"))
		}
	}
}
