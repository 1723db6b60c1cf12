package nginxconf

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"redoubt/proxy/rewrite"
)

// heads are rules for the heads of requests or of answers.
type heads struct {
	side     rewrite.Side
	remove   []any
	set, add object
	rules    []any
	url      []any
}

// takes is whether the proxy takes a rule; if not the directive is told why.
func (t *translator) takes(d *directive, side rewrite.Side, o rewrite.Options) bool {
	_, err := rewrite.Compile(o, side)
	if err == nil && !utf8.ValidString(fmt.Sprint(o)) {
		err = errors.New("value: bytes that are no UTF-8 cannot be written here")
	}
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		t.notes.add(d, "%s; it is left out", reason)
	}
	return err == nil
}

func (h *heads) object() (o object) {
	if len(h.remove) > 0 {
		o.add("remove", h.remove)
	}
	if len(h.set) > 0 {
		o.add("set", h.set)
	}
	if len(h.add) > 0 {
		o.add("add", h.add)
	}
	if len(h.rules) > 0 {
		o.add("headers", h.rules)
	}
	if len(h.url) > 0 {
		o.add("url", h.url)
	}
	return o
}

// request is what proxy_set_header and the path of proxy_pass say.
func (t *translator) request(r *route, to *target, c constants) {
	h := heads{side: rewrite.Request}
	host := false
	for _, d := range r.location.level.all("proxy_set_header") {
		name, value := d.arg(0), d.arg(1)
		lower := strings.ToLower(name)
		switch {
		case lower == "upgrade" && value != "":
			r.upgrade = true
			continue
		case slices.Contains([]string{"connection", "upgrade", "keep-alive", "te", "transfer-encoding", "content-length", "expect", "trailer", "proxy-connection"}, lower):
			continue // the proxy sees to it
		case lower == "host" && isClientsHost(value):
			host = true // as it comes
			continue
		case isDoneAnyway(lower, value):
			continue
		case value == "" && lower != "host":
			if t.takes(d, h.side, rewrite.Options{Remove: []string{name}}) {
				h.remove = append(h.remove, name)
			}
			continue
		}
		host = host || lower == "host"
		t.setField(&h, d, name, value, c)
	}
	if !host && t.takes(r.location.pass, h.side, rewrite.Options{Set: []rewrite.Field{{Name: "Host", Value: to.host}}}) {
		h.set.add("Host", to.host) // what nginx says if nobody says otherwise
		r.named = true
	}
	if to.uri != "" && to.uri != r.location.path {
		find, put := "^"+regexp.QuoteMeta(sent(r.location.path)), dollars(to.uri)
		if t.takes(r.location.pass, h.side, rewrite.Options{URL: []rewrite.Rule{{Find: find, Put: put}}}) {
			h.url = append(h.url, object{{"find", find}, {"put", put}})
		}
	}
	r.request = h.object()
}

// setField adds a field with a value that may have variables.
func (t *translator) setField(h *heads, d *directive, name, value string, c constants) {
	text, unknown, err := c.header(value)
	switch {
	case err != nil:
		t.notes.add(d, "%v; the field is left out", err)
		return
	case unknown != "":
		t.notes.add(d, "$%s is not known here ($client, $host, $path, $request_id and $upstream are); the field is left out", unknown)
		return
	}
	options := rewrite.Options{Add: []rewrite.Field{{Name: name, Value: text}}}
	to := &h.add
	if h.side == rewrite.Request && !h.set.has(name) {
		options = rewrite.Options{Set: options.Add}
		to = &h.set
	}
	if t.takes(d, h.side, options) {
		to.add(name, text)
	}
}

// isClientsHost knows the ways to say that Host stays as it comes.
func isClientsHost(value string) bool {
	value = strings.NewReplacer("{", "", "}", "").Replace(value)
	return slices.Contains([]string{"$host", "$http_host", "$host:$server_port", "$host:$proxy_port"}, value)
}

// isDoneAnyway knows fields that the proxy writes by itself.
func isDoneAnyway(name, value string) bool {
	switch name {
	case "x-forwarded-for":
		return value == "$proxy_add_x_forwarded_for" || value == "$remote_addr"
	case "x-forwarded-proto":
		return value == "$scheme"
	case "x-forwarded-host":
		return value == "$host" || value == "$http_host"
	case "x-request-id":
		return value == "$request_id"
	}
	return false
}

// response is what proxy_hide_header, add_header and proxy_redirect say.
func (t *translator) response(r *route, to *target, c constants) {
	h := heads{side: rewrite.Response}
	l := r.location.level
	for _, d := range l.all("proxy_hide_header") {
		if t.takes(d, h.side, rewrite.Options{Remove: d.args}) && len(d.args) == 1 {
			h.remove = append(h.remove, d.args[0])
		}
	}
	for _, d := range l.all("add_header") {
		if d.arg(1) != "" {
			t.setField(&h, d, d.arg(0), d.arg(1), c)
		}
	}
	redirects := l.all("proxy_redirect")
	if len(redirects) == 0 && (to.uri != "" || r.named) { // by default; a server that is told the client's host says that in Location
		redirects = []*directive{{name: "proxy_redirect", args: []string{"default"}, file: r.location.pass.file, line: r.location.pass.line}}
	}
	for _, d := range redirects {
		t.redirect(&h, d, r, to, c)
	}
	r.response = h.object()
}

// redirect is a rule for Location.
func (t *translator) redirect(h *heads, d *directive, r *route, to *target, c constants) {
	from, unknown, err := c.fill(d.arg(0))
	put, unknownPut, errPut := c.header(d.arg(1))
	switch {
	case from == "off":
		return
	case strings.HasPrefix(from, "~"):
		t.notes.add(d, "write it as a rule of \"headers\" for Location")
		return
	case from == "default" && to.uri == "":
		from, put = to.url+"/", "/"
	case from == "default":
		from, put = to.url+to.uri, dollars(sent(r.location.path))
	case err != nil || errPut != nil || unknown+unknownPut != "":
		t.notes.add(d, "it has variables that are not known here; write it as a rule of \"headers\" for Location")
		return
	}
	find := "^" + regexp.QuoteMeta(from)
	if t.takes(d, h.side, rewrite.Options{Headers: []rewrite.Rule{{Name: "Location", Find: find, Put: put}}}) {
		h.rules = append(h.rules, object{{"name", "Location"}, {"find", find}, {"put", put}})
	}
}
