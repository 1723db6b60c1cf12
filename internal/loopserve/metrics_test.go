//go:build linux

package loopserve

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"redoubt/internal/metrics"
)

func TestKindOf(t *testing.T) {
	f := func(method, path, want string) {
		t.Helper()
		k := kindOf([]byte(method), []byte(path))
		if got := methodNames[k.method] + " " + routeNames[k.route]; got != want {
			t.Errorf("%s %s is %s, want %s", method, path, got, want)
		}
	}
	f("GET", "/users/1", "GET users")
	f("HEAD", "/users/4294967297", "GET users")
	f("GET", "/users/12/visits", "GET users/visits")
	f("POST", "/users/new", "POST users/new")
	f("POST", "/locations/3", "POST locations")
	f("GET", "/locations/3/avg", "GET locations/avg")
	f("POST", "/locations/new", "POST locations/new")
	f("GET", "/visits/0", "GET visits")
	f("POST", "/visits/new", "POST visits/new")
	f("DELETE", "/visits/7", "other visits")
	for _, path := range []string{"", "/", "/users", "/users/", "/users/x", "/users/1x", "/users/1/", "/users/visits", "/users//visits", "/users/1/avg",
		"/users/newer", "/locations/1/visits", "/visits/1/", "/visits/1/avg", "/visits//", "/visits/", "/user/1", "/users/1/visits/"} {
		f("get", path, "other other")
	}
}

// What the loops have done is what they tell, and the busy share is one.
func TestMetrics(t *testing.T) {
	for name, on := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			addr, server := start(t, newStore(t, 10), Options{Workers: 2, Metrics: on})
			for range 3 { // connections, on either loop
				talk(t, addr, get("/users/1")+get("/users/2/visits?fromDate=x")+post("/users/1", "{}")+strings.Replace(get("/users/1"), "GET", "PUT", 1)+"GET\r\n\r\n", 1<<20,
					[]string{"GET", "GET", "POST", "PUT", "GET"}, []string{user(1), "400", "200 {}", "405", "400"}, true)
			}
			text := ""
			for begin := time.Now(); ; time.Sleep(time.Millisecond) {
				var b bytes.Buffer
				server.WriteMetrics(metrics.NewWriter(&b))
				// An answer may be here before it is counted.
				if text = b.String(); !on || strings.Contains(text, `redoubt_api_refused_total{code="400"} 3`) || time.Since(begin) > 10*time.Second {
					break
				}
			}
			for _, line := range []string{
				`redoubt_api_requests_total{route="users",method="GET",code="200"} 3`,
				`redoubt_api_requests_total{route="users",method="POST",code="200"} 3`,
				`redoubt_api_requests_total{route="users",method="other",code="405"} 3`,
				`redoubt_api_requests_total{route="users/visits",method="GET",code="400"} 3`,
				`redoubt_api_refused_total{code="400"} 3`, `redoubt_api_refused_total{code="431"} 0`,
				`redoubt_api_seconds_count{kind="read"} 9`, `redoubt_api_seconds_count{kind="write"} 3`,
			} {
				if strings.Contains(text, line+"\n") != on {
					t.Errorf("%s, in\n%s", line, text)
				}
			}
			if n := strings.Count(text, "redoubt_api_requests_total{"); on && n != 4 {
				t.Errorf("%d kinds of requests in\n%s", n, text)
			}
			for _, line := range []string{"redoubt_connections ", `redoubt_loop_busy_seconds_total{loop="1"} 0.`, `redoubt_slab_bytes{use="free"} `, "redoubt_slab_refused_total 0"} {
				if !strings.Contains(text, "\n"+line) {
					t.Errorf("no %s in\n%s", line, text)
				}
			}
		})
	}
}
