//go:build linux

package proxy

import (
	"strings"
	"testing"
)

// An upstream that leads back to the proxy ends after some rounds, and nothing of
// them stays.
func TestInCircles(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	p, addr := run(t, settings(s.addr), Options{Workers: 2})
	reload(t, p, settings(addr))
	client := connect(t, addr)
	const asked = 5
	for range asked {
		client.want(t, 508, "GET /", "")
	}
	if n := metric(t, p, `requests_total{route="all",code="508"}`); n != asked*(mostRounds+1) {
		t.Errorf("%v requests are counted, want %d", n, asked*(mostRounds+1))
	}
	reload(t, p, settings(s.addr))
	client.want(t, 200, "GET /", "")
	client.Close()
	quiet(t, p) // the rounds' connections have been closed
}

// Others in Via are no circle, nor is a way through a few of our kind.
func TestNoCircle(t *testing.T) {
	s, addr := theatre(t)
	round, other := "1.1 redoubt", "1.1 proxy, 1.0 redoubtable (redoubt)"
	for _, c := range []struct {
		lines  string
		status string
	}{
		{"Via: " + strings.Repeat(other+", ", 20) + other, "200"},
		{"Via: " + strings.Repeat(round+", ", mostRounds-2) + round, "200"},
		{"Via: " + strings.Repeat(round+", ", mostRounds-1) + round, "508"},
		{strings.Repeat("Via: "+round+"\r\n", mostRounds-2) + "Via: " + round, "200"},
		{strings.Repeat("Via: "+round+"\r\n", mostRounds-1) + "Via: " + round, "508"},
		{strings.Repeat("Via: "+round+","+other+"\r\n", mostRounds-1) + "Via: 1.0 redoubt", "508"},
	} {
		s.next(says(hello))
		answer, err := say(t, addr, field(c.lines))
		if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+c.status+" ") {
			t.Errorf("%q: %.30q %v, want %s", c.lines, answer, err, c.status)
		}
		if n := len(s.got(t, false)); (n == 1) != (c.status == "200") {
			t.Errorf("%q arrives %d times", c.lines, n)
		}
	}
}

// Requests that ask about the way are counted down, and the last is answered
// here; in all others the field means nothing.
func TestMaxForwards(t *testing.T) {
	s, addr := theatre(t)
	const none = "-"
	for _, c := range []struct{ method, value, status, arrives string }{
		{"OPTIONS", "0", "204", ""},
		{"OPTIONS", "00", "204", ""},
		{"OPTIONS", "1", "200", "0"},
		{"OPTIONS", "5", "200", "4"},
		{"OPTIONS", "100", "200", "99"},
		{"OPTIONS", none, "200", none},
		{"OPTIONS", "x", "200", "x"},
		{"OPTIONS", "-1", "200", "-1"},
		{"OPTIONS", "99999999999999999999", "200", "99999999999999999999"},
		{"TRACE", "0", "405", ""},
		{"TRACE", "1", "200", "0"},
		{"TRACE", "5", "200", "4"},
		{"TRACE", none, "200", none},
		{"TRACE", "x", "200", "x"},
		{"GET", "0", "200", "0"},
		{"GET", "1", "200", "1"},
		{"GET", "5", "200", "5"},
		{"GET", "x", "200", "x"},
	} {
		request := c.method + " / HTTP/1.1\r\nHost: a\r\n"
		if c.value != none {
			request += "max-forwards: " + c.value + "\r\n"
		}
		s.next(says(hello))
		answer, err := say(t, addr, request+"\r\n")
		if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+c.status+" ") {
			t.Errorf("%s %s: %.30q %v, want %s", c.method, c.value, answer, err, c.status)
		}
		if c.arrives == "" && !strings.Contains(answer, "\r\nAllow: GET, ") {
			t.Errorf("%s %s: %q does not say what is allowed", c.method, c.value, answer)
		}
		got := ""
		for _, m := range s.got(t, false) {
			if got += strings.Join(m.get("Max-Forwards"), ","); len(m.get("Max-Forwards")) == 0 {
				got += none
			}
		}
		if got != c.arrives {
			t.Errorf("%s %s arrives with %q, want %q", c.method, c.value, got, c.arrives)
		}
	}
}

// One that is not to go farther needs no route.
func TestMaxForwardsWithoutRoute(t *testing.T) {
	c := settings("127.0.0.1:1")
	c.Routes[0].Path = "/somewhere"
	_, addr := start(t, c, Options{})
	for request, want := range map[string]string{
		"OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0": "204",
		"OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0": "204",
		"TRACE / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0":   "405",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 1": "404",
		"GET / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0":     "404",
	} {
		if answer, err := say(t, addr, request+"\r\n\r\n"); err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+want+" ") {
			t.Errorf("%q: %.30q %v, want %s", request, answer, err, want)
		}
	}
}
