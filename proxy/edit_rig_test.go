//go:build linux

package proxy

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"redoubt/proxy/body"
	"redoubt/proxy/config"
	"redoubt/proxy/subst"
)

// The rules that most tests go by.
var cats = []subst.Rule{{Find: "cats?", Put: "doggy", Flags: "g"}, {Find: "a.{0,3}z", Put: "<$&>", Flags: "g"}}

// rewriting are settings whose answers of HTML go through rules.
func rewriting(server string, rules ...subst.Rule) *config.Config {
	c := settings(server)
	c.Limits.Rules = 64 << 20
	c.Routes[0].ResponseBody = &body.Options{Name: "answers", Types: []string{"text/html", "text/event-stream"}, Rules: rules, Share: 100}
	return c
}

// offline is what rules make of a text that is all there.
func offline(t testing.TB, o *body.Options, text string) string {
	t.Helper()
	return replacer(t, o)(text)
}

// replacer is it for many texts.
func replacer(t testing.TB, o *body.Options) func(text string) string {
	t.Helper()
	set, err := subst.Compile(o.Rules, subst.Options{Match: o.Match, Hold: o.Hold})
	if err != nil {
		t.Fatal(err)
	}
	s := set.NewStream()
	return func(text string) string {
		defer s.Reset()
		return string(s.Finish(s.Feed(nil, []byte(text))))
	}
}

// coder makes coded texts, and reads them, by the libraries alone.
type coder struct {
	name   string
	writer func(io.Writer) flushWriter
	reader func(io.Reader) (io.Reader, error)
}

type flushWriter interface {
	io.WriteCloser
	Flush() error
}

