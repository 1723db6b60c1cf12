package main

var (
	letters = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "_", "$"}
	members = []string{"length", "push", "call", "prototype", "apply", "value", "data", "props", "children", "style", "className", "parentNode",
		"appendChild", "addEventListener", "querySelector", "getAttribute", "indexOf", "slice", "map", "forEach", "concat", "toString",
		"hasOwnProperty", "exports", "then", "catch", "current", "state", "render", "options", "target", "type", "key", "id", "name"}
	operators = []string{"+", "-", "*", "/", "%", "&&", "||", "===", "!==", "<", ">", "<=", "&", "|", ">>>", "=="}
	strs      = []string{"string", "object", "function", "undefined", "number", "click", "div", "px", "", " ", "error", "change", "input", "default", "use strict"}
)

// script is minified: short names, no blanks, one line that does not end; the
// origin's domain in a string now and then.
func (w *writer) script(size int) {
	w.add("/*! bundle 4.7.1 | (c) Origin Inc. | build 20260412 */\n!function(e,t){\"use strict\";")
	for w.Len() < size {
		w.statement(3)
	}
}

func (w *writer) name() string {
	if w.in(4) {
		return w.of(letters) + w.of(letters)
	}
	return w.of(letters)
}

// statement has others in it, so many deep at most.
func (w *writer) statement(depth int) {
	kind := w.below(10)
	if depth == 0 && kind > 4 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		w.add("var %s=", w.name())
		w.expression(depth)
		for w.in(2) {
			w.add(",%s=", w.name())
			w.expression(depth)
		}
		w.WriteByte(';')
	case 2, 3:
		w.add("%s.%s=", w.name(), w.of(members))
		w.expression(depth)
		w.WriteByte(';')
	case 4:
		w.add("%s.%s(", w.name(), w.of(members))
		w.expression(depth)
		w.WriteString(");")
	case 5:
		w.WriteString("if(")
		w.expression(depth - 1)
		w.WriteByte(')')
		w.block(depth)
	case 6:
		w.add("function %s(%s,%s)", w.name(), w.name(), w.name())
		w.block(depth)
	case 7:
		i := w.name()
		w.add("for(var %s=0;%s<%s.length;%s++)", i, i, w.name(), i)
		w.block(depth)
	case 8:
		w.WriteString("return ")
		w.expression(depth)
		w.WriteByte(';')
	case 9:
		w.WriteString("try")
		w.block(depth)
		w.add("catch(%s){}", w.name())
	}
}

func (w *writer) block(depth int) {
	w.WriteByte('{')
	for range 1 + w.below(3) {
		w.statement(depth - 1)
	}
	w.WriteByte('}')
}

func (w *writer) expression(depth int) {
	kind := w.below(14)
	if depth <= 0 {
		kind %= 6
	}
	switch kind {
	case 0, 1:
		w.WriteString(w.name())
	case 2, 3:
		w.add("%s.%s", w.name(), w.of(members))
	case 4:
		w.add("%d", w.below([]int{2, 10, 100, 4096}[w.below(4)]))
	case 5:
		w.literal()
	case 6, 7, 8:
		w.expression(depth - 1)
		w.WriteString(w.of(operators))
		w.expression(depth - 1)
	case 9, 10:
		w.add("%s.%s(", w.name(), w.of(members))
		w.expression(depth - 1)
		w.WriteByte(')')
	case 11:
		w.add("{%s:", w.of(members))
		w.expression(depth - 1)
		w.add(",%s:", w.of(members))
		w.expression(depth - 1)
		w.WriteByte('}')
	case 12:
		w.add("function(%s){return ", w.name())
		w.expression(depth - 1)
		w.WriteByte('}')
	case 13:
		w.WriteByte('[')
		w.expression(depth - 1)
		w.WriteByte(',')
		w.expression(depth - 1)
		w.WriteByte(']')
	}
}

func (w *writer) literal() {
	switch w.below(40) {
	default:
		w.add("%q", w.of(strs))
	case 0:
		w.add("\"https://%s/%s/\"", w.of(hosts), w.word())
	case 1, 2:
		w.add("\"%s-%s\"", w.word(), w.word())
	case 3:
		w.add("\"#%s\"", w.hex(6))
	case 4:
		w.WriteString("/^[a-z]+$/i")
	}
}
