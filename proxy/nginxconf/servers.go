package nginxconf

import (
	"net"
	"slices"
	"strings"
)

// server is a server block.
type server struct {
	level     *level
	listens   []listen
	names     []serverName
	locations []*location
}

// listen is an address of a server.
type listen struct {
	address   string // as it is written here
	tls       bool
	isDefault bool
	from      *directive
}

// serverName is a host that routes can be for.
type serverName struct {
	host string // or *. and the end of many
	from *directive
}

// readServers reads the servers with the locations that become routes.
func (t *translator) readServers() {
	t.servers = nil
	clear(t.left)
	for _, d := range t.http.own("server") {
		s := &server{level: t.http.inner(d)}
		if len(s.level.own("return")) == 0 {
			s.locations = t.locations(s.level)
		}
		if t.rulesOnly && t.hasRules(s.level) && !slices.ContainsFunc(s.locations, func(l *location) bool { return l.path == "/" && !l.exact }) {
			s.locations = append(s.locations, &location{path: "/", from: d, level: s.level})
		}
		sortLocations(s.locations)
		for _, l := range s.level.own("listen") {
			if one, ok := t.readListen(l); ok {
				one.tls = one.tls || s.level.on("ssl", false)
				s.listens = append(s.listens, one)
			}
		}
		if len(s.listens) == 0 && len(s.level.own("listen")) == 0 && !t.piece {
			s.listens = []listen{{address: ":80", from: d}}
		}
		t.readNames(s)
		t.met[d] = len(s.locations) > 0
		t.servers = append(t.servers, s)
	}
}

// readListen reads a listen directive.
func (t *translator) readListen(d *directive) (l listen, ok bool) {
	l = listen{address: d.arg(0), from: d}
	switch host, port, err := net.SplitHostPort(l.address); {
	case strings.HasPrefix(l.address, "unix:"):
		t.notes.add(d, "clients connect to HOST:PORT only; it is left out")
		return l, false
	case err == nil && strings.Contains(port, "-"):
		t.notes.add(d, "name each port of the range in \"listen\"; it is left out")
		return l, false
	case err == nil && (host == "*" || host == "::" || host == "0.0.0.0"):
		l.address = ":" + port
	case err == nil:
	case strings.Trim(l.address, "0123456789") == "":
		l.address = ":" + l.address
	default:
		l.address += ":80"
	}
	for _, option := range d.args[min(1, len(d.args)):] {
		switch name, _, _ := strings.Cut(option, "="); name {
		case "ssl", "quic":
			l.tls = true
		case "default_server", "default":
			l.isDefault = true
		case "proxy_protocol":
			t.notes.add(d, "the PROXY protocol is not understood: whoever is in front should say the client's address in X-Forwarded-For, and stand in \"trust\"")
		case "http2", "spdy":
			t.notes.add(d, "clients are spoken to in HTTP/1.1")
		}
	}
	return l, t.accepts(d, "listen", []any{l.address})
}

// readNames reads the names by which a server is chosen.
func (t *translator) readNames(s *server) {
	add := func(d *directive, host string) {
		if t.matches(d, "host", host) && !slices.ContainsFunc(s.names, func(n serverName) bool { return n.host == host }) {
			s.names = append(s.names, serverName{host, d})
		}
	}
	for _, d := range s.level.own("server_name") {
		for _, name := range d.args {
			host := strings.ToLower(strings.TrimSuffix(name, "."))
			switch rest, dotted := strings.CutPrefix(host, "."); {
			case host == "" || host == "_" || host == "localhost" && len(d.args) == 1:
			case strings.HasPrefix(host, "~"):
				t.notes.add(d, "%.60s: no route can be for an expression of hosts; name them, or the end of many as *.shop.example", name)
			case strings.HasSuffix(host, "*"):
				t.notes.add(d, "%.60s: * may only stand in front; name the hosts", name)
			case strings.ContainsAny(host, "$"):
				t.notes.add(d, "%.60s: name the host", name)
			case dotted:
				add(d, rest)
				add(d, "*."+rest)
			default:
				add(d, host)
			}
		}
	}
}

// listen finds out where to listen, and which server answers hosts that nobody names.
func (t *translator) listen() {
	var plain, secure []string
	var closed []*server // that answer hosts nobody names, but send nothing on
	for _, s := range t.carried() {
		for _, l := range s.listens {
			switch {
			case l.tls:
				t.notes.add(l.from, "TLS is not spoken here: let whoever does pass requests on, and name its address in \"trust\"")
				secure = append(secure, l.address)
			case !slices.Contains(plain, l.address):
				plain = append(plain, l.address)
			}
		}
	}
	t.plan.listen = slices.DeleteFunc(slices.Clone(plain), func(address string) bool { // all addresses have that port
		i := strings.LastIndexByte(address, ':')
		return i > 0 && slices.Contains(plain, address[i:])
	})
	addresses := plain
	if len(plain) == 0 {
		addresses = secure
	}
	if t.piece {
		t.plan.any = t.servers[0]
	}
	for _, address := range addresses {
		s := t.defaultOf(address)
		switch {
		case s == nil || s == t.plan.any:
		case len(s.locations) == 0:
			closed = append(closed, s)
		case t.plan.any == nil:
			t.plan.any = s
		default:
			t.notes.add(s.level.self, "routes do not know the port: hosts that no server names go to the server of %s:%d, also those that come by %s", t.plan.any.level.self.file, t.plan.any.level.self.line, address)
		}
	}
	for _, s := range closed {
		if t.plan.any != nil {
			t.notes.add(s.level.self, "routes do not know the port: hosts that no server names are sent on as the server of %s:%d does it, and not answered as here (%s)", t.plan.any.level.self.file, t.plan.any.level.self.line, does(s.level.block))
		}
	}
}

// defaultOf is the server that nginx takes where no name fits.
func (t *translator) defaultOf(address string) (first *server) {
	for _, s := range t.servers {
		for _, l := range s.listens {
			if l.address == address && (l.isDefault || first == nil) {
				first = s
				if l.isDefault {
					return s
				}
			}
		}
	}
	return first
}

// carried are the servers that become routes.
func (t *translator) carried() (list []*server) {
	for _, s := range t.servers {
		if len(s.locations) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// constants are those of a server, for requests to one host, or "" for any.
func (s *server) constants(base constants, host string) constants {
	c := make(constants)
	for name, value := range base {
		c[name] = value
	}
	if host != "" && !strings.HasPrefix(host, "*") {
		c["host"] = host
	}
	if len(s.names) > 0 {
		c["server_name"] = s.names[0].host
	}
	var tls []bool
	for _, l := range s.listens {
		if !slices.Contains(tls, l.tls) {
			tls = append(tls, l.tls)
		}
		c["server_port"] = l.address[strings.LastIndexByte(l.address, ':')+1:]
	}
	if len(s.listens) > 1 {
		delete(c, "server_port")
	}
	if len(tls) == 1 {
		c["scheme"] = "http"
		if tls[0] {
			c["scheme"] = "https"
		}
	}
	return c
}
