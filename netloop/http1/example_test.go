package http1_test

import (
	"bytes"
	"fmt"

	"redoubt/netloop/http1"
)

// A request that comes in two pieces, and its answer.
func Example() {
	var request http1.Request
	in := []byte("GET /users/1?x=y HTTP/1.1\r\nHo")
	n, fault := request.Parse(in)
	fmt.Println(n, fault == 0, "more is needed")

	in = append(in, "st: travels.com\r\n\r\n"...)
	n, fault = request.Parse(in)
	fmt.Println(n, fault == 0, string(request.Method()), string(request.Path()), string(request.Get(http1.Host)))

	var answer http1.Segments
	body := []byte(`{"id":1}`)
	answer.StatusLine(200, nil)
	answer.Field("Content-Type", []byte("application/json"))
	answer.ContentLength(int64(len(body)))
	answer.EndHead()
	answer.Raw(body)
	fmt.Printf("%d segments:\n%s\n", len(answer.List()), bytes.ReplaceAll(bytes.Join(answer.List(), nil), []byte("\r"), nil))
	// Output:
	// 0 true more is needed
	// 48 true GET /users/1 travels.com
	// 2 segments:
	// HTTP/1.1 200 OK
	// Content-Type: application/json
	// Content-Length: 8
	//
	// {"id":1}
}

// What is refused comes with the status to answer.
func ExampleFault() {
	var request http1.Request
	_, fault := request.Parse([]byte("GET / HTTP/1.1\r\nHost : a"))
	fmt.Println(fault.Status(), fault)
	// Output: 400 malformed field name
}
