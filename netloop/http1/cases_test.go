package http1

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A case of testdata/*.txt is a paragraph:
//
//	# what it is about, with the section of the RFC
//	@ key value        what the reader must know besides (an answer's request, a body's framing)
//	| a line of input; CRLF follows
//	> input without a line end
//	= key value        what must come out; of a message that is taken, only what is asked for is compared
//
// Input is written with Go's escapes; ⟨a*100⟩ is repeated.
type testCase struct {
	name  string
	setup map[string]string
	in    []byte
	want  []string
}

func readCases(t testing.TB, file string) (cases []testCase) {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	c := testCase{setup: map[string]string{}}
	for number, line := range strings.Split(string(text)+"\n", "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "":
			if c.want != nil {
				cases = append(cases, c)
			}
			c = testCase{setup: map[string]string{}}
		case "#":
			c.name = strings.TrimPrefix(c.name+" "+rest, " ")
		case "@":
			key, value, _ := strings.Cut(rest, " ")
			c.setup[key] = value
		case "|":
			c.in = append(c.in, unescape(t, rest)+"\r\n"...)
		case ">":
			c.in = append(c.in, unescape(t, rest)...)
		case "=":
			c.want = append(c.want, unescape(t, rest))
		default:
			t.Fatalf("%s:%d: %q", file, number+1, line)
		}
	}
	return cases
}

// seed gives a fuzzer the inputs of a file's cases.
func seed(f *testing.F, file string, more ...any) {
	for _, c := range readCases(f, file) {
		f.Add(append([]any{c.in}, more...)...)
	}
}

func unescape(t testing.TB, text string) string {
	t.Helper()
	for {
		end := strings.Index(text, "⟩")
		if end < 0 {
			break
		}
		begin := strings.LastIndex(text[:end], "⟨") // the innermost
		inside := text[begin+len("⟨") : end]
		star := strings.LastIndexByte(inside, '*')
		n, err := strconv.Atoi(inside[star+1:])
		if err != nil {
			t.Fatal(err)
		}
		text = text[:begin] + strings.Repeat(inside[:star], n) + text[end+len("⟩"):]
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return text
}

// reader is what a Request and a Response have in common.
type reader interface {
	Reset()
	Parse(in []byte) (int, Fault)
	Rebase(in []byte)
}

type outcome struct {
	n     int
	fault Fault
}

// everyWay feeds a reader in every way and sees that the outcome is the same:
// byte by byte, at once, and cut in two, each byte sequence at an address of
// its own with nothing behind it, or with rubbish. It returns the outcome, and
// leaves the reader with it.
func everyWay(t testing.TB, r reader, in []byte) outcome {
	t.Helper()
	// Byte by byte: the outcome of every prefix.
	prefixes := make([]outcome, len(in)+1)
	r.Reset()
	for n := range prefixes {
		moved := in[:n:n]
		if n < 2000 {
			moved = bytes.Clone(moved)
			moved = moved[:n:n]
		}
		prefixes[n].n, prefixes[n].fault = r.Parse(moved)
		if n > 0 && prefixes[n-1] != (outcome{}) && prefixes[n] != prefixes[n-1] {
			t.Fatalf("%d bytes of %.100q: after %v comes %v", n, in, prefixes[n-1], prefixes[n])
		}
	}
	last := prefixes[len(in)]
	step := 1
	if len(in) > 1000 {
		step = 97
	}
	for n := 0; n <= len(in); n += step {
		padded := append(append([]byte(nil), in[:n]...), "\x00\r\n rubbish"...)[:n]
		r.Reset()
		var got outcome
		if got.n, got.fault = r.Parse(padded); got != prefixes[n] {
			t.Fatalf("%d bytes of %.100q: at once %v, byte by byte %v", n, in, got, prefixes[n])
		}
		clear(padded) // nothing of it may be looked at again
		if got.n, got.fault = r.Parse(in); got != last {
			t.Fatalf("%.100q cut after %d: %v, byte by byte %v", in, n, got, last)
		}
	}
	r.Reset()
	r.Parse(in)
	r.Rebase(bytes.Clone(in))
	return last
}

func (o outcome) String() string {
	switch {
	case o.fault != 0:
		return fmt.Sprint(o.fault.Status(), " ", o.fault)
	case o.n == 0:
		return "more"
	}
	return fmt.Sprint(o.n, " bytes")
}

// describeHead tells what both kinds of heads say.
func describeHead(h *head) (lines []string) {
	for _, f := range h.Fields() {
		lines = append(lines, fmt.Sprintf("field %s: %s", h.Name(f), h.Value(f)))
	}
	return append(lines,
		fmt.Sprint("minor ", h.Minor()),
		fmt.Sprint("length ", h.ContentLength()),
		fmt.Sprint("chunked ", h.Chunked()),
		fmt.Sprint("keep-alive ", h.KeepAlive()),
		fmt.Sprint("upgrade ", h.Upgrade()),
	)
}

func describeFraming(kind Framing, size int64) string {
	return fmt.Sprint("framing ", [...]string{"none", "sized", "chunked", "until close"}[kind], " ", size)
}

func describeRequest(r *Request) []string {
	query := "no query"
	if r.HasQuery() {
		query = "query " + string(r.Query())
	}
	return append([]string{
		fmt.Sprintf("method %s", r.Method()),
		fmt.Sprintf("target %s", r.Target()),
		fmt.Sprintf("form %s", [...]string{"origin", "absolute", "authority", "asterisk"}[r.Form()]),
		fmt.Sprintf("path %s", r.Path()),
		query,
		fmt.Sprintf("authority %s", r.Authority()),
		fmt.Sprint("continue ", r.ExpectContinue()),
		describeFraming(r.Framing()),
	}, describeHead(&r.head)...)
}

func describeResponse(r *Response, method string) []string {
	return append([]string{
		fmt.Sprint("status ", r.Status()),
		fmt.Sprintf("reason %s", r.Reason()),
		describeFraming(r.Framing([]byte(method))),
	}, describeHead(&r.head)...)
}

// compare looks for what a case wants in what there is.
func compare(t *testing.T, c testCase, have []string) {
	t.Helper()
	all := "\n" + strings.Join(have, "\n") + "\n"
	for _, want := range c.want {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("%s\n%.300q:\nwant %q\nhave %.600q", c.name, c.in, want, have)
		}
	}
}

func TestRequestCases(t *testing.T) {
	for _, c := range readCases(t, "requests.txt") {
		var r Request
		got := everyWay(t, &r, c.in)
		have := []string{got.String()}
		if got.n > 0 {
			have = append(describeRequest(&r), "taken", fmt.Sprintf("rest %s", c.in[got.n:]))
			againstOracle(t, c.in, &r)
			againstNetHTTP(t, c.in[:got.n], &r)
		}
		compare(t, c, have)
	}
}

func TestResponseCases(t *testing.T) {
	for _, c := range readCases(t, "answers.txt") {
		var r Response
		got := everyWay(t, &r, c.in)
		have := []string{got.String()}
		if got.n > 0 {
			have = append(describeResponse(&r, c.setup["method"]), "taken", fmt.Sprintf("rest %s", c.in[got.n:]))
		}
		compare(t, c, have)
	}
}

// readBody feeds a body in pieces of the given sizes, the last repeated, and
// tells what comes out. What is not used up comes again, moved, with the next
// piece.
func readBody(b *Body, in []byte, pieces ...int) (out string) {
	var data, held []byte
	end := func(outcome string) string {
		out := fmt.Sprintf("data %s\n%s", data, outcome)
		for name, value := range b.EachTrailer {
			out += fmt.Sprintf("\ntrailer %s: %s", name, value)
		}
		return out
	}
	used := 0
	for i := 0; ; i++ {
		piece := min(pieces[min(i, len(pieces)-1)], len(in)-used-len(held))
		held = in[used : used+len(held)+piece]
		if len(held) < 2000 {
			held = bytes.Clone(held)
		}
		held = held[:len(held):len(held)]
		for {
			part, n, done, fault := b.Next(held)
			data = append(data, part...)
			used += n
			held = held[n:]
			switch {
			case fault != 0:
				return end(fmt.Sprint(fault.Status(), " ", fault))
			case done:
				return end(fmt.Sprintf("rest %s", in[used:]))
			}
			if n == 0 {
				break
			}
		}
		if used+len(held) == len(in) {
			if b.EOF() {
				return end("closed")
			}
			return end("cut short")
		}
	}
}

func TestBodyCases(t *testing.T) {
	kinds := map[string]Framing{"none": None, "sized": Sized, "chunked": Chunked, "until": UntilClose}
	for _, c := range readCases(t, "bodies.txt") {
		kind, sizeText, _ := strings.Cut(c.setup["framing"], " ")
		size, _ := strconv.ParseInt(sizeText, 10, 64)
		read := func(pieces ...int) string {
			var b Body
			b.Reset(kinds[kind], size)
			return readBody(&b, c.in, pieces...)
		}
		want := read(len(c.in))
		if got := read(1); got != want {
			t.Errorf("%s: byte by byte %.200q, at once %.200q", c.name, got, want)
		}
		step := 1
		if len(c.in) > 1000 {
			step = 331
		}
		for cut := 1; cut < len(c.in); cut += step {
			if got := read(cut, len(c.in)); got != want {
				t.Errorf("%s: cut after %d %.200q, at once %.200q", c.name, cut, got, want)
			}
		}
		compare(t, c, strings.Split(want, "\n"))
	}
}
