package config

import (
	"time"

	"redoubt/internal/jsonc"
)

// The most that numbers and times may be: more is a slip.
const (
	maxConnections = 10_000_000
	maxTime        = 365 * 24 * time.Hour
	maxBytes       = 1 << 50
)

// fields is the table of the whole configuration.
func (r *reader) fields() []jsonc.Field {
	r.Log = new(Log)
	return []jsonc.Field{
		{Name: "listen", Default: `[":8080"]`, Help: "where clients connect: HOST:PORT or :PORT", Read: r.readListen},
		{Name: "admin", Default: `""`, Help: `health, metrics and profiles, such as "127.0.0.1:9180"; "": none`, Read: checked(&r.Admin, checkAdmin)},
		object("log", "the access log; SIGUSR1 opens the file again", []jsonc.Field{
			{Name: "file", Default: `""`, Help: `"": none; "-": standard error`, Read: text(&r.Log.File)},
			{Name: "format", Default: `"json"`, Help: "json or combined", Read: oneOf(&r.Log.Format, "json", "combined")},
		}),
		object("limits", "what all clients together may take", []jsonc.Field{
			{Name: "connections", Default: `0`, Help: "clients' connections; more wait; 0: as many as there are descriptors for", Read: count(&r.Limits.Connections, maxConnections)},
			{Name: "body", Default: `"10m"`, Help: "of a request; more is 413", Read: size("body", &r.Limits.Body, 1)},
			{Name: "coded_memory", Default: `"256m"`, Help: "of all coded bodies that are being rewritten; beyond it they wait", Read: size("coded_memory", &r.Limits.CodedMemory, 1<<20)},
			{Name: "coded_window", Default: `"8m"`, Help: "what a coding may look back; more is a coding that is not known", Read: size("coded_window", &r.Limits.CodedWindow, 32<<10)},
			{Name: "rules", Default: `"64m"`, Help: "of compiled rules of bodies; those not used for longest are dropped", Read: size("rules", &r.Limits.Rules, 1<<20)},
			{Name: "memory", Default: `0`, Help: "of buffers, from 4m; 0: an eighth of the memory there is", Read: r.readMemory},
		}),
		object("timeouts", `"0s" is no limit`, []jsonc.Field{
			{Name: "head", Default: `"10s"`, Help: "a request's head", Read: duration(&r.Timeouts.Head, 0)},
			{Name: "body", Default: `"30s"`, Help: "a request's body, from one part to the next", Read: duration(&r.Timeouts.Body, 0)},
			{Name: "response", Default: `"30s"`, Help: "the head of a server's answer", Read: duration(&r.Timeouts.Response, 0)},
			{Name: "idle", Default: `"75s"`, Help: "a client without a request; the body of an answer, from one part to the next", Read: duration(&r.Timeouts.Idle, 0)},
			{Name: "write", Default: `"30s"`, Help: "a client that takes the next 64 KB", Read: duration(&r.Timeouts.Write, 0)},
			{Name: "tunnel", Default: `"1h"`, Help: "an upgraded connection without a byte", Read: duration(&r.Timeouts.Tunnel, 0)},
			{Name: "drain", Default: `"10s"`, Help: `requests under way, at the end; "0s" cuts them`, Read: duration(&r.Timeouts.Drain, 0)},
		}),
		{Name: "upstreams", Default: r.noUpstreams(), Need: r.options.API == "", Help: "groups of servers, by name",
			Hint: `, such as {"origin": {"servers": ["127.0.0.1:9000"]}}`,
			Read: r.readUpstreams, Inner: func() []jsonc.Field { return r.upstream(new(Upstream)) }, Shape: jsonc.Named, Example: "origin"},
		{Name: "trust", Default: `[]`, Help: "networks whose X-Forwarded-For and Forwarded are believed", Read: networks(&r.Trust)},
		object("block", "who is refused; nobody by default", r.blocking()),
		{Name: "request", Default: `{}`, Help: "for all routes, before their own", Read: r.readRequest(&r.request, &r.requestBodies), Inner: new(rules).requestFields},
		{Name: "response", Default: `{}`, Help: "for all routes, before their own", Read: r.readResponse(&r.response, &r.responseBodies), Inner: new(rules).responseFields},
		outerBody(&r.bodies),
		{Name: "routes", Default: `[]`, Help: "the first that matches counts; without any, all goes to the one upstream",
			Read: r.readRoutes, Inner: func() []jsonc.Field { return r.route(&routeReading{Route: new(Route)}) }, Shape: jsonc.List},
	}
}

func (r *reader) noUpstreams() string {
	if r.options.API == "" {
		return ""
	}
	return "{}"
}

