package nginxconf

import (
	"slices"
	"strings"
)

// level is http, a server or a location, in those around it.
type level struct {
	outer *level // nil for http
	self  *directive
	block []*directive
}

func (l *level) inner(d *directive) *level { return &level{l, d, d.block} }

// all is the directives of these names in the nearest level that has any: lists are
// replaced by those of an inner level, not added to.
func (l *level) all(names ...string) []*directive {
	for ; l != nil; l = l.outer {
		if list := l.own(names...); len(list) > 0 {
			return list
		}
	}
	return nil
}

// own is those of this level alone.
func (l *level) own(names ...string) (list []*directive) {
	for _, d := range l.block {
		if slices.Contains(names, d.name) {
			list = append(list, d)
		}
	}
	return list
}

// one is a directive that stands for itself, or nil.
func (l *level) one(name string) *directive {
	if list := l.all(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// on tells whether a switch is on.
func (l *level) on(name string, otherwise bool) bool {
	if d := l.one(name); d != nil {
		return strings.EqualFold(d.arg(0), "on")
	}
	return otherwise
}

// newHTTP is the level of http. A file with servers, or even with locations, alone is
// a piece of nginx.conf that others include.
func newHTTP(list []*directive) (http *level, piece bool) {
	http = &level{}
	for _, d := range list {
		if d.name == "http" {
			http.self = d
			http.block = append(http.block, d.block...)
		}
	}
	switch {
	case http.self != nil:
		return http, false
	case slices.ContainsFunc(list, func(d *directive) bool { return d.name == "server" || d.name == "upstream" }):
		http.block = list
		return http, false
	}
	server := &directive{name: "server", block: list, opened: true}
	if len(list) > 0 {
		server.file, server.line = list[0].file, list[0].line
	}
	http.block = []*directive{server}
	return http, true
}
