package nginxconf

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/subst"
)

const subsModule = "/usr/lib/nginx/modules/ngx_http_subs_filter_module.so"

// pageCase is directives of a location, and a page. Where we differ, what makes the
// difference has a note.
type pageCase struct {
	conf, page string
	differs    string // a part of the note, where we do; "": the pages are the same
}

func pageCases() []pageCase {
	long := strings.Repeat("x <b>Origin</b> y\n", 10_000)
	return []pageCase{
		// sub_filter: once each, without case, the first of those that begin leftmost.
		{"sub_filter abc X;", "abc ABC aBc", ""},
		{"sub_filter abc X; sub_filter_once off;", "abc ABC aBc ab c", ""},
		{"sub_filter ABC X; sub_filter_once off;", "abc ABC aBc", ""},
		{"sub_filter ab 1; sub_filter abc 2; sub_filter_once off;", "abc ab xabcab", ""},
		{"sub_filter abc 1; sub_filter ab 2; sub_filter_once off;", "abc ab xabcab abab.", ""},
		{"sub_filter bcd 1; sub_filter ab 2; sub_filter c 3; sub_filter_once off;", "abcd bcd abab dcba", ""},
		{"sub_filter aab 1; sub_filter_once off;", "aaab aaaab aabaab", ""},
		{"sub_filter a a; sub_filter_once off;", "aaa", ""},
		{"sub_filter one 1; sub_filter two 2;", "two one one two", ""},
		{`sub_filter '</body>' '<script src="/$1"></script>';`, "</BODY>", "no expression with such a group"},
		{"sub_filter 'a.b*[c]' '\\d\\\\d'; sub_filter_once off;", "a.b*[c] A.B*[C] aXb", ""},
		{"sub_filter é E; sub_filter_once off;", "é É", ""},
		{"sub_filter 'CAFÉ' X; sub_filter_once off;", "café cafÉ CAFÉ", ""},
		{"sub_filter k X; sub_filter_once off;", "k K \u212a s \u017f", ""},
		{"sub_filter \"two\\nlines\" X;", "two\nlines", ""},
		{"sub_filter $host X; sub_filter_once off;", "page.example PAGE.example", ""},
		{"sub_filter a '[$host $server_name $scheme]';", "a", ""},
		{"set $v hello; sub_filter a $v$v;", "a", ""},
		{"sub_filter a '${dollar}1$dollar';", "a", ""},
		{"sub_filter origin shop; sub_filter_once off;", long, ""},
		{"sub_filter ab 1; sub_filter b 2;", "ab ab b", "nginx looks for the other one only"},
		{"sub_filter ab 1; sub_filter ab 2;", "ab ab ab", "nginx looks for the other one only"},
		{"sub_filter a $request_uri;", "a", "rules for bodies know no variables"},

		// subs_filter: a line at a time, one rule after the other.
		{"subs_filter abc X;", "abc ABC abcabc", ""},
		{"subs_filter a.b X;", "a.b axb", ""},
		{"subs_filter a.b X i;", "a.b axb AXB", ""},
		{"subs_filter abc X o;", "abc abc\nabc", ""},
		{"subs_filter abc X io;", "ABC abc\nabc", ""},
		{"subs_filter a.c X r;", "abc a\nc", ""},
		{"subs_filter '(a+)(b)?' '[$2$1$10]' r;", "aab a b", ""},
		{"subs_filter '^a' X r;", "a\nba\na b", ""},
		{"subs_filter 'a$' X r;", "a\nab a\nba", ""},
		{"subs_filter '\\Aa|b\\Z' X r;", "a a b\na b b\n", ""},
		{"subs_filter 'a|ab' X r;", "ab a", ""},
		{"subs_filter 'a+?' X r;", "aaa", ""},
		{"subs_filter '\\h+(?#blanks)\\x41\\x{42}\\e?\\cI?' X r;", "  AB \tAB\t", ""},
		{"subs_filter '[[:alpha:]]+[]-]' X r;", "abc] abc-", ""},
		{"subs_filter '(?<y>\\d{4})-\\Q.*\\E' '$1' r;", "2024-.* 2024-xx", ""},
		{"subs_filter \"(?'y'a)\" '<$1>' r;", "a", ""},
		{"subs_filter '(?i)caf\xc3\xa9' X r;", "café CAFé", ""},
		{"subs_filter 'é|ö' X ri;", "é É ö Ö", ""},
		{"subs_filter '\\bk\\b' X ri;", "k K kk \u212a", ""},
		{"subs_filter '\\xc3\\xa9' X r;", "é", ""},
		{"subs_filter 'a\\/b\\-\\ c\\#' X r;", "a/b- c#", ""},
		{"subs_filter '.' X r;", "aé\n", ""},
		{"subs_filter 'origin' 'shop' i;", long, ""},
		{"subs_filter one 1; subs_filter two 2; subs_filter_types text/css;", "two one two", ""},
		{"subs_filter bc 1; subs_filter ab 2;", "abc ab bc", "has left of a line"},
		{"subs_filter a b; subs_filter b c;", "a b", "has left of a line"},
		{"subs_filter 'a[^b]*b' X r;", "a\nb a b", "one line at a time"},
		{"subs_filter 'a\\s+b' X r;", "a\nb a b", "one line at a time"},
		{"subs_filter \"a\\nb\" X;", "a\nb", ""},
		{"subs_filter '(a)\\1' X r;", "aa", "back references"},
		{"subs_filter 'a++b' X r;", "aab", "possessive"},
		{"subs_filter 'a(?=b)' X r;", "ab", "look-ahead"},
		{"subs_filter '(?<=a)b' X r;", "ab", "look-behind"},
		{"subs_filter '(?>a+)b' X r;", "aab", "atomic"},
		{"subs_filter '\\xff' X r;", "a\xffb", "no part of UTF-8"},
		{"subs_filter '[é]' X r;", "é", "letters beyond ASCII"},
	}
}

