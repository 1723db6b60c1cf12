package rewrite_test

import (
	"fmt"

	"redoubt/netloop/http1"
	"redoubt/proxy/rewrite"
)

func Example() {
	rules, err := rewrite.Compile(rewrite.Options{
		Remove:  []string{"Server"},
		Set:     []rewrite.Field{{Name: "X-Request-ID", Value: "$request_id"}},
		Headers: []rewrite.Rule{{Name: "Location", Find: `//origin\.example`, Put: "//$host"}},
	}, rewrite.Response)
	if err != nil {
		fmt.Println(err)
		return
	}
	var answer http1.Response
	answer.Parse([]byte("HTTP/1.1 302 Found\r\nServer: s\r\nLocation: http://origin.example/a\r\nContent-Length: 0\r\n\r\n"))

	vars := rewrite.Vars{Host: []byte("shop.example"), RequestID: []byte("8c1f")}
	var out http1.Segments
	for _, f := range answer.Fields() {
		if !rules.Field(&out, &answer, f, &vars) {
			out.Raw(answer.Line(f))
		}
	}
	rules.Added(&out, &vars)
	for _, lines := range out.List() {
		fmt.Printf("%q\n", lines)
	}
	// Output:
	// "Location: http://shop.example/a\r\n"
	// "Content-Length: 0\r\n"
	// "X-Request-ID: 8c1f\r\n"
}

// What is wrong is told with its place.
func ExampleCompile() {
	_, err := rewrite.Compile(rewrite.Options{Set: []rewrite.Field{{Name: "X-Price", Value: "5$"}}}, rewrite.Response)
	fmt.Println(err)
	_, err = rewrite.Compile(rewrite.Options{Remove: []string{"Content-Length"}}, rewrite.Response)
	fmt.Println(err)
	// Output:
	// set 1: value, at byte 1: $ without $ or a variable after it; write $$ for a dollar sign; variables are $client, $host, $path, $request_id, $upstream
	// remove 1: name, at byte 0: Content-Length frames the body or belongs to the connection, and the proxy takes care of it; leave the rule out
}