var coders = []coder{
	{"gzip", func(w io.Writer) flushWriter { return gzip.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"deflate", func(w io.Writer) flushWriter { return zlib.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
	{"br", func(w io.Writer) flushWriter { return brotli.NewWriter(w) }, func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }},
	{"zstd", func(w io.Writer) flushWriter {
		e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return e
	}, func(r io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d, nil
	}},
}

// noWrapper is deflate as some servers send it.
var noWrapper = coder{"deflate", func(w io.Writer) flushWriter {
	f, _ := flate.NewWriter(w, 6)
	return f
}, nil}

func coderOf(name string) *coder {
	for i := range coders {
		if coders[i].name == name {
			return &coders[i]
		}
	}
	panic("no coder for " + name)
}

// encode codes a text, whose pieces are flushed.
func (c *coder) encode(pieces ...string) string {
	var b bytes.Buffer
	w := c.writer(&b)
	for i, p := range pieces {
		io.WriteString(w, p)
		if i < len(pieces)-1 {
			w.Flush()
		}
	}
	w.Close()
	return b.String()
}

func (c *coder) decode(coded string) (string, error) {
	r, err := c.reader(strings.NewReader(coded))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	if d, ok := r.(*zstd.Decoder); ok {
		d.Close()
	}
	return string(text), err
}

// decoded is the text of an answer's body, whatever it is coded in.
func decoded(m *message) (string, error) {
	switch coding := strings.Join(m.get("Content-Encoding"), ","); coding {
	case "":
		return m.body, nil
	case "gzip", "deflate", "br", "zstd":
		return coderOf(coding).decode(m.body)
	default:
		return "", fmt.Errorf("the coding is %q", coding)
	}
}

// rewriter is a proxy that rewrites, before a stage.
type rewriter struct {
	*stage
	t     testing.TB
	proxy *Proxy
	addr  string
	rules *body.Options
}

func newRewriter(t testing.TB, change func(*config.Config)) *rewriter {
	t.Helper()
	s := newStage(t)
	c := rewriting(s.addr, cats...)
	c.Upstreams[0].Keepalive = 0
	c.Limits.Body = 100 << 10
	if change != nil {
		change(c)
	}
	p, addr := run(t, c, Options{})
	return &rewriter{s, t, p, addr, c.Routes[0].ResponseBody}
}

// exchange has a request answered, and returns what the client gets, and what the
// server has got. Both were judged by strict.
func (r *rewriter) exchange(request string, answer ...string) (got message, asked []message) {
	r.t.Helper()
	r.next(script{answers: answer, end: closes})
	said, err := say(r.t, r.addr, request)
	sent, _, _ := requests(request, true)
	list, rest, bad := answers(said, sent, err == nil)
	if err != nil || bad != nil || rest != "" || finals(list) != 1 {
		r.t.Fatalf("%.200q, answered with %.300q: the client gets %.600q (%v, %v)", request, answer, said, err, bad)
	}
	return list[len(list)-1], r.got(r.t, false)
}

// wants is an exchange whose answer, without the proxy's own fields, must be this.
func (r *rewriter) wants(request, answer, want string) {
	r.t.Helper()
	if m, _ := r.exchange(request, answer); m.String() != want {
		r.t.Errorf("%.200q, answered with\n%.400q: the client gets\n%.400q, want\n%.400q", request, answer, m, want)
	}
}

// page is an answer of HTML with a length; fields may have lines of their own.
func page(fields, text string) string {
	if fields != "" {
		fields += "\r\n"
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%sContent-Length: %d\r\n\r\n%s", fields, len(text), text)
}

// inChunks is one in chunks.
func inChunks(fields string, pieces ...string) string {
	if fields != "" {
		fields += "\r\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%sTransfer-Encoding: chunked\r\n\r\n", fields)
	for _, p := range pieces {
		if p != "" {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
		}
	}
	return b.String() + "0\r\n\r\n"
}

const takesAll = "Accept-Encoding: gzip, deflate, br, zstd"

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// clientNumber is one of many addresses.
func clientNumber(n int) netip.Addr { return netip.AddrFrom4([4]byte{203, 0, byte(n >> 8), byte(n)}) }

// domains are n rules, as a mirror has them.
func domains(n int) (rules []subst.Rule) {
	for i := range n {
		rules = append(rules, subst.Rule{Find: fmt.Sprintf(`(https?:)?//([a-z0-9-]+\.)?site%02d\.example`, i), Put: fmt.Sprintf("$1//mirror%02d.example", i), Flags: "gi"})
	}
	return rules
}

// thirty are the rules that scripts/bench.sh measures.
func thirty(t testing.TB) (rules []subst.Rule) {
	t.Helper()
	file, err := os.ReadFile("../scripts/bench/subst/rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(columns) > 2 && slices.Contains(strings.Split(columns[0], ","), "R30") {
			rules = append(rules, subst.Rule{Flags: columns[1], Find: columns[2], Put: strings.Join(columns[3:], "")})
		}
	}
	if len(rules) != 30 {
		t.Fatalf("there are %d of the thirty rules", len(rules))
	}
	return rules
}

// mixed is a text of at least size bytes, much of which thirty rules match, or nearly.
func mixed(rnd *rand.Rand, size int) string {
	parts := []string{
		"https://www.origin.example/a", "//origin.example", "HTTP://ORIGIN.example", "http://", "cdn7.origin.example", "<script src=\"/tracker.js\"></script>", "<script>x</script>",
		"UA-12345-1", "UA-1", "<meta name=\"generator\" content=\"x\">", " colour ", "colours", "session_id=0123456789abcdef", "session_id=1", "</head>", "192.168.10.200", "1.2.3",
		"data-src=\"/img.png\"", "data-src=", "https://a-b.site07.example", "//site19.example", "//site20.example", "https://x.site00.exampl", "\n", " and so on ", "é ☃ ", "\xff\x00", "h", "/", "<", "0",
	}
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	return b.String()
}

// limited takes so many bytes, and fails then.
type limited struct {
	io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		n, _ := l.Writer.Write(b[:l.left])
		l.left = 0
		return n, errors.New("enough")
	}
	l.left -= len(b)
	return l.Writer.Write(b)
}

// begun is a client to which an answer has begun to come.
func begun(t *testing.T, addr string) *client {
	t.Helper()
	c := connect(t, addr)
	c.send("GET /x", takesAll+"\r\n")
	if _, err := c.in.Peek(1); err != nil {
		t.Fatal(err)
	}
	return c
}

// halves are the two parts that a body comes in, with a match across them.
func halves(coding string) (first, second string) {
	if coding == "" {
		return "a cat and a c", "at, the end"
	}
	var b strings.Builder
	w := coderOf(coding).writer(&b)
	io.WriteString(w, "a cat and a c")
	w.Flush()
	first = b.String()
	io.WriteString(w, "at, the end")
	w.Close()
	return first, b.String()[len(first):]
}

// twoHalves is a server whose bodies stop in the middle until more is sent on a channel.
func twoHalves(t *testing.T, coding string) (s *scripted, more chan struct{}) {
	more = make(chan struct{}, 100)
	first, second := halves(coding)
	s = play(t, "", func(c *scriptedConn) {
		for c.request() != nil {
			c.say(strings.Replace(head200(coding), "\r\n\r\n", fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(first)+len(second)), 1))
			c.say(first)
			<-more
			c.say(second)
		}
	})
	return s, more
}

// textOf is the text of the answer that comes.
func textOf(c *client, coding string) (string, error) {
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return "", err
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil || coding == "" {
		return string(sent), err
	}
	return coderOf(r.Header.Get("Content-Encoding")).decode(string(sent))
}
