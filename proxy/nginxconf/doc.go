// Package nginxconf turns a configuration of nginx into one of the filter proxy:
// what is said by proxy_pass, upstream, server and location becomes routes, what
// is said by sub_filter, subs_filter and replace_filter becomes rules of bodies.
// What cannot be carried over is told, line by line.
//
// It goes in three steps. read.go and words.go read the files, with what they include, into
// a tree of directives. A level of that tree knows what holds in it by nginx's rule: a
// directive, or a list of them, is taken from the nearest level that has any (level.go).
// The others go over servers and locations and fill in a plan, which write.go writes.
//
// The result is meant to do what nginx does, also where that is odd: expressions
// are rewritten so that they match the same (expression.go), routes are put into the
// order in which nginx chooses (routes.go), and what is done otherwise has a note.
package nginxconf
