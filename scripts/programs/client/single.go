package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"
)

// single are talks through the proxy only.
var single = []struct {
	name string
	talk func(*side) error
}{
	{"what the proxy adds to a request", adds},
	{"200 requests on one connection, and one at the origin", reuse},
	{"a client that goes away ends the request at the origin", goesAway},
}

// adds looks for the proxy's fields in a request, and in the answer.
func adds(s *side) error {
	r, err := http.NewRequest("GET", host+"/echo", nil)
	if err != nil {
		return err
	}
	r.Header.Set("X-Show", "yes")
	r.Header.Set("X-Forwarded-For", "192.0.2.1") // of nobody who is trusted
	r.Header.Set("Connection", "X-Private")
	r.Header.Set("X-Private", "between us")
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	for _, want := range []string{
		"X-Forwarded-For: 127.0.0.1\n", "X-Forwarded-Host: origin.test\n", "X-Forwarded-Proto: http\n",
		"Forwarded: for=127.0.0.1;host=\"origin.test\";proto=http\n", "Via: 1.1 redoubt\n", "X-Request-Id: ",
	} {
		if !strings.Contains("\n"+string(body), "\n"+want) {
			return fmt.Errorf("the origin does not see %q but\n%s", want, body)
		}
	}
	if strings.Contains(string(body), "X-Private") {
		return fmt.Errorf("a field of the connection gets to the origin:\n%s", body)
	}
	for _, name := range []string{"Via", "Server-Timing", "Date"} {
		if len(answer.Header[name]) != 1 {
			return fmt.Errorf("%s in the answer: %q", name, answer.Header[name])
		}
	}
	return nil
}

// reuse counts connections on both sides of the proxy.
func reuse(s *side) error {
	if err := s.get(&note{}, "GET", "/plain"); err != nil {
		return err
	}
	before, err := s.count("conns")
	if err != nil {
		return err
	}
	made := 0
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if !c.Reused {
			made++
		}
	}})
	for i := range 200 {
		target := []string{"/plain", "/chunked/10", "/status/204", "/status/404", "/echo", "/trailers"}[i%6]
		r, err := http.NewRequestWithContext(ctx, []string{"GET", "HEAD", "GET"}[i%3], host+target, nil)
		if err == nil && i%4 == 3 {
			r, err = http.NewRequestWithContext(ctx, "POST", host+"/echo", strings.NewReader(letters(i)))
		}
		if err == nil {
			err = s.do(&note{}, r)
		}
		if err != nil {
			return err
		}
	}
	after, err := s.count("conns")
	switch {
	case err != nil:
		return err
	case made > 0:
		return fmt.Errorf("the client had to make %d more connections", made)
	case after != before:
		return fmt.Errorf("the proxy made %d more connections to the origin", after-before)
	}
	return nil
}

func (s *side) count(what string) (int, error) {
	text, err := s.read("/counts/" + what)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// goesAway reads the beginning of what never ends.
func goesAway(s *side) error {
	before, err := s.count("aborted")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", host+"/endless", nil)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.CopyN(io.Discard, answer.Body, 100_000); err != nil {
		return err
	}
	cancel()
	for range 100 {
		after, err := s.count("aborted")
		if err != nil || after > before {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("the origin still sends after 2 s")
}
