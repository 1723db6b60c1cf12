package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// ofProxies are fields that a proxy adds, or that are about one connection.
// programs.sh asks for them with X-Show.
var ofProxies = []string{"Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Request-Id", "Connection", "Keep-Alive"}

// echo tells how it understands a request.
func echo(w http.ResponseWriter, r *http.Request) {
	hash := sha256.New()
	n, err := io.Copy(hash, r.Body)
	out := &strings.Builder{}
	target := strings.TrimPrefix(r.RequestURI, "http://"+r.Host) // a proxy's next is told the path alone
	fmt.Fprintf(out, "%s %s\nhost %s\nframing %v %d\nbody %d %x\n", r.Method, target, r.Host, r.TransferEncoding, r.ContentLength, n, hash.Sum(nil))
	if err != nil {
		fmt.Fprintf(out, "error %v\n", err)
	}
	list(out, "", r.Header, r.Header.Get("X-Show") != "")
	list(out, "trailer ", r.Trailer, true)
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", fmt.Sprint(out.Len()))
	io.WriteString(w, out.String())
}

func list(out io.Writer, before string, h http.Header, all bool) {
	var names []string
	for name := range h {
		if all || !slices.Contains(ofProxies, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range h[name] {
			fmt.Fprintf(out, "%s%s: %s\n", before, name, value)
		}
	}
}

// refuse answers without a look at the body: to a client that waits for 100 it
// is the whole answer.
func refuse(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "none of your bodies", http.StatusForbidden)
}

// early answers when it has the first kilobyte, and then takes the rest.
func early(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	if err := c.EnableFullDuplex(); err != nil {
		panic(err)
	}
	first := make([]byte, 1024)
	io.ReadFull(r.Body, first)
	fmt.Fprintln(w, "early")
	c.Flush()
	n, err := io.Copy(io.Discard, r.Body)
	fmt.Fprintln(w, n+1024, err)
}

// duplex sends every line back before the next one comes.
func duplex(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	if err := c.EnableFullDuplex(); err != nil {
		panic(err)
	}
	c.Flush()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		fmt.Fprintf(w, "<%s>\n", lines.Text())
		c.Flush()
	}
}

// upgrade switches to a protocol in which every line comes back, and at the end
// how many there were.
func upgrade(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "lines" {
		http.Error(w, "Upgrade: lines", http.StatusUpgradeRequired)
		return
	}
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(both, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\nX-Key: %s\r\n\r\nwelcome\n", r.Header.Get("X-Key"))
	both.Flush()
	for n := 0; ; n++ {
		line, err := both.ReadString('\n')
		if err != nil {
			fmt.Fprintf(both, "%d lines\n", n)
			both.Flush()
			return
		}
		fmt.Fprintf(both, "<%s>\n", strings.TrimSpace(line))
		both.Flush()
	}
}
