package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// fields has what is easily lost: order, repetition, empty values, bytes beyond
// ASCII, and names that a Connection field takes with it.
func fields(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h["Set-Cookie"] = []string{"a=1; Path=/", "b=2; HttpOnly", "a=3"}
	h["X-Empty"] = []string{""}
	h["X-Latin"] = []string{"caf\xe9"}
	h["x-lower-case"] = []string{"kept"}
	h["ETag"] = []string{`W/"weak"`}
	h["Cache-Control"] = []string{"no-cache", "private"}
	h["Content-Language"] = []string{"de, en"}
	h["X-Long"] = []string{strings.Repeat("long ", 800)}
	fmt.Fprintln(w, "fields")
}

// heavy has a head of 25 KB.
func heavy(w http.ResponseWriter, _ *http.Request) {
	for i := range 50 {
		w.Header().Set(fmt.Sprintf("X-Heavy-%d", i), strings.Repeat("h", 490))
	}
	fmt.Fprintln(w, "heavy")
}

// status answers with one, and a body where it may have one.
func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 999 {
		code = 400
	}
	switch code {
	case 204, 304:
		w.Header().Set("ETag", `"none"`)
		w.WriteHeader(code)
	case 205:
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(code)
	default:
		w.Header().Set("Location", "/elsewhere?code="+strconv.Itoa(code))
		w.WriteHeader(code)
		fmt.Fprintln(w, "status", code)
	}
}

// plain has a length, also in answer to HEAD.
func plain(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", "2048")
	if r.Method != "HEAD" {
		io.WriteString(w, strings.Repeat("plain\n  ", 256))
	}
}

// chunked sends pieces of all sizes, each as it is made.
func chunked(w http.ResponseWriter, r *http.Request) {
	pieces, _ := strconv.Atoi(r.PathValue("pieces"))
	w.Header().Set("Content-Type", "text/plain")
	c := http.NewResponseController(w)
	c.Flush()
	for i := range min(pieces, 10_000) {
		io.WriteString(w, strings.Repeat(fmt.Sprintf("%d ", i), i%700)+"\n")
		c.Flush()
	}
}

// trailers has some, one of them not announced.
func trailers(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Trailer", "X-Sum, X-Empty")
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "body before trailers\n")
	http.NewResponseController(w).Flush()
	w.Header().Set("X-Sum", "21")
	w.Header().Set("X-Empty", "")
	w.Header().Set(http.TrailerPrefix+"X-Late", "not announced")
}

// hints sends 103 twice before the answer.
func hints(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Link", "</style.css>; rel=preload; as=style")
	w.WriteHeader(http.StatusEarlyHints)
	h.Add("Link", "</script.js>; rel=preload; as=script")
	w.WriteHeader(http.StatusEarlyHints)
	h.Set("Content-Type", "text/plain")
	fmt.Fprintln(w, "hinted")
}

// untilClose ends its body with the connection.
func untilClose(w http.ResponseWriter, _ *http.Request) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	io.WriteString(both, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
	for i := range 2000 {
		fmt.Fprintf(both, "line %d until the end\n", i)
	}
	both.Flush()
}

// cut ends its answer in the middle.
func cut(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("how") == "sized" {
		w.Header().Set("Content-Length", "1000")
	}
	io.WriteString(w, "half of it\n")
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
