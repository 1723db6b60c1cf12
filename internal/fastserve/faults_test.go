package fastserve

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// What is known to have gone wrong in other solutions of the contest, over the
// wire. Each subtest is named for the fault.
func TestFaultsOfOthers(t *testing.T) {
	addr, _ := start(t, Options{})
	exchange := func(t *testing.T, send func(net.Conn), methods ...string) []string {
		t.Helper()
		c := dial(t, addr)
		send(c)
		got, _ := answers(t, c, methods...)
		return got
	}
	get := func(t *testing.T, target string) string {
		t.Helper()
		return exchange(t, func(c net.Conn) { fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target) }, "GET")[0]
	}
	post := func(t *testing.T, target, body string) string {
		t.Helper()
		return exchange(t, func(c net.Conn) {
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s\r\n", target, len(body), body)
		}, "POST")[0]
	}
	want := func(t *testing.T, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %.200s, want %.200s", got, want)
		}
		if again := get(t, "/users/1"); again != "200 "+user1 { // the server lives, and serves others
			t.Errorf("afterwards GET /users/1 is %s", again)
		}
	}
	t.Run("parameter without a value crashes", func(t *testing.T) { want(t, get(t, "/users/1/visits?toDate"), "400") })
	t.Run("id wraps around at 32 bits", func(t *testing.T) { want(t, get(t, "/users/4294967297"), "404") })
	t.Run("negative id crashes", func(t *testing.T) { want(t, get(t, "/users/-1"), "404") })
	t.Run("body that is a list crashes", func(t *testing.T) { want(t, post(t, "/users/1", "[]"), "400") })
	t.Run("header of 8 KB crashes", func(t *testing.T) {
		want(t, exchange(t, func(c net.Conn) {
			fmt.Fprintf(c, "GET /users/1 HTTP/1.1\r\nHost: x\r\nCookie: %s\r\n\r\n", strings.Repeat("c", 8192))
		}, "GET")[0], "200 "+user1)
	})
	t.Run("request in two packets fails", func(t *testing.T) {
		const request = "GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n"
		for cut := 1; cut < len(request); cut++ {
			want(t, exchange(t, func(c net.Conn) {
				io.WriteString(c, request[:cut])
				time.Sleep(time.Millisecond)
				io.WriteString(c, request[cut:])
			}, "GET")[0], "200 "+user1)
		}
	})
	t.Run("pipelined requests get one answer", func(t *testing.T) {
		const n = 50
		methods := strings.Split(strings.Repeat("GET ", n-1)+"GET", " ")
		got := exchange(t, func(c net.Conn) {
			io.WriteString(c, strings.Repeat("GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n", n))
		}, methods...)
		for _, g := range got {
			want(t, g, "200 "+user1)
		}
	})
	t.Run("escapes come back as broken JSON", func(t *testing.T) {
		want(t, post(t, "/users/2", `{"first_name":"\"\\\/\b\f\n\r\t\u0000\ud83d\ude00"}`), "200 {}")
		var u struct {
			FirstName string `json:"first_name"`
		}
		got := get(t, "/users/2")
		if err := json.Unmarshal([]byte(strings.TrimPrefix(got, "200 ")), &u); err != nil || u.FirstName != "\"\\/\b\f\n\r\t\x00\U0001F600" {
			t.Errorf("%s: %q, %v", got, u.FirstName, err)
		}
	})
	t.Run("slash at the end is ignored", func(t *testing.T) { want(t, get(t, "/users/1/"), "404") })
	t.Run("list of over 1,024 pieces breaks", func(t *testing.T) {
		const n = 3000
		c := dial(t, addr)
		for i := range n {
			body := fmt.Sprintf(`{"id":%d,"user":0,"location":0,"visited_at":%d,"mark":1}`, i, n-i)
			fmt.Fprintf(c, "POST /visits/new HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			if got, _ := answers(t, c, "POST"); got[0] != "200 {}" {
				t.Fatal(got)
			}
		}
		var list struct {
			Visits []struct {
				VisitedAt int `json:"visited_at"`
			}
		}
		got := get(t, "/users/0/visits")
		if err := json.Unmarshal([]byte(strings.TrimPrefix(got, "200 ")), &list); err != nil || len(list.Visits) != n {
			t.Fatalf("%d visits, %v", len(list.Visits), err)
		}
		for i, v := range list.Visits {
			if v.VisitedAt != i+1 {
				t.Fatalf("visit %d is of %d", i, v.VisitedAt)
			}
		}
	})
}
