package nginxconf

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"redoubt/internal/jsonc"
)

// limits is what holds for all routes alike: limits, timeouts, who may come in.
func (t *translator) limits() {
	levels := t.levels()
	top := &t.plan.top
	top.add("limits", object{{"body", t.bodyLimit(levels)}})
	if times := t.timeouts(levels); len(times) > 0 {
		top.add("timeouts", times)
	}
	if trust := t.trust(levels); len(trust) > 0 {
		top.add("trust", texts(trust))
	}
	var block object
	if networks := t.networks(levels); len(networks) > 0 {
		block.add("networks", texts(networks))
	}
	if paths := t.paths(); len(paths) > 0 {
		block.add("paths", texts(paths))
	}
	if n := t.connections(levels); n > 0 {
		block.add("connections", raw(strconv.Itoa(n)))
	}
	if rate := t.rate(levels); rate != nil {
		block.add("rate", rate)
	}
	if len(block) > 0 {
		top.add("block", block)
	}
}

// levels are those whose settings hold for some route, each once.
func (t *translator) levels() (list []*level) {
	for _, r := range t.plan.routes {
		if !slices.Contains(list, r.location.level) {
			list = append(list, r.location.level)
		}
	}
	return list
}

// bodyLimit is the largest of client_max_body_size.
func (t *translator) bodyLimit(levels []*level) string {
	const usual, most = 1 << 20, 1 << 50
	largest := int64(0)
	sizes := make(map[*directive]int64)
	for _, l := range levels {
		n := int64(usual)
		if d := l.one("client_max_body_size"); d != nil {
			var err error
			if n, err = jsonc.ParseSize(strings.ToLower(d.arg(0)), 0, most); err != nil {
				t.notes.add(d, "%v", err)
				n = usual
			}
			if n == 0 {
				n = most // there is always a limit here
			}
			sizes[d] = n
		}
		largest = max(largest, n)
	}
	for d, n := range sizes {
		if n != largest {
			t.notes.add(d, "\"limits.body\" is one for all routes: the largest, %s, is taken", sizeText(largest))
		}
	}
	return sizeText(largest)
}

// trust is who may say clients' addresses.
func (t *translator) trust(levels []*level) (list []string) {
	for _, l := range levels {
		froms := l.all("set_real_ip_from")
		header := l.one("real_ip_header")
		if len(froms) > 0 && (header == nil || !strings.EqualFold(header.arg(0), "X-Forwarded-For")) {
			d := froms[0]
			if header != nil {
				d = header
			}
			t.notes.add(d, "clients' addresses are taken from X-Forwarded-For only, from those in \"trust\"")
		}
		for _, d := range froms {
			if !slices.Contains(list, d.arg(0)) && t.accepts(d, "trust", []any{d.arg(0)}) {
				list = append(list, d.arg(0))
			}
		}
	}
	return list
}

// shared is the directives of these names if all levels have the same. Otherwise
// each is told why not.
func (t *translator) shared(levels []*level, why string, names ...string) []*directive {
	first := levels[0].all(names...)
	if !slices.ContainsFunc(levels, func(l *level) bool { return !slices.Equal(l.all(names...), first) }) {
		return first
	}
	for _, l := range levels {
		for _, d := range l.all(names...) {
			t.notes.add(d, "%s", why)
		}
	}
	return nil
}

// networks is what deny refuses, if nobody is let in before.
func (t *translator) networks(levels []*level) (list []string) {
	access := t.shared(levels, "\"block\" is for all routes alike, and this holds for some only: it is left out, and ANYBODY IS LET IN", "allow", "deny")
	for i, d := range access {
		switch {
		case d.name == "allow" && d.arg(0) == "all":
			return list
		case d.name == "deny" && d.arg(0) != "all":
			if t.accepts(d, "block", object{{"networks", []any{d.arg(0)}}}) && !slices.Contains(list, d.arg(0)) {
				list = append(list, d.arg(0))
			}
		default:
			for _, d := range access[i:] {
				t.notes.add(d, "\"block.networks\" is those who are refused; that others than some are refused cannot be said: it is left out, and ANYBODY IS LET IN")
			}
			return list
		}
	}
	return list
}

// connections is limit_conn, by client.
func (t *translator) connections(levels []*level) (most int) {
	for _, d := range t.shared(levels, `"block.connections" is for all routes alike, and this holds for some only; it is left out`, "limit_conn") {
		n, err := strconv.Atoi(d.arg(1))
		if zone := t.zone("limit_conn_zone", d.arg(0)); zone == nil || !isClient(zone.arg(0)) || err != nil || n < 1 {
			t.notes.add(d, "only connections of one client can be counted ($binary_remote_addr); it is left out")
			continue
		}
		t.notes.add(d, "is \"block.connections\", which counts open connections, also those without a request; more get 429")
		if most == 0 || n < most {
			most = n
		}
	}
	return most
}

// rate is limit_req, by client.
func (t *translator) rate(levels []*level) object {
	var o object
	for _, d := range t.shared(levels, `"block.rate" is for all routes alike, and this holds for some only; it is left out`, "limit_req") {
		burst, zone := 0, (*directive)(nil)
		delays := true
		for _, option := range d.args {
			switch name, value, _ := strings.Cut(option, "="); name {
			case "zone":
				zone = t.zone("limit_req_zone", value)
			case "burst":
				burst, _ = strconv.Atoi(value)
			case "nodelay":
				delays = false
			}
		}
		rate, ok := requestRate(zone)
		switch {
		case !ok:
			t.notes.add(d, "only requests of one client can be counted ($binary_remote_addr); it is left out")
			continue
		case o != nil:
			t.notes.add(d, "there is one rate; the first is taken")
			continue
		case delays && burst > 0:
			t.notes.add(d, "nginx delays requests that come too fast; here as many are let in at once, more get 429")
		}
		asked := object{{"requests", raw(strconv.FormatFloat(rate, 'f', -1, 64))}, {"burst", raw(strconv.Itoa(min(burst, 999_999) + 1))}}
		if t.accepts(d, "block", object{{"rate", asked}}) {
			o = asked
		}
	}
	return o
}

// zone is the limit_req_zone or limit_conn_zone of a name, or nil.
func (t *translator) zone(directive, name string) *directive {
	for _, d := range t.http.own(directive) {
		for _, option := range d.args {
			if zone, ok := strings.CutPrefix(option, "zone="); ok && strings.HasPrefix(zone+":", name+":") {
				return d
			}
		}
	}
	return nil
}

// requestRate is that of a limit_req_zone, a second.
func requestRate(zone *directive) (float64, bool) {
	if zone == nil || !isClient(zone.arg(0)) {
		return 0, false
	}
	for _, option := range zone.args {
		rate, ok := strings.CutPrefix(option, "rate=")
		number, perSecond := strings.CutSuffix(rate, "r/s")
		number, perMinute := strings.CutSuffix(number, "r/m")
		n, err := strconv.Atoi(number)
		if !ok || !perSecond && !perMinute || err != nil || n < 1 || n > 1_000_000 {
			continue
		}
		if perMinute {
			return math.Ceil(float64(n)/60*1000) / 1000, true
		}
		return float64(n), true
	}
	return 0, false
}

func isClient(key string) bool {
	return key == "$binary_remote_addr" || key == "$remote_addr"
}
