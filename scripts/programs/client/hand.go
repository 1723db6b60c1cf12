package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// dial makes a connection that Go's client has no part in.
func (s *side) dial() (*net.TCPConn, error) {
	c, err := net.DialTimeout("tcp", s.addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), c.SetDeadline(time.Now().Add(10 * time.Second))
}

// byHand sends some bytes, and notes as many answers as there are methods, and
// the connection's end.
func byHand(say string, methods ...string) func(*side, *note) error {
	return func(s *side, n *note) error {
		c, err := s.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := io.WriteString(c, say); err != nil {
			return err
		}
		in := bufio.NewReader(c)
		for _, method := range methods {
			answer, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil {
				return err
			}
			answer.ContentLength = 0 // of an HTTP/1.0 answer in pieces it depends on the way
			if err := noteAnswer(n, answer); err != nil {
				return err
			}
		}
		if _, err := in.ReadByte(); err != io.EOF {
			return fmt.Errorf("want the connection's end, got %w", err)
		}
		return nil
	}
}

func pipeline(s *side, n *note) error {
	const each = "GET /plain HTTP/1.1\r\nHost: origin.test\r\n\r\n" +
		"POST /echo HTTP/1.1\r\nHost: origin.test\r\nContent-Length: 5\r\n\r\nhello" +
		"HEAD /fields HTTP/1.1\r\nHost: origin.test\r\n\r\n" +
		"POST /echo HTTP/1.1\r\nHost: origin.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
		"GET /chunked/20 HTTP/1.1\r\nHost: origin.test\r\n\r\n" +
		"GET /status/204 HTTP/1.1\r\nHost: origin.test\r\n\r\n"
	methods := []string{"GET", "POST", "HEAD", "POST", "GET", "GET"}
	var all []string
	for range 20 {
		all = append(all, methods...)
	}
	last := "GET /plain HTTP/1.1\r\nHost: origin.test\r\nConnection: close\r\n\r\n"
	return byHand(strings.Repeat(each, 20)+last, append(all, "GET")...)(s, n)
}

const askUpgrade = "GET /upgrade HTTP/1.1\r\nHost: origin.test\r\nConnection: Upgrade\r\nUpgrade: lines\r\nX-Key: k1\r\n\r\n"

// upgrade talks in lines, and then ends its side first.
func upgrade(s *side, n *note) error { return upgraded(s, n, askUpgrade, 0) }

// upgradeAtOnce does not wait for the answer.
func upgradeAtOnce(s *side, n *note) error { return upgraded(s, n, askUpgrade+"too early\n", 1) }

func upgraded(s *side, n *note, say string, early int) error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, say); err != nil {
		return err
	}
	in := bufio.NewReader(c)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	n.line("%s", answer.Status)
	noteFields(n, answer.Header)
	for i := range 1 + early + 10 {
		if i > early {
			fmt.Fprintf(c, "%d %s\n", i, letters(i*1000))
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		n.line("%s", line)
	}
	if err := c.CloseWrite(); err != nil {
		return err
	}
	rest, err := io.ReadAll(in)
	n.line("%s", rest)
	return err
}
