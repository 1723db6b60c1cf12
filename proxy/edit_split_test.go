//go:build linux

package proxy

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/body"
	"redoubt/proxy/subst"
)

// bodyCutter sends one answer again and again, cut at other places each time.
type bodyCutter struct{ cutter }

func newBodyCutter(t *testing.T, rules []subst.Rule, o func(*body.Options)) *bodyCutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := rewriting(l.Addr().String(), rules...)
	c.Upstreams[0].Keepalive = 0
	c.Routes[0].RequestBody = &body.Options{Name: "requests", Types: []string{"text/html"}, Rules: rules, Share: 100}
	if o != nil {
		o(c.Routes[0].ResponseBody)
	}
	p, addr := run(t, c, Options{})
	return &bodyCutter{cutter: cutter{t: t, proxy: p, addr: addr, stage: l.(*net.TCPListener)}}
}

// perform has a request answered, each cut at its places, and returns what both sides
// have got.
func (c *bodyCutter) perform(request string, requestCuts []int, answer string, answerCuts []int) (atServer, atClient message) {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetNoDelay(true)
	client := listen(conn)
	c.write(conn, request, requestCuts)
	c.stage.SetDeadline(time.Now().Add(stagePatience))
	stage, err := c.stage.AcceptTCP()
	if err != nil {
		c.t.Fatal(err)
	}
	defer stage.Close()
	server := listen(stage)
	server.until(func(heard string) bool {
		list, _, _ := requests(heard, false)
		return len(list) > 0
	})
	c.write(stage, answer, answerCuts)
	stage.CloseWrite()
	conn.(*net.TCPConn).CloseWrite()
	got, heard := client.all(), server.all()
	sent, _, _ := requests(request, true)
	list, rest, bad := answers(got, sent, client.end == nil)
	asked, left, fault := requests(heard, false)
	if bad != nil || fault != nil || rest+left != "" || len(list) != 1 || len(asked) != 1 {
		c.t.Fatalf("cuts %v, %v: the client gets %q (%v, %v), the server %q (%v)", requestCuts, answerCuts, got, bad, client.end, heard, fault)
	}
	return asked[0], list[0]
}

// check has an answer cut, and compares the text that comes.
func (c *bodyCutter) check(what, answer, want string, cuts ...int) {
	c.t.Helper()
	_, m := c.perform(field(takesAll), nil, answer, cuts)
	text, err := decoded(&m)
	if err != nil || text != want {
		c.t.Fatalf("%s: cuts %v: %s (%v)", what, cuts, differ(text, want), err)
	}
	if length := m.get("Content-Length"); len(length) > 0 && length[0] != fmt.Sprint(len(m.body)) {
		c.t.Fatalf("%s: cuts %v: a length of %v for %d bytes", what, cuts, length, len(m.body))
	}
}

// forms are the ways in which a text may come: framed thus and coded so.
func forms(text string) map[string]string {
	list := make(map[string]string)
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		sent, lines := text, ""
		if coding != "" {
			sent, lines = coderOf(coding).encode(text[:len(text)/3], text[len(text)/3:]), "Content-Encoding: "+coding
		}
		list["sized "+coding] = page(lines, sent)
		middle := max(1, len(sent)/2)
		list["chunked "+coding] = inChunks(lines, sent[:1], sent[1:middle], sent[middle:])
		if coding == "" {
			list["until close"] = page200 + "\r\n" + sent
		}
	}
	return list
}

