//go:build linux

package proxy

import (
	"sync/atomic"
	"testing"
	"time"
)

// A server is taken for an old one from one answer of HTTP/1.0 on, for a while,
// or until it gives a newer one.
func TestSpeaks(t *testing.T) {
	const now = time.Minute
	o := newOrigin("127.0.0.1:1", 1)
	takes := func(at time.Duration, want bool) {
		t.Helper()
		if got := o.takesChunks(at); got != want {
			t.Errorf("at %v: %t, want %t", at, got, want)
		}
	}
	takes(0, true)
	o.speaks(1, now)
	takes(now, true)
	o.speaks(0, now)
	takes(now, false)
	takes(now+oldFor-1, false)
	takes(now+oldFor, true)
	o.speaks(0, now+time.Second)
	takes(now+oldFor, false)
	o.speaks(1, now+2*time.Second)
	takes(now+2*time.Second, true)
}

// Chunks are not sent to a server that has answered in HTTP/1.0, but are again when
// that is long ago, or it has answered otherwise since: one such answer may have
// been somebody else's, or its last before it was exchanged.
func TestChunksForAnOldServer(t *testing.T) {
	const body = "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
	var old atomic.Bool
	s := play(t, "", func(c *scriptedConn) {
		for c.request() != nil {
			if old.Load() {
				c.say("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
				return
			}
			c.say(answerOf("ok"))
		}
	})
	p, addr := run(t, settings(s.addr), Options{})
	want := func(status int, request, rest string) {
		t.Helper()
		connect(t, addr).want(t, status, request, rest)
	}
	answersInOld := func(is bool) {
		old.Store(is)
		want(200, "GET /", "")
	}
	want(200, "POST /first", body)

	answersInOld(true)
	want(411, "POST /chunks", body)
	want(200, "POST /sized", "Content-Length: 1\r\n\r\nx")
	want(411, "POST /chunks", body)
	answersInOld(false)
	want(200, "POST /newer", body)

	answersInOld(true)
	want(411, "POST /chunks", body)
	old.Store(false)
	onLoop(p.workers[0], func() { // the time has come
		p.plan.upstreams[0].origins[0].old.Store(int64(p.workers[0].loop.Now()))
	})
	want(200, "POST /later", body)
	want(200, "POST /later", body)
	if n := s.count("POST /chunks"); n != 0 {
		t.Errorf("an old server has seen %d requests in chunks", n)
	}
}