// upstream is the table of one.
func (r *reader) upstream(u *Upstream) []jsonc.Field {
	health := func(h *Health) []jsonc.Field {
		return []jsonc.Field{
			{Name: "path", Default: `"/"`, Help: "asked by GET; 2xx and 3xx are well", Read: checked(&h.Path, checkTarget)},
			{Name: "host", Default: `""`, Help: `what Host says; "": the server's HOST:PORT`, Read: healthHost(&h.Host)},
			{Name: "every", Default: `"5s"`, Help: "from one answer to the next question", Read: duration(&h.Every, time.Millisecond)},
			{Name: "timeout", Default: `"2s"`, Help: "for the answer", Read: duration(&h.Timeout, time.Millisecond)},
		}
	}
	servers := jsonc.Field{Name: "servers", Need: true, Hint: `, such as ["127.0.0.1:9000"]`, Example: `["127.0.0.1:9000"]`,
		Help: "HOST:PORT each", Read: readServers(&u.Servers)}
	if u.Name == apiName && r.options.API != "" {
		servers.Need, servers.Default = false, quote([]string{r.options.API})
	}
	return []jsonc.Field{
		servers,
		{Name: "balance", Default: `"round-robin"`, Help: "or least-connections", Read: oneOf(&u.Balance, RoundRobin, LeastConnections)},
		{Name: "keepalive", Default: `64`, Help: "idle connections kept, by event loop and server", Read: count(&u.Keepalive, 65536)},
		{Name: "ready", Default: `1`, Help: "connections made at the start, by event loop and server", Read: count(&u.Ready, 1024)},
		{Name: "connections", Default: `0`, Help: "the most to one server; 0: no limit", Read: count(&u.Connections, maxConnections)},
		{Name: "idle", Default: `"30s"`, Help: "how long an idle connection is kept", Read: duration(&u.Idle, 0)},
		{Name: "dial", Default: `"1s"`, Help: "how long making a connection may take", Read: duration(&u.Dial, 0)},
		{Name: "fails", Default: `3`, Help: "so many failures in a row take a server out; 0: none do", Read: count(&u.Fails, 1_000_000)},
		{Name: "retry", Default: `"5s"`, Help: "for so long", Read: duration(&u.Retry, time.Millisecond)},
		{Name: "health", Help: "ask each server whether it is well", Inner: func() []jsonc.Field { return health(new(Health)) }, Hide: true, Read: func(v jsonc.Value) error {
			u.Health = new(Health)
			return v.Fields(`"health"`, health(u.Health))
		}},
	}
}

// route is the table of one.
func (r *reader) route(to *routeReading) []jsonc.Field {
	return []jsonc.Field{
		{Name: "name", Default: `""`, Help: `in logs and metrics; "": route N, from 1`, Read: r.readRouteName(to)},
		object("match", "both must fit", []jsonc.Field{
			{Name: "host", Default: `""`, Help: `"*.x": all that end in .x; "": any`, Read: hostPattern(&to.Host)},
			{Name: "path", Default: `""`, Help: `* at the end is any rest; "": any`, Read: pathPattern(&to.Path, true)},
		}),
		{Name: "upstream", Need: true, Hint: ", the name of one of the upstreams", Example: `"origin"`, Help: "by its name", Read: func(v jsonc.Value) error {
			to.upstreamPlace = v
			return text(&to.upstream)(v)
		}},
		{Name: "upgrade", Default: `false`, Help: "let connections become tunnels, as for WebSocket", Read: boolean(&to.Upgrade)},
		{Name: "request", Default: `{}`, Help: "what is changed on the way to the server", Read: r.readRequest(&to.Request, &to.requestBodies), Inner: new(rules).requestFields},
		{Name: "response", Default: `{}`, Help: "what is changed on the way back", Read: r.readResponse(&to.Response, &to.responseBodies), Inner: new(rules).responseFields},
	}
}

// blocking is the table of block.
func (r *reader) blocking() []jsonc.Field {
	b := &r.block
	return []jsonc.Field{
		{Name: "networks", Default: `[]`, Help: `addresses refused: "198.51.100.0/24" or one alone`, Read: networks(&b.Networks)},
		{Name: "methods", Default: `[]`, Help: `such as "TRACE"; case counts`, Read: methods(&b.Methods)},
		{Name: "paths", Default: `[]`, Help: `such as "/.git/*"; * at the end is any rest`, Read: paths(&b.Paths)},
		{Name: "headers", Default: `[]`, Help: "fields with such a value", Read: r.readHeaders, Inner: new(headerReading).fields, Shape: jsonc.List, Hide: true},
		{Name: "connections", Default: `0`, Help: "the most of one client; 0: no limit; 429", Read: count(&b.Connections, maxConnections)},
		{Name: "rate", Default: `{}`, Help: "how many requests are let in; 429", Read: r.readRate, Inner: new(rateReading).fields},
		{Name: "answer", Default: `403`, Help: `400 to 599, or "close": without a word`, Read: answer(&b.Answer)},
		{Name: "dry_run", Default: `false`, Help: "count and log, but let in", Read: boolean(&b.DryRun)},
	}
}

// leastMemory is what a loop or two need, and some connections.
const leastMemory = 4 << 20

func (r *reader) readMemory(v jsonc.Value) error {
	if err := size("memory", &r.Limits.Memory, 0)(v); err != nil {
		return err
	}
	if n := r.Limits.Memory; n != 0 && n < leastMemory {
		return v.Errorf("memory %d bytes: that is too little for connections; give at least 4m, or 0 for an eighth of the memory there is", n)
	}
	return nil
}
