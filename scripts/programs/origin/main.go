// Command origin is a net/http server that shows what HTTP can do: the origin of
// scripts/programs.sh behind the proxy. What it answers depends on nothing but
// the request, so that answers with and without the proxy can be compared.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
)

func main() {
	if err := serve(); err != nil {
		log.Fatal(err)
	}
}

func serve() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	o := &origin{turn: turns{asked: make(chan struct{})}}
	server := http.Server{Handler: o.routes(), ConnState: o.count, MaxHeaderBytes: 1 << 20}
	fmt.Printf("listening on %s\n", l.Addr())
	return server.Serve(l)
}

// origin counts what clients cannot see.
type origin struct {
	conns   atomic.Int64 // that were ever made
	aborted atomic.Int64 // requests whose client has gone
	turn    turns        // of its events
}

func (o *origin) count(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		o.conns.Add(1)
	}
}

func (o *origin) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/echo/", echo)
	m.HandleFunc("/echo", echo)
	m.HandleFunc("/refuse", refuse)
	m.HandleFunc("/early", early)
	m.HandleFunc("/duplex", duplex)
	m.HandleFunc("/upgrade", upgrade)

	m.HandleFunc("/fields", fields)
	m.HandleFunc("/heavy", heavy)
	m.HandleFunc("/status/{code}", status)
	m.HandleFunc("/plain", plain)
	m.HandleFunc("/chunked/{pieces}", chunked)
	m.HandleFunc("/trailers", trailers)
	m.HandleFunc("/hints", hints)
	m.HandleFunc("/until-close", untilClose)
	m.HandleFunc("/cut/{how}", cut)

	m.HandleFunc("/events", o.turn.events)
	m.HandleFunc("/events/next", o.turn.next)
	m.HandleFunc("/endless", o.endless)
	m.HandleFunc("/counts/conns", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, o.conns.Load()) })
	m.HandleFunc("/counts/aborted", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, o.aborted.Load()) })
	// Paths as they are sent: a ServeMux would redirect those that are not clean.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "*" || r.Header.Get("X-Echo") != "" {
			echo(w, r)
			return
		}
		m.ServeHTTP(w, r)
	})
}
