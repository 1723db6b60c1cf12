// Command fasthttp is a bare fasthttp server with one constant answer: what the
// engine costs when the program behind it does nothing. It is a peer of
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

// body has 125 bytes, the average of the Travels API's answers.
const body = `{"id":4021,"email":"limit4@example.test","first_name":"Constants","last_name":"Answer","gender":"m","birth_date":-1234567890}`

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "`address`")
	workers := flag.Int("workers", 1, "processors to use")
	flag.Parse()
	runtime.GOMAXPROCS(*workers)
	if err := serve(*listen); err != nil {
		log.Fatal(err)
	}
}

func serve(address string) error {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	answer := []byte(body)
	server := fasthttp.Server{
		// It sends Date and Content-Type as the others do, and no Connection
		// where HTTP/1.1 needs none: a few bytes in its favour.
		NoDefaultServerHeader: true,
		Handler: func(ctx *fasthttp.RequestCtx) {
			ctx.Response.Header.SetContentType("application/json")
			ctx.Response.SetBodyRaw(answer)
		},
	}
	fmt.Printf("listening on %s\n", l.Addr())
	return server.Serve(l)
}