// What nginx makes of a page is what our rules make of it, or there is a note.
func TestAgainstNginx(t *testing.T) {
	nginx := startNginx(t, pageCases())
	for i, c := range pageCases() {
		if strings.HasPrefix(c.conf, "subs_") && !nginx.subs {
			continue
		}
		want := nginx.get(t, fmt.Sprintf("/%d", i))
		got, notes := ours(t, c)
		noted := c.differs != "" && strings.Contains(notes, c.differs)
		switch {
		case c.differs == "" && got != want:
			t.Errorf("%s on %.60q:\n  nginx %.100q\n  we    %.100q\n%s", c.conf, c.page, want, got, notes)
		case c.differs != "" && (got == want || !noted):
			t.Errorf("%s on %.60q: want a difference with a note %q:\n  nginx %.100q\n  we    %.100q\n%s", c.conf, c.page, c.differs, want, got, notes)
		}
	}
}

// ours is the page as rules that came of directives make it.
func ours(t *testing.T, c pageCase) (page, notes string) {
	t.Helper()
	tr := newTranslator(".")
	list, err := tr.files.parse("x.conf", fmt.Sprintf(around, "", "listen 80;", "location / { proxy_pass http://a; "+c.conf+" }"), 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tr.result("x.conf", list)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Notes {
		notes += n.String() + "\n"
	}
	b := tr.plan.routes[0].bodies
	if b == nil {
		return c.page, notes
	}
	var rules []subst.Rule
	for _, rule := range b.rules {
		rules = append(rules, rule.Rule)
	}
	set, err := subst.Compile(rules, subst.Options{Match: subst.First})
	if err != nil {
		t.Fatal(err)
	}
	s := set.NewStream()
	return string(s.Finish(s.Feed(nil, []byte(c.page)))), notes
}

// around is what is around the locations: for all, of the server, and they.
const around = `
events {}
http {
	geo $dollar { default "$"; }
	default_type text/html;
	%s
	server { server_name page.example; %s
		%s
	}
}
`

// process is an nginx with a location for each case.
type process struct {
	client *http.Client
	subs   bool // it has subs_filter
}

func startNginx(t *testing.T, cases []pageCase) process {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("there is no nginx")
	}
	folder := t.TempDir()
	p := process{}
	main := fmt.Sprintf("daemon off; master_process off; pid %s/pid; error_log %s/errors;\n", folder, folder)
	if _, err := os.Stat(subsModule); err == nil {
		p.subs = true
		main += "load_module " + subsModule + ";\n"
	}
	var locations strings.Builder
	for i, c := range cases {
		if strings.HasPrefix(c.conf, "subs_") && !p.subs {
			continue
		}
		conf := c.conf
		if strings.Contains(conf, "/$1") {
			conf = "return 404;" // which nginx refuses altogether
		}
		fmt.Fprintf(&locations, "location /%d { root %s; %s }\n", i, folder, conf)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), []byte(c.page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(folder, "s")
	paths := "access_log off;"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		paths += fmt.Sprintf(" %s_temp_path %s/%s;", kind, folder, kind)
	}
	conf := main + fmt.Sprintf(around, paths, "listen unix:"+socket+";", locations.String())
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "-c", file, "-p", folder)
	var said strings.Builder
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Skip("nginx does not start: ", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		command.Process.Kill()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
		}
	})
	p.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	for range 200 {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return p
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx: %v\n%s", err, said.String())
		case <-time.After(25 * time.Millisecond):
		}
	}
	t.Fatal("nginx does not listen")
	return p
}

func (p process) get(t *testing.T, path string) string {
	t.Helper()
	request, err := http.NewRequest("GET", "http://page.example"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
