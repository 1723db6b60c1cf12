//go:build linux

package proxy

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"redoubt/ammo"
	"redoubt/data/gen"
	"redoubt/data/model"
	"redoubt/proxy/body"
	"redoubt/proxy/subst"
)

// travels is the Travels API of a data set, as its simple model has it. coded has it
// send gzip, whatever the client takes.
func travels(t *testing.T, dir string, coded bool) (addr string) {
	t.Helper()
	m, err := model.LoadDir(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	var one sync.Mutex
	return goOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		one.Lock()
		a := m.Do(r.Method, r.RequestURI, text)
		one.Unlock()
		if a.Status == 200 {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
		}
		if !coded || len(a.Body) == 0 {
			w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
			w.WriteHeader(a.Status)
			w.Write(a.Body)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(a.Status)
		z := gzip.NewWriter(w)
		z.Write(a.Body)
		z.Close()
	})
}

// jsonRules match in most answers, however their texts are spaced and escaped.
var jsonRules = []subst.Rule{
	{Find: `"id"`, Put: `"number"`, Flags: "gl"},
	{Find: `"gender"(\s*):(\s*)"(m|f)"`, Put: `"gender":"$3$3"`, Flags: "g"},
	{Find: `@[a-z]+\.[a-z]+"`, Put: `@shop.example"`, Flags: "gi"},
	{Find: `"VISITED_AT"`, Put: `"at"`, Flags: "gi"},
	{Find: `"mark"(\s*):(\s*)([0-9])\b`, Put: `"mark":"$3 of 5"`},
	{Find: `no answer has this`, Put: `x`, Flags: "g"},
}

// rewritten copies a set's answers, rewritten.
func rewritten(t *testing.T, dir string, o *body.Options) string {
	t.Helper()
	to := t.TempDir()
	if err := os.Mkdir(filepath.Join(to, "answers"), 0o777); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.Abs(filepath.Join(dir, "ammo"))
	if err == nil {
		err = os.Symlink(real, filepath.Join(to, "ammo"))
	}
	if err != nil {
		t.Fatal(err)
	}
	replace := replacer(t, o)
	for _, phase := range ammo.TravelsPhases(dir) {
		file, err := os.ReadFile(phase.Answers)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for line := range strings.Lines(string(file)) {
			columns := strings.SplitAfterN(strings.TrimSuffix(line, "\n"), "\t", 4)
			if len(columns) == 4 {
				columns[3] = replace(columns[3])
			}
			b.WriteString(strings.Join(columns, "") + "\n")
		}
		if err := os.WriteFile(filepath.Join(to, "answers", filepath.Base(phase.Answers)), []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// Every answer of a data set is right through rules: thirty that match nothing, both
// ways, and some that match, with the same done to what is expected.
func TestTravelsThroughRules(t *testing.T) {
	none := domains(30)
	for i := range none {
		none[i].Find = strings.Replace(none[i].Find, "(https?:)?//", `("|//)`, 1)
	}
	f := func(name, dir string, rules []subst.Rule, coded bool) {
		t.Run(name, func(t *testing.T) {
			c := rewriting(travels(t, dir, coded), rules...)
			o := c.Routes[0].ResponseBody
			o.Types, o.Memory = []string{"application/json"}, true
			c.Routes[0].RequestBody = &body.Options{Name: "requests", Types: o.Types, Rules: none, Share: 100}
			p, addr := run(t, c, Options{})
			expected := dir
			if rules[0] == jsonRules[0] {
				expected = rewritten(t, dir, o)
			}
			report, err := ammo.Check(context.Background(), ammo.CheckOptions{Target: addr, Phases: ammo.TravelsPhases(expected), Timeout: longWait, Show: 1 << 20})
			wrong := 0
			for _, d := range report.Differences {
				if d.Reason == "the answer has no Content-Length" && (coded || strings.HasPrefix(d.Request, "HEAD ")) {
					continue // as it should be
				}
				if wrong++; wrong < 5 {
					t.Errorf("%+v", d)
				}
			}
			if err != nil || report.Asked == 0 || wrong != 0 {
				t.Errorf("%d asked, %d wrong, %v", report.Asked, wrong, err)
			}
			matches := 0
			for i := range rules {
				matches += int(p.plan.routes[0].answers.Counts(i).Matches)
			}
			t.Logf("%d asked, %d matches", report.Asked, matches)
			if expected == dir != (matches == 0) || int(metric(t, p, "bodies_rewritten_total")) < report.Asked/2 {
				t.Errorf("%d matches, %v bodies went through rules, of %d", matches, metric(t, p, "bodies_rewritten_total"), report.Asked)
			}
		})
	}
	dir := t.TempDir()
	o := gen.DefaultOptions()
	o.Users, o.Locations, o.Visits, o.Requests = 300, 200, 2000, 1100
	if testing.Short() || instrumented {
		o.Requests = 440
	}
	if _, err := gen.Write(context.Background(), dir, o, nil); err != nil {
		t.Fatal(err)
	}
	f("generated, no matches", dir, none, false)
	f("generated", dir, jsonRules, false)
	f("generated, in gzip", dir, jsonRules, true)
	if official := os.Getenv("REDOUBT_TRAVELS"); official != "" && !instrumented {
		f("official, no matches", official, none, false)
		f("official", official, jsonRules, false)
	}
}
