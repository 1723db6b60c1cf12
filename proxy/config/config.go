// Package config reads the configuration of the filter proxy: JSON in which
// comments and trailing commas may stand. What it returns is checked as a whole
// and compiled; what is wrong is told with file, line and column.
//
// Each object has one table of its fields (fields.go and others): name, help,
// default and how to read it. Schema, the defaults and the lists of known
// fields in errors come from these.
package config

import (
	"net/netip"
	"time"

	"redoubt/proxy/body"
	"redoubt/proxy/filter"
	"redoubt/proxy/rewrite"
)

// Config is a whole configuration. It is not changed once it has been read.
type Config struct {
	Listen    []string // addresses HOST:PORT or :PORT
	Admin     string   // the same; "": no admin listener
	Log       *Log     // nil: no access log
	Limits    Limits
	Timeouts  Timeouts
	Upstreams []*Upstream     // in the file's order
	Trust     []netip.Prefix  // who may speak for the client's address
	Block     *filter.Options // nil: everybody is let in
	Routes    []*Route        // at least one; the first that matches counts
}

// Log says where the access log goes.
type Log struct {
	File   string // "-": standard error
	Format string // "json" or "combined"
}

// Limits bound what all clients together take.
type Limits struct {
	Connections int   // of clients; 0: as many as there are descriptors for
	Body        int64 // bytes of a request's body
	CodedMemory int64 // bytes that all coded bodies being rewritten may take
	CodedWindow int64 // bytes that a coding may look back
	Rules       int64 // bytes of compiled rules of bodies
	Memory      int64 // bytes of buffers; 0: an eighth of the memory there is
}

// Timeouts are times that things may take; 0 is no limit.
type Timeouts struct {
	Head     time.Duration // a request's head
	Body     time.Duration // a request's body, from one part to the next
	Response time.Duration // a server's answer, until its head is there
	Idle     time.Duration // a client's connection without a request, and a server's answer between parts of its body
	Write    time.Duration // a client taking the next 64 KB
	Tunnel   time.Duration // an upgraded connection without a byte
	Drain    time.Duration // requests under way, at the end
}

// Upstream is a group of servers that have the same to offer.
type Upstream struct {
	Name        string
	Servers     []string      // HOST:PORT
	Balance     string        // RoundRobin or LeastConnections
	Keepalive   int           // idle connections kept, by loop and server
	Connections int           // the most to one server, of all loops; 0: no limit
	Ready       int           // connections made at the start, by loop and server
	Idle        time.Duration // how long an idle connection is kept; 0: as long as the server does
	Dial        time.Duration // how long making a connection may take; 0: no limit
	Health      *Health       // nil: nobody asks
	Fails       int           // so many failures in a row take a server out; 0: none do
	Retry       time.Duration // ... for so long
}

// Ways to choose a server.
const (
	RoundRobin       = "round-robin"
	LeastConnections = "least-connections"
)

// Health says how a server is asked whether it is well.
type Health struct {
	Path    string
	Host    string // of the Host field; "": the server's HOST:PORT
	Every   time.Duration
	Timeout time.Duration
}

// Route says what becomes of the requests that match it.
type Route struct {
	Name     string // "route N", from 1, unless it has one
	Host     string // in small letters; "*.x": all hosts that end in .x; "": any
	Path     string // '*' at its end stands for any rest; "": any
	Upstream *Upstream
	Upgrade  bool           // connections may become tunnels
	Request  *rewrite.Rules // of all routes, then of this one
	Response *rewrite.Rules

	RequestBody  *body.Options // the same for bodies; nil: they pass as they are
	ResponseBody *body.Options
}