// However the server's bytes are cut, the client has the same text: at every place, at
// all of them, and at random ones.
func TestAnySplitRewritesTheSame(t *testing.T) {
	step, runs := 1, 10
	if testing.Short() || instrumented {
		step, runs = 9, 4
	}
	one := []subst.Rule{{Find: `https?://[a-z.]*site\d+`, Put: "<$&>", Flags: "g"}}
	texts := map[string]struct {
		rules []subst.Rule
		text  string
	}{
		"one":    {one, "see https://www.site7, http://site12; htthttp://a.site0"},
		"thirty": {thirty(t), "</head> //www.Origin.example, http://a.site19.example, 1.2.3.4"},
	}
	for name, test := range texts {
		c := newBodyCutter(t, test.rules, nil)
		want := offline(t, &body.Options{Rules: test.rules}, test.text)
		if name == "one" {
			if std := regexp.MustCompile(one[0].Find).ReplaceAllString(test.text, "<$0>"); std != want || std == test.text {
				t.Fatalf("the standard library makes %q of it, and we %q", std, want)
			}
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for form, answer := range forms(test.text) {
			what := name + ", " + form
			every := make([]int, 0, len(answer))
			for at := range len(answer) {
				every = append(every, at)
			}
			c.check(what, answer, want)
			c.check(what, answer, want, every...)
			from := 1
			if name == "thirty" { // one has cut the heads
				from = strings.Index(answer, "\r\n\r\n")
			}
			by := step
			if !strings.HasSuffix(form, " ") { // in a coding
				by = 4*step - len(form)%2
			}
			for at := from; at < len(answer); at += by {
				c.check(what, answer, want, at)
			}
			for range runs {
				cuts := make([]int, 2+rnd.IntN(6))
				for i := range cuts {
					cuts[i] = rnd.IntN(len(answer))
				}
				slices.Sort(cuts)
				c.check(what, answer, want, cuts...)
			}
		}
	}
}

// Texts longer than any buffer, with thirty rules, a hold limit and both ways to choose.
func TestLongSplitsRewriteTheSame(t *testing.T) {
	runs := 3
	if testing.Short() || instrumented {
		runs = 1
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, o := range []body.Options{{}, {Hold: 12}, {Match: subst.First}} {
		o.Rules = thirty(t)
		c := newBodyCutter(t, o.Rules, func(to *body.Options) { to.Hold, to.Match = o.Hold, o.Match })
		text := mixed(rnd, 100_000)
		want := offline(t, &o, text)
		if want == text {
			t.Fatal("nothing matches")
		}
		for form, answer := range forms(text) {
			for range runs {
				cuts := make([]int, rnd.IntN(20))
				for i := range cuts {
					cuts[i] = rnd.IntN(len(answer))
				}
				slices.Sort(cuts)
				c.check(form, answer, want, cuts...)
			}
		}
	}
}

// A match that begins with one read and ends with another, with whole reads between
// them, and around what a coder has flushed.
func TestMatchesAcrossReads(t *testing.T) {
	rules := []subst.Rule{{Find: `begin[^!]*!`, Put: "X", Flags: "g"}}
	c := newBodyCutter(t, rules, func(o *body.Options) { o.Hold = 60_000 })
	long := "begin" + strings.Repeat("0123456789", 5000) + "!"
	text := "a" + long + "b" + long[:20] + "!c" + strings.Repeat("d", 300_000) + long
	const want = "aXbXc"
	for form, answer := range forms(text) {
		c.check(form, answer, want+strings.Repeat("d", 300_000)+"X", len(answer)/7, len(answer)/6, len(answer)/5, len(answer)-2)
	}
	for _, coding := range []string{"gzip", "br", "zstd", "deflate"} {
		pieces := []string{"a", long[:3], long[3:5], long[5:20_000], long[20_000 : len(long)-1], "!b", "beg", "in", "!c"}
		coded := coderOf(coding).encode(pieces...)
		c.check(coding, inChunks("Content-Encoding: "+coding, coded[:10], coded[10:]), want)
	}
}

// Requests' bodies are cut as well.
func TestAnySplitOfRequestsIsTheSame(t *testing.T) {
	step := 1
	if testing.Short() || instrumented {
		step = 9
	}
	rules := thirty(t)
	c := newBodyCutter(t, rules, nil)
	text := "x //www.Origin.example </head> http://a.site19.example, 1.2.3.4"
	want := offline(t, &body.Options{Rules: rules}, text)
	for form, answer := range forms(text) {
		if form == "until close" {
			continue
		}
		request := strings.Replace(answer, "HTTP/1.1 200 OK", "POST / HTTP/1.1\r\nHost: a", 1)
		var every []int
		for at := range len(request) {
			every = append(every, at)
		}
		check := func(cuts ...int) {
			t.Helper()
			got, _ := c.perform(request, cuts, hello, nil)
			if got.body != want || got.framing != "chunked" || got.get("Content-Encoding") != nil {
				t.Fatalf("%s: cuts %v: the server gets %v, want %q", form, cuts, got, want)
			}
		}
		check(every...)
		for at := strings.Index(request, "\r\n\r\n"); at < len(request); at += 2 * step {
			check(at)
		}
	}
}

// Many requests follow each other on one connection, with answers of all forms; no
// byte of one gets into another.
func TestEditedPipeline(t *testing.T) {
	texts := []string{"a cat", "", strings.Repeat("cats, ", 2000), "no dog"}
	var all []string
	var want []string
	for _, text := range texts {
		if text == "" {
			all, want = append(all, page("", ""), inChunks("")), append(want, "", "")
			continue
		}
		for form, answer := range forms(text) {
			if form != "until close" {
				all, want = append(all, answer), append(want, strings.ReplaceAll(strings.ReplaceAll(text, "cats", "cat"), "cat", "doggy"))
			}
		}
	}
	s := newStage(t)
	_, addr := run(t, rewriting(s.addr, cats...), Options{})
	s.next(script{answers: all})
	conn := dialRaw(t, addr)
	go io.WriteString(conn, strings.Repeat(field(takesAll), len(all)))
	heard := listen(conn)
	asked := make([]message, len(all))
	for i := range asked {
		asked[i] = message{method: "GET", minor: 1}
	}
	var list []message
	heard.until(func(text string) bool {
		list, _, _ = answers(text, asked, false)
		return len(list) == len(all)
	})
	if len(list) != len(all) {
		t.Fatalf("%d answers come, of %d", len(list), len(all))
	}
	for i := range list {
		if text, err := decoded(&list[i]); err != nil || text != want[i] {
			t.Errorf("%.100q: %s (%v)", all[i], differ(text, want[i]), err)
		}
	}
	conn.Close()
}
