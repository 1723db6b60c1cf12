package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redoubt/internal/jsonc"
	"redoubt/netloop/http1"
	"redoubt/proxy/body"
	"redoubt/proxy/filter"
	"redoubt/proxy/rewrite"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

// The files in testdata hold cases: a line with the reason, a configuration, a
// line of dashes, and what comes of it, the error or a dump, up to a line of
// equals signs. A reason that begins with "api:" has an API in the process.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for c := range strings.SplitSeq(strings.TrimSuffix(string(text), "====\n"), "====\n") {
			reason, rest, ok1 := strings.Cut(c, "\n")
			in, want, ok2 := strings.Cut(rest, "----\n")
			if !ok1 || !ok2 || !strings.HasPrefix(reason, "# ") {
				t.Fatalf("%s: no case: %q", file, c)
			}
			var o Options
			if strings.HasPrefix(reason, "# api:") {
				o.API = "127.0.0.1:4000"
			}
			got := outcome(in, o)
			if got != want && !*update {
				t.Errorf("%s: %s\n%s\ngives\n%s\nwant\n%s", file, reason, in, got, want)
			}
			fmt.Fprintf(&all, "%s\n%s----\n%s====\n", reason, in, got)
		}
		if *update {
			if err := os.WriteFile(file, []byte(all.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// outcome is a line with the error, or a dump.
func outcome(in string, o Options) string {
	c, err := Parse("f.json", []byte(in), o)
	if err != nil {
		return err.Error() + "\n"
	}
	return dump(c)
}

// dump tells all that is in a configuration; of rules, what they do to heads.
func dump(c *Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen %q admin %q\n", c.Listen, c.Admin)
	if c.Log != nil {
		fmt.Fprintf(&b, "log %+v\n", *c.Log)
	}
	fmt.Fprintf(&b, "limits %+v\ntimeouts %+v\n", c.Limits, c.Timeouts)
	for _, u := range c.Upstreams {
		view := *u
		view.Health = nil
		fmt.Fprintf(&b, "upstream %+v\n", view)
		if u.Health != nil {
			fmt.Fprintf(&b, "  health %+v\n", *u.Health)
		}
	}
	if len(c.Trust) > 0 {
		fmt.Fprintf(&b, "trust %v\n", c.Trust)
	}
	if c.Block != nil {
		fmt.Fprintf(&b, "block %+v\n", *c.Block)
	}
	for _, r := range c.Routes {
		fmt.Fprintf(&b, "route %q host %q path %q to %s", r.Name, r.Host, r.Path, r.Upstream.Name)
		if r.Upgrade {
			b.WriteString(" upgrade")
		}
		b.WriteString("\n")
		for _, o := range []*body.Options{r.RequestBody, r.ResponseBody} {
			if o != nil {
				fmt.Fprintf(&b, "  bodies %+v\n", *o)
			}
		}
		dumpRules(&b, r)
	}
	return b.String()
}

const (
	requestHead  = "GET /old/x?y HTTP/1.1\r\nHost: shop.example\r\nX-Debug: 1\r\nX-Real-IP: spoofed\r\nReferer: //shop.example/old\r\n\r\n"
	responseHead = "HTTP/1.1 302 Found\r\nServer: origin\r\nLocation: //origin.example/\r\nDate: now\r\n\r\n"
)

func dumpRules(b *strings.Builder, r *Route) {
	vars := rewrite.Vars{Client: []byte("192.0.2.1"), Host: []byte("shop.example"), Path: []byte("/old/x"), RequestID: []byte("id"), Upstream: []byte("server")}
	var request http1.Request
	var response http1.Response
	request.Parse([]byte(requestHead))
	response.Parse([]byte(responseHead))
	if target, changed, ok := r.Request.URL(nil, []byte("/old/x?y"), &vars); changed {
		fmt.Fprintf(b, "  target %s %v\n", target, ok)
	}
	lines := func(what string, rules *rewrite.Rules, h rewrite.Head, before int) {
		var out http1.Segments
		for _, f := range h.Fields() {
			if !rules.Field(&out, h, f, &vars) {
				out.Raw(h.Line(f))
			}
		}
		rules.Added(&out, &vars)
		var text []string
		for _, s := range out.List() {
			text = append(text, string(s))
		}
		if all := strings.Join(text, ""); !strings.HasSuffix(all, "\r\n") || len(all) != before {
			fmt.Fprintf(b, "  %s %q\n", what, all)
		}
	}
	lines("request", r.Request, &request, len(requestHead)-len("GET /old/x?y HTTP/1.1\r\n\r\n"))
	lines("response", r.Response, &response, len(responseHead)-len("HTTP/1.1 302 Found\r\n\r\n"))
}

// Schema is a configuration of defaults, and one where its examples count.
func TestSchema(t *testing.T) {
	const least = `{"upstreams": {"origin": {"servers": ["127.0.0.1:9000"]}}}`
	if got, want := outcome(string(Schema()), Options{}), outcome(least, Options{}); got != want {
		t.Errorf("the schema is\n%s\nthe defaults are\n%s", got, want)
	}
	c, err := Parse("schema", []byte(strings.ReplaceAll(string(Schema()), "\n  //", "\n  ")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Upstreams[0].Health == nil || len(c.Block.Headers) != 1 || c.Routes[0].Request == nil || c.Routes[0].Response == nil {
		t.Errorf("the examples say nothing: %s", dump(c))
	}
	for line := range strings.Lines(string(Schema())) {
		if len(line) > 140 {
			t.Errorf("%d bytes: %s", len(line), line)
		}
	}
}

// Every field of every table is in the schema, with help, and has a default or
// must be there.
func TestTables(t *testing.T) {
	text := string(Schema())
	var walk func(path string, fields []jsonc.Field)
	walk = func(path string, fields []jsonc.Field) {
		for _, f := range fields {
			name := path + "." + f.Name
			if f.Help == "" || !strings.Contains(text, fmt.Sprintf("%q: ", f.Name)) || !strings.Contains(text, "// "+f.Help+"\n") {
				t.Errorf("%s is not in the schema, or without help", name)
			}
			inherits := strings.HasSuffix(path, ".body") && f.Example != "" // from the level outside
			if f.Default == "" && !f.Need && !f.Hide && !inherits {
				t.Errorf("%s has no default", name)
			}
			if f.Inner != nil {
				walk(name, f.Inner())
			}
		}
	}
	walk("", new(reader).fields())
}

// What the filter would refuse, the configuration does.
func TestBlockCompiles(t *testing.T) {
	for _, text := range []string{
		`"networks": ["::ffff:10.0.0.0/95"]`, `"methods": ["` + strings.Repeat("A", 65) + `"]`, `"paths": ["/a*b"]`, `"paths": ["a"]`, `"paths": [""]`,
		`"rate": {"requests": 1000001}`, `"rate": {"requests": 0.001, "burst": 1000000}`, `"answer": 200`, `"connections": -1`, `"headers": [{"name": "", "match": ""}]`,
	} {
		if c, err := Parse("f", fmt.Appendf(nil, `{"upstreams": {"o": {"servers": ["h:1"]}}, "block": {%s}}`, text), Options{}); err == nil {
			t.Errorf("%s passes: %s", text, dump(c))
		}
	}
}

// filterOf compiles what is blocked, without the memory that rates take.
func filterOf(o filter.Options) error {
	o.Rate = filter.Rate{}
	_, err := filter.New(o, nil)
	return err
}

func TestSimple(t *testing.T) {
	for _, c := range []struct{ listen, to, want string }{
		{":0", "127.0.0.1:9000", "127.0.0.1:9000"},
		{"localhost:80", "http://origin.example:8000/", "origin.example:8000"},
		{"[::1]:80", "http://origin.example", "origin.example:80"},
		{":80", "http://[2001:db8::1]", "[2001:db8::1]:80"},
		{":80", "http://[2001:db8::1]:81", "[2001:db8::1]:81"},
		{"", "h:1", `--listen "": no port; write HOST:PORT`},
		{"80", "h:1", `--listen "80": no port`},
		{":x", "h:1", `--listen ":x": a port is a number`},
		{":80", "", `--to "": no port`},
		{":80", "h", `--to "h": no port; write HOST:PORT`},
		{":80", "https://h:1", `--to "https://h:1": servers are spoken to without TLS`},
		{":80", "ftp://h:1", `--to "ftp://h:1": a server has no scheme`},
		{":80", "http://h:1/path", `--to "http://h:1/path": a server has no path`},
		{":80", "http://user@h:1", `"user@h" is neither a name nor an address`},
		{":80", ":1", `"" is neither a name nor an address`},
		{":80", "h:0", "a port is a number from 1 to 65535"},
		{":80", "h:65536", "a port is a number from 1 to 65535"},
		{":80", "1::2:80", "neither a name nor an address"},
	} {
		got, err := Simple(c.listen, c.to, nil, nil)
		switch {
		case err != nil && strings.Contains(err.Error(), c.want):
		case err == nil && len(got.Upstreams) == 1 && got.Upstreams[0].Servers[0] == c.want && got.Listen[0] == c.listen && len(got.Routes) == 1:
		default:
			t.Errorf("%q to %q: %+v, %v, want %s", c.listen, c.to, got, err, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "proxy.json")
	if _, err := Read(name, Options{}); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Read(dir, Options{}); err == nil {
		t.Error("a folder passes")
	}
	os.WriteFile(name, Schema(), 0o666)
	if c, err := Read(name, Options{}); err != nil || c.Upstreams[0].Name != "origin" {
		t.Errorf("%v, %v", c, err)
	}
	os.WriteFile(name, make([]byte, jsonc.MaxSize+1), 0o666)
	if _, err := Read(name, Options{}); err == nil || !strings.Contains(err.Error(), "more than 16 MB") {
		t.Errorf("%v", err)
	}
}

// Thousands of hosts with rules of their own are read in no time.
func TestManyRoutes(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"upstreams": {"o": {"servers": ["h:1"]}}, "response": {"remove": ["Server"]}, "routes": [`)
	for i := range 5000 {
		fmt.Fprintf(&b, `{"match": {"host": "h%d.example"}, "upstream": "o", "response": {"set": {"X-N": "%d"}}},`, i, i)
	}
	b.WriteString("]}")
	c, err := Parse("f", []byte(b.String()), Options{})
	if err != nil || len(c.Routes) != 5000 || c.Routes[4999].Name != "route 5000" || !c.Routes[4999].Response.OwnsName("x-n") || !c.Routes[0].Response.OwnsName("server") {
		t.Fatal(err)
	}
}

// Any text is a configuration, or is refused with its place.
func FuzzParse(f *testing.F) {
	f.Add(Schema())
	f.Add([]byte(strings.ReplaceAll(string(Schema()), "\n  //", "\n  ")))
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for c := range strings.SplitSeq(string(text), "====\n") {
			_, c, _ = strings.Cut(c, "\n")
			c, _, _ = strings.Cut(c, "----\n")
			f.Add([]byte(c))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []Options{{}, {API: "127.0.0.1:4000"}} {
			c, err := Parse("f.json", text, o)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "f.json:") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%q: %v", text, err)
				}
				continue
			}
			if len(c.Listen) == 0 || len(c.Routes) == 0 || len(c.Upstreams) == 0 {
				t.Errorf("%q: %s", text, dump(c))
			}
			for _, r := range c.Routes {
				if r.Upstream == nil || r.Name == "" {
					t.Errorf("%q: %s", text, dump(c))
				}
			}
			if c.Block != nil {
				if err := filterOf(*c.Block); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
	})
}
