package nginxconf

import (
	"slices"
	"time"
)

// timeouts are the longest of each kind. Those that nobody has set are the proxy's.
func (t *translator) timeouts(levels []*level) (o object) {
	set := make(map[string]time.Duration)
	for _, kind := range []struct{ directive, ours string }{
		{"client_header_timeout", "head"}, {"client_body_timeout", "body"}, {"proxy_read_timeout", "response"},
		{"keepalive_timeout", "idle"}, {"send_timeout", "write"},
	} {
		times := make(map[*directive]time.Duration)
		for _, l := range levels {
			d := l.one(kind.directive)
			if d == nil {
				continue
			}
			n, ok := parseTime(d.arg(0))
			if !ok || n == 0 {
				t.notes.add(d, "\"timeouts.%s\" stays as it is by default", kind.ours)
				continue
			}
			times[d] = n
			set[kind.ours] = max(set[kind.ours], n)
		}
		for d, n := range times {
			if n != set[kind.ours] {
				t.notes.add(d, "\"timeouts.%s\" is one for all routes: the longest, %s, is taken", kind.ours, timeText(set[kind.ours]))
			}
			if kind.ours == "response" && n > max(set["idle"], usualIdle) {
				t.notes.add(d, "also counts between two parts of an answer, which is \"timeouts.idle\" here, as for clients' connections")
			}
		}
	}
	if n := set["response"]; n > usualIdle {
		set["idle"] = max(set["idle"], n)
	}
	if slices.ContainsFunc(t.plan.routes, func(r *route) bool { return r.upgrade }) && set["response"] > 0 {
		set["tunnel"] = set["response"]
	}
	for _, name := range []string{"head", "body", "response", "idle", "write", "tunnel"} {
		if set[name] > 0 {
			o.add(name, timeText(set[name]))
		}
	}
	t.dials()
	return o
}

const usualIdle = 75 * time.Second

// dials takes over proxy_connect_timeout, which is of an upstream here.
func (t *translator) dials() {
	for _, r := range t.plan.routes {
		d := r.location.level.one("proxy_connect_timeout")
		if d == nil {
			continue
		}
		n, ok := parseTime(d.arg(0))
		u := r.upstream
		switch {
		case !ok || n == 0:
			t.notes.add(d, "\"dial\" of the upstream stays as it is by default")
		case u.dialFrom != nil && u.dial != n:
			t.notes.add(d, "\"dial\" is one for all routes of an upstream: the longest is taken")
			u.dial = max(u.dial, n)
		default:
			u.dial, u.dialFrom = n, d
		}
	}
}
