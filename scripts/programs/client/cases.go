package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// cases are talks that must go alike with and without the proxy.
var cases = []struct {
	name string
	talk func(*side, *note) error
}{
	{"GET of a sized body", gets("GET", "/plain")},
	{"GET of 500 chunks", gets("GET", "/chunked/500")},
	{"GET of no chunk", gets("GET", "/chunked/0")},
	{"GET of a body that ends with the connection", gets("GET", "/until-close")},
	{"HEAD", gets("HEAD", "/plain", "/chunked/3", "/fields", "/status/404", "/status/304")},
	{"statuses with and without a body", gets("GET", "/status/204", "/status/205", "/status/304", "/status/301", "/status/404", "/status/500", "/status/599", "/nothing")},
	{"fields as they come", gets("GET", "/fields")},
	{"25 KB of fields in an answer", gets("GET", "/heavy")},
	{"methods of all kinds", methods},
	{"trailers of an answer", gets("GET", "/trailers")},
	{"trailers of a request", requestTrailers},
	{"103 Early Hints", gets("GET", "/hints")},
	{"POST of 5 MB", func(s *side, n *note) error { return s.post(n, "/echo", strings.NewReader(letters(5<<20))) }},
	{"POST of 5 MB in chunks", func(s *side, n *note) error { return s.post(n, "/echo", unsized(5<<20)) }},
	{"POST of sizes about those of buffers", sizes},
	{"100 Continue, sized", func(s *side, n *note) error { return expect(s, n, "/echo", strings.NewReader(letters(100_000))) }},
	{"100 Continue, in chunks", func(s *side, n *note) error { return expect(s, n, "/echo", unsized(100_000)) }},
	{"an expectation that is refused", refused},
	{"an answer that begins before the body ends", func(s *side, n *note) error { return s.post(n, "/early", unsized(3<<20)) }},
	{"both directions at the same time", duplex},
	{"server-sent events, each when it is sent", serverEvents},
	{"a sized answer that is cut", gets("GET", "/cut/sized")},
	{"a chunked answer that is cut", gets("GET", "/cut/chunked")},
	{"an upgrade", upgrade},
	{"an upgrade with bytes behind the request", upgradeAtOnce},
	{"HTTP/1.0, closed", byHand("GET /plain HTTP/1.0\r\nHost: origin.test\r\n\r\n", "GET")},
	{"HTTP/1.0, kept", byHand("GET /plain HTTP/1.0\r\nHost: origin.test\r\nConnection: keep-alive\r\n\r\nGET /fields HTTP/1.0\r\nHost: origin.test\r\n\r\n", "GET", "GET")},
	{"HTTP/1.0 and chunks", byHand("GET /chunked/50 HTTP/1.0\r\nHost: origin.test\r\n\r\n", "GET")},
	{"requests in a pipeline", pipeline},
	{"absolute form", byHand("GET http://origin.test/echo?a=b HTTP/1.1\r\nHost: origin.test\r\nConnection: close\r\n\r\n", "GET")},
	{"parallel requests of all kinds", parallel},
}

func gets(method string, targets ...string) func(*side, *note) error {
	return func(s *side, n *note) error {
		for _, target := range targets {
			if err := s.get(n, method, target); err != nil {
				return fmt.Errorf("%s: %w", target, err)
			}
		}
		return nil
	}
}

func methods(s *side, n *note) error {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "PROPFIND"} {
		for _, body := range []string{"", "with a body"} {
			r, err := http.NewRequest(method, host+"/echo/"+method+"?a=%20b&c", strings.NewReader(body))
			if err == nil {
				err = s.do(n, r)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
	}
	return nil
}

func requestTrailers(s *side, n *note) error {
	r, err := newPost("/echo", unsized(10_000))
	if err != nil {
		return err
	}
	r.Trailer = http.Header{"X-Sum": {"7"}, "X-Other": {"a", "b"}}
	return s.do(n, r)
}

// sizes are about those at which something begins anew.
func sizes(s *side, n *note) error {
	for _, around := range []int{0, 1 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10} {
		for size := max(around-2, 0); size <= around+2; size++ {
			if err := s.post(n, "/echo", strings.NewReader(letters(size))); err != nil {
				return fmt.Errorf("%d bytes: %w", size, err)
			}
			if err := s.post(n, "/echo", unsized(size)); err != nil {
				return fmt.Errorf("%d bytes in chunks: %w", size, err)
			}
		}
	}
	return nil
}

func expect(s *side, n *note, target string, body io.Reader) error {
	r, err := newPost(target, body)
	if err != nil {
		return err
	}
	r.Header.Set("Expect", "100-continue")
	return s.do(n, r)
}

// refused has a body that nobody must ask for.
func refused(s *side, n *note) error {
	body := &counting{from: strings.NewReader(letters(100_000))}
	err := expect(s, n, "/refuse", body)
	n.line("%d bytes of the body were read", body.n)
	return err
}

type counting struct {
	from io.Reader
	n    int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += n
	return n, err
}

// duplex writes each line when the one before has come back.
func duplex(s *side, n *note) error {
	in, out := io.Pipe()
	r, err := newPost("/duplex", in)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	for i := range 20 {
		fmt.Fprintf(out, "%d %s\n", i, letters(i*300))
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		n.line("%s", line)
	}
	out.Close()
	if _, err := lines.ReadByte(); err != io.EOF {
		return fmt.Errorf("want the answer's end behind the request's, got %w", err)
	}
	return nil
}

// serverEvents asks for each event when the one before is here.
func serverEvents(s *side, n *note) error {
	answer, err := s.client.Get(host + "/events")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	noteFields(n, answer.Header)
	lines := bufio.NewReader(answer.Body)
	for range 5 {
		if _, err := s.read("/events/next"); err != nil {
			return err
		}
		for range 2 {
			line, err := lines.ReadString('\n')
			if err != nil {
				return err
			}
			n.line("%s", line)
		}
	}
	if _, err := lines.ReadByte(); err != io.EOF {
		return errors.New("want the end of the events")
	}
	return nil
}

// parallel compares what comes on many connections at a time with what comes
// alone.
func parallel(s *side, n *note) error {
	talks := []func(*side, *note) error{
		gets("GET", "/plain", "/status/204", "/fields", "/chunked/100"), gets("HEAD", "/plain"), gets("GET", "/trailers", "/heavy"),
		func(s *side, n *note) error { return s.post(n, "/echo", strings.NewReader(letters(70_000))) },
		func(s *side, n *note) error { return s.post(n, "/echo", unsized(70_000)) },
		requestTrailers,
	}
	alone := make([]note, len(talks))
	for i, talk := range talks {
		if err := talk(s, &alone[i]); err != nil {
			return err
		}
	}
	errs := make([]error, 32)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for k := range 24 {
				var got note
				which := (i + k) % len(talks)
				if errs[i] = talks[which](s, &got); errs[i] != nil {
					return
				}
				if got.String() != alone[which].String() {
					errs[i] = fmt.Errorf("beside others %q, alone %q", got.String(), alone[which].String())
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
