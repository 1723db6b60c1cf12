// Command nethttp is a bare net/http server with one constant answer: what
// the standard library costs when the program behind it does nothing. It is a
// peer of scripts/bench.sh and no part of Redoubt.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"runtime"
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
	server := http.Server{
		// It sends Date and Content-Length by itself, and no Connection where
		// HTTP/1.1 needs none.
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer) // the gun may have gone
		}),
	}
	fmt.Printf("listening on %s\n", l.Addr())
	return server.Serve(l)
}
