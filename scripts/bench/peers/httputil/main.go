// Command httputil is the standard library's reverse proxy with a transport
// that keeps its connections and buffers that are used again. With --rules it
// replaces in HTML by package regexp. It is a peer of scripts/bench.sh and no part
// of Redoubt.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"sync"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "`address`")
	to := flag.String("to", "", "`address` of the origin")
	workers := flag.Int("workers", 1, "processors to use")
	file := flag.String("rules", "", "`file` of rules, as redoubt subst takes it")
	flag.Parse()
	var rules []rule
	if *file != "" {
		var err error
		if rules, err = readRules(*file); err != nil {
			log.Fatal(err)
		}
	}
	runtime.GOMAXPROCS(*workers)
	if err := serve(*listen, *to, rules); err != nil {
		log.Fatal(err)
	}
}

func serve(address, to string, rules []rule) error {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	origin := &url.URL{Scheme: "http", Host: to}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(origin) },
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     75 * time.Second,
			DisableCompression:  true, // or it would ask for gzip, and decode it
		},
		BufferPool: newBuffers(),
	}
	if rules != nil {
		proxy.ModifyResponse = func(r *http.Response) error { return edit(r, rules) }
	}
	server := http.Server{Handler: proxy}
	fmt.Printf("listening on %s\n", l.Addr())
	return server.Serve(l)
}

// buffers are what bodies are copied through. It implements
// httputil.BufferPool.
type buffers struct{ free sync.Pool }

// bufferSize was measured: a fifth more bytes per CPU second than with the 32 KB
// that ReverseProxy takes itself.
const bufferSize = 128 << 10

func newBuffers() *buffers {
	b := &buffers{}
	b.free.New = func() any { return new([bufferSize]byte) }
	return b
}

// Get returns a buffer of bufferSize.
func (b *buffers) Get() []byte { return b.free.Get().(*[bufferSize]byte)[:] }

// Put takes one back.
func (b *buffers) Put(buffer []byte) { b.free.Put((*[bufferSize]byte)(buffer)) }
