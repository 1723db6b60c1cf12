// Command fasthttp-proxy is a reverse proxy made of fasthttp's server and
// client, as short as one would write it and no shorter. It is a peer of
// scripts/bench.sh and no part of Redoubt.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"runtime"

	"github.com/valyala/fasthttp"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "`address`")
	to := flag.String("to", "", "`address` of the origin")
	workers := flag.Int("workers", 1, "processors to use")
	stream := flag.Bool("stream", false, "pass bodies on while they come, rather than whole")
	flag.Parse()
	runtime.GOMAXPROCS(*workers)
	if err := serve(*listen, *to, *stream); err != nil {
		log.Fatal(err)
	}
}

func serve(address, to string, stream bool) error {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	origin := &fasthttp.HostClient{
		Addr:               to,
		MaxConns:           4096,
		StreamResponseBody: stream,
		// What the origin and the client say goes on as they say it.
		NoDefaultUserAgentHeader:      true,
		DisableHeaderNamesNormalizing: true,
		DisablePathNormalizing:        true,
	}
	server := fasthttp.Server{
		NoDefaultServerHeader:         true,
		NoDefaultDate:                 true,
		NoDefaultContentType:          true,
		DisableHeaderNamesNormalizing: true,
		Handler: func(ctx *fasthttp.RequestCtx) {
			request, response := &ctx.Request, &ctx.Response
			// Of the fields that are between two neighbours only, these are
			// what a client of today may send.
			request.Header.Del("Connection")
			request.Header.Del("Keep-Alive")
			request.Header.Del("Upgrade")
			if err := origin.Do(request, response); err != nil {
				ctx.Error(err.Error(), fasthttp.StatusBadGateway)
				return
			}
			response.Header.Del("Connection")
			response.Header.Del("Keep-Alive")
		},
	}
	fmt.Printf("listening on %s\n", l.Addr())
	return server.Serve(l)
}
