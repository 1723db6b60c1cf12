//go:build linux

package proxy

import (
	"testing"

	"redoubt/proxy/rewrite"
)

// Servers that make variables of fields see no difference between _ and -: what
// the proxy takes out, or says itself, nobody can say that way.
func TestDisguisedFields(t *testing.T) {
	s := newStage(t)
	c := settings(s.addr)
	c.Upstreams[0].Keepalive = 0
	c.Routes[0].Request = compile(t, rewrite.Options{
		Remove: []string{"X-Debug"}, Set: []rewrite.Field{{Name: "X-Real-IP", Value: "$client"}},
	}, rewrite.Request)
	_, addr := start(t, c, Options{})
	for _, f := range []struct {
		name   string
		passes bool
	}{
		{"X_Forwarded_For", false},
		{"X-Forwarded_For", false},
		{"x_forwarded-for", false},
		{"X_FORWARDED_PROTO", false},
		{"X_Forwarded_Host", false},
		{"x_request_id", false},
		{"X-Request_ID", false},
		{"Content_Length", false},
		{"Transfer_Encoding", false},
		{"Keep_Alive", false},
		{"Proxy_Authorization", false},
		{"X_Real_IP", false}, // a rule sets it
		{"x-real_ip", false},
		{"X_Debug", false}, // a rule removes it
		{"a_b", true},
		{"X_Forwarded", true},
		{"X_Forwarded_For_", true},
		{"_X_Forwarded_For", true},
		{"Host_", true},
		{"_", true},
	} {
		got, _ := ask(t, s, addr, field(f.name+": 192.0.2.66\r\nX-A: 1"), hello)
		want := "GET / HTTP/1.1|Host: a|X-A: 1|X-Real-IP: 127.0.0.1||"
		if f.passes {
			want = "GET / HTTP/1.1|Host: a|" + f.name + ": 192.0.2.66|X-A: 1|X-Real-IP: 127.0.0.1||"
		}
		if got.String() != want {
			t.Errorf("%s: the server gets %q, want %q", f.name, got, want)
		}
	}
}
