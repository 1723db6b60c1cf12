package nginxconf

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// upstream is a group of servers.
type upstream struct {
	name        string
	servers     []string
	balance     string
	keepalive   string // numbers and times as they are written; "": not said
	connections string
	fails       string
	retry, dial time.Duration
	dialFrom    *directive
	from        *directive
}

// target is where a proxy_pass leads.
type target struct {
	upstream *upstream
	host     string // $proxy_host: as written, but for the port 80
	port     string
	url      string // what comes before the path
	uri      string // what takes the place of the location's path; "": it stays
}

// target reads a proxy_pass. It is nil, with a note, if requests cannot go there.
func (t *translator) target(d *directive, c constants) *target {
	text, unknown, err := c.fill(d.arg(0))
	rest, plain := strings.CutPrefix(text, "http://")
	switch {
	case err != nil || unknown != "":
		t.notes.add(d, "a server that depends on the request; the location is left out: name the servers, and give each a route")
		return nil
	case strings.HasPrefix(text, "https://"):
		t.notes.add(d, "servers are spoken to without TLS; the location is left out. Where the server listens without TLS as well, name that")
		return nil
	case !plain:
		t.notes.add(d, "want http:// and a server; the location is left out")
		return nil
	case strings.HasPrefix(rest, "unix:"):
		t.notes.add(d, "servers are reached by HOST:PORT only; the location is left out")
		return nil
	}
	host, uri := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, uri = rest[:i], rest[i:]
	}
	to := &target{host: strings.TrimSuffix(host, ":80"), url: "http://" + host, uri: uri, port: "80"}
	if _, port, err := net.SplitHostPort(host); err == nil {
		to.port = port
	}
	if to.upstream = t.upstream(host); to.upstream != nil {
		return t.usable(to, d)
	}
	u := &upstream{name: withPort(host), servers: []string{withPort(host)}, from: d}
	if !t.accepts(d, "upstreams", object{{u.name, object{{"servers", texts(u.servers)}}}}) {
		return nil
	}
	t.upstreams = append(t.upstreams, u)
	to.upstream = u
	return to
}

// usable leaves out a target without servers.
func (t *translator) usable(to *target, d *directive) *target {
	if len(to.upstream.servers) == 0 {
		t.notes.add(d, "none of its servers could be carried over; the location is left out")
		return nil
	}
	return to
}

// upstream is the one of a name, or nil.
func (t *translator) upstream(name string) *upstream {
	name = strings.ToLower(name)
	i := slices.IndexFunc(t.upstreams, func(u *upstream) bool { return u.name == name || u.name == withPort(name) })
	if i < 0 {
		return nil
	}
	return t.upstreams[i]
}

func withPort(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return host + ":80"
}

// readUpstreams reads the blocks.
func (t *translator) readUpstreams() {
	for _, d := range t.http.own("upstream") {
		u := &upstream{name: strings.ToLower(d.arg(0)), from: d}
		for _, in := range d.block {
			switch in.name {
			case "server":
				t.readServer(u, in)
			case "least_conn":
				u.balance = "least-connections"
			case "keepalive":
				if n, err := strconv.Atoi(in.arg(0)); err == nil && n >= 0 {
					u.keepalive = strconv.Itoa(min(n, 65536))
				}
			case "ip_hash", "hash", "random", "sticky", "least_time":
				t.notes.add(in, "servers are taken in turn, or by \"balance\": \"least-connections\"; the same client may meet another server next time")
			case "keepalive_timeout":
				t.notes.add(in, "is \"idle\" of the upstream; less than the server keeps connections is right")
			case "zone", "keepalive_requests", "keepalive_time", "queue", "state", "ntlm", "resolver", "resolver_timeout":
				t.harmless[in.name]++
			default:
				t.notes.add(in, "not known; it is left out")
			}
		}
		t.upstreams = append(t.upstreams, u)
	}
}

// readServer reads a server of an upstream.
func (t *translator) readServer(u *upstream, d *directive) {
	address := d.arg(0)
	if address == "" || strings.HasPrefix(address, "unix:") {
		t.notes.add(d, "servers are reached by HOST:PORT only; it is left out")
		return
	}
	for _, option := range d.args[1:] {
		name, value, _ := strings.Cut(option, "=")
		n, err := strconv.Atoi(value)
		switch {
		case name == "down":
			t.notes.add(d, "it is left out, as nginx does not use it either")
			return
		case name == "backup":
			t.notes.add(d, "there are no servers for emergencies: it is left out. Name it among the others if it may get requests all the time")
			return
		case name == "weight":
			if n != 1 {
				t.notes.add(d, "all servers weigh the same; \"balance\": \"least-connections\" gives a slow one less")
			}
		case name == "max_conns" && err == nil:
			t.say(d, &u.connections, strconv.Itoa(n), "connections")
		case name == "max_fails" && err == nil:
			t.say(d, &u.fails, strconv.Itoa(n), "fails")
		case name == "fail_timeout":
			if retry, ok := parseTime(value); ok && retry > 0 {
				if u.retry != 0 && u.retry != retry {
					t.notes.add(d, "\"retry\" is one for all servers of an upstream: the longest is taken")
				}
				u.retry = max(u.retry, retry)
			}
		case name == "resolve" || name == "slow_start":
		default:
			t.notes.add(d, "%s: not known; it is left out", option)
		}
	}
	switch address = strings.ToLower(withPort(address)); {
	case slices.Contains(u.servers, address):
		t.notes.add(d, "stands twice; once is enough")
	case t.accepts(d, "upstreams", object{{u.name, object{{"servers", []any{address}}}}}):
		u.servers = append(u.servers, address)
	}
}

// say takes what is said of a server for all of them.
func (t *translator) say(d *directive, to *string, value, name string) {
	if *to != "" && *to != value {
		t.notes.add(d, "%q is one for all servers of an upstream: the first is taken", name)
		return
	}
	*to = value
}

const maxTime = 365 * 24 * time.Hour

// parseTime reads a time of nginx, such as 60, 1m30s or 500ms.
func parseTime(text string) (time.Duration, bool) {
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
		"M": 30 * 24 * time.Hour, "y": 365 * 24 * time.Hour, "": time.Second}
	var sum time.Duration
	for rest := strings.ReplaceAll(text, " ", ""); ; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseUint(rest[:digits], 10, 31)
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "mshdwMy"))
		unit, ok := units[rest[:letters]]
		if err != nil || !ok || n > uint64(maxTime/unit) {
			return 0, false
		}
		sum += time.Duration(n) * unit
		if rest = rest[letters:]; rest == "" || sum > maxTime {
			return sum, sum <= maxTime
		}
	}
}

// timeText is a time as it is written here.
func timeText(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}

// sizeText is a size as it is written here.
func sizeText(n int64) string {
	unit := ""
	for _, u := range []string{"k", "m", "g"} {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, u
	}
	return fmt.Sprint(n, unit)
}
