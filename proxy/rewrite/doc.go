// Package rewrite changes heads and targets by rules: it removes, sets and adds
// fields, and replaces parts of values and of a request's path and query.
//
// Compile makes Rules of Options, once; they never change, and any number of
// loops may use them. Join puts the rules of a route behind those that are for
// all routes. A proxy hands each field line of a head to Rules.Field, adds
// those it says nothing about as they are, and lets Rules.Added add the rest:
//
//	for _, f := range request.Fields() {
//		if !rules.Field(out, request, f, vars) {
//			out.Raw(request.Line(f))
//		}
//	}
//	rules.Added(out, vars)
//
// So a line that stays is a view of the head as it came, and new memory is
// written for new lines only. Nothing is allocated but where a regular
// expression has matched.
//
// A search takes time linear in the value. With flag g there is one for each
// match, and expressions that look far ahead before they settle for little, as
// (?:a.*b|a) does, go over the rest of the value each time. So their matches, each
// counted with the length of its value, are bounded for a head and for a target;
// literal text without flag i has no such bound. A value with more than that is
// left out with its field, as one that grows too long is, and a target is refused:
// half of the matches replaced would be neither what came nor what the rule
// promises.
//
// # What is done in which order
//
// Remove and Set take away the fields of a name that came, all of them; Headers
// rules go over the values of those that are left, one rule after the other,
// each on the result of the one before; then come the lines of Set and Add, in
// order. Headers rules see neither of these.
//
// # Texts
//
// Find is an expression of package regexp. In Put, $1 or ${1} is what group 1
// matched, $& or $0 the whole match, $$ a dollar sign, $client or ${client} a
// variable; a number or a name is the longest run of digits, or of small letters
// and _. Values of Set and Add know variables and $$. The variables are $client,
// $host, $path, $request_id and $upstream; see Vars.
//
// # What cannot be done
//
// Fields that frame a body or belong to the connection are none of a rule's
// business (see Compile). Host is never removed, and never set or changed to
// anything but a host: then it stays as it came. What a variable or a group has
// brought never ends a line: a value with control bytes, or one over
// http1.MaxHead, is left out with its field.
package rewrite
