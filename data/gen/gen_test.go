package gen

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"redoubt/ammo"
	"redoubt/data/model"
)

func small() Options {
	return Options{Users: 1200, Locations: 900, Visits: 12_000, Seed: 7, Requests: 6_600, Gaps: 10, Far: 20}
}

func generate(t *testing.T, dir string, opts Options) Summary {
	t.Helper()
	s, err := Write(t.Context(), dir, opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contents maps each file below dir to its bytes.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDeterministic(t *testing.T) {
	first, second, other := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder"), t.TempDir()
	generate(t, first, small())
	generate(t, second, small())
	a, b := contents(t, first), contents(t, second)
	if len(a) < 12 {
		t.Errorf("only %d files", len(a))
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs between two runs with the same options", name)
		}
	}
	opts := small()
	opts.Seed++
	generate(t, other, opts)
	if c := contents(t, other); bytes.Equal(a["data/users_1.json"], c["data/users_1.json"]) || bytes.Equal(a["ammo/phase_1_get.ammo"], c["ammo/phase_1_get.ammo"]) {
		t.Error("another seed gives the same data")
	}
	opts = small()
	opts.Requests = 0
	generate(t, other, opts)
	c := contents(t, other)
	if !bytes.Equal(a["data/visits_1.json"], c["data/visits_1.json"]) || !bytes.Equal(a["data/data.zip"], c["data/data.zip"]) {
		t.Error("without requests the data is another")
	}
	if _, has := c["ammo/phase_1_get.ammo"]; has {
		t.Error("requests were written, though none were asked for")
	}
}

// TestAnswers reads everything back the way a server and a gun would, and
// recomputes the answers.
func TestAnswers(t *testing.T) {
	for _, opts := range []Options{small(), {Users: 1, Locations: 1, Requests: 900, Seed: 3}, {Users: 5, Locations: 3, Visits: 40, Requests: 1000, Far: 10}} {
		dir := t.TempDir()
		summary := generate(t, dir, opts)
		m, err := model.LoadDir(filepath.Join(dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		if u, l, v := m.Size(); u != opts.Users || l != opts.Locations || v != opts.Visits {
			t.Errorf("%+v: got %d, %d, %d records", opts, u, l, v)
		}
		asked := 0
		for i, phase := range ammo.TravelsPhases(dir) {
			records := ammo.NewPhantomReader(open(t, phase.Ammo), phase.Ammo, 0)
			answers := ammo.NewAnswersReader(open(t, phase.Answers), phase.Answers, 0)
			n := 0
			for ; ; n++ {
				record, err := records.Next()
				answer, errAnswer := answers.Next()
				if err == io.EOF && errAnswer == io.EOF {
					break
				}
				if err != nil || errAnswer != nil {
					t.Fatal(err, errAnswer)
				}
				method, target := record.MethodTarget()
				if !bytes.Equal(method, answer.Method) || !bytes.Equal(target, answer.Target) {
					t.Fatalf("%s: %s answers %s", phase.Name, answer.Target, record.Line())
				}
				got := m.Do(string(method), string(target), declaredBody(t, record))
				if got.Status != answer.Status {
					t.Fatalf("%s: %s: got %d, want %d", phase.Name, record.Line(), got.Status, answer.Status)
				}
				if len(answer.Body) > 0 || len(got.Body) > 0 {
					if d := ammo.CompareJSON(got.Body, answer.Body); d != "" {
						t.Fatalf("%s: %s: %s", phase.Name, record.Line(), d)
					}
				}
			}
			if asked += n; n != summary.Phases[i].Requests {
				t.Errorf("%s: %d requests, the summary says %d", phase.Name, n, summary.Phases[i].Requests)
			}
		}
		if asked != opts.Requests {
			t.Errorf("%d requests, want %d", asked, opts.Requests)
		}
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

var contentLength = regexp.MustCompile(`\r\nContent-Length: (\d+)\r\n`)

// declaredBody is as much of the body as Content-Length says, and checks that
// only a line end follows.
func declaredBody(t *testing.T, r ammo.Record) []byte {
	t.Helper()
	match := contentLength.FindSubmatch(r.Bytes)
	if match == nil {
		if len(r.Body()) > 0 {
			t.Errorf("%s: a body without Content-Length", r.Line())
		}
		return nil
	}
	n, _ := strconv.Atoi(string(match[1]))
	body := r.Body()
	if rest := string(body[n:]); rest != "\r\n" && n > 0 {
		t.Errorf("%s: %q follows the body", r.Line(), rest)
	}
	return body[:n]
}

// TestShares compares the mix with what was counted in the contest's files.
func TestShares(t *testing.T) {
	dir := t.TempDir()
	opts := DefaultOptions()
	opts.Users, opts.Locations, opts.Visits = 3000, 2300, 30_000
	summary := generate(t, dir, opts)
	f := func(what string, got, low, high float64) {
		t.Helper()
		if got < low || got > high {
			t.Errorf("%s: %.1f, want %v to %v", what, got, low, high)
		}
	}
	var status [3]func(string) float64
	for i, p := range summary.Phases {
		status[i] = func(s string) float64 { return 100 * float64(p.Statuses[s]) / float64(p.Requests) }
		f(p.Name+" hard, %", 100*float64(p.Hard)/float64(p.Requests), 2, 5)
	}
	f("phase 1, 404, %", status[0]("404"), 7, 12)
	f("phase 1, 400, %", status[0]("400"), 1.5, 4.5)
	f("phase 2, 400, %", status[1]("400"), 2, 7)
	f("phase 2, 404, %", status[1]("404"), 0.7, 3)
	f("phase 3, 404, %", status[2]("404"), 7, 12)

	lists, empty := 0, 0
	answers := ammo.NewAnswersReader(open(t, filepath.Join(dir, "answers", "phase_3_get.answ")), "", 0)
	for a, err := answers.Next(); err == nil; a, err = answers.Next() {
		if a.Status == 200 && strings.HasPrefix(string(a.Body), `{"visits":`) {
			lists++
			if string(a.Body) == `{"visits":[]}` {
				empty++
			}
		}
	}
	f("phase 3, empty lists, %", 100*float64(empty)/float64(lists), 45, 70)
}

// Every hard case is dealt, and none of them is refused by HTTP itself.
func TestHardCases(t *testing.T) {
	dir := t.TempDir()
	opts := small()
	opts.Requests = 44_000
	generate(t, dir, opts)
	seen := map[string]bool{}
	target := regexp.MustCompile(`^[A-Z]+ /[!-~]* HTTP/1\.1$`)
	for _, phase := range ammo.TravelsPhases(dir) {
		records := ammo.NewPhantomReader(open(t, phase.Ammo), phase.Ammo, 0)
		for r, err := records.Next(); err == nil; r, err = records.Next() {
			if !target.Match(r.Line()) {
				t.Errorf("%s: the request line %q is not well-formed", r.Tag, r.Line())
			}
			if name, hard := strings.CutPrefix(string(r.Tag), "hard:"); hard {
				seen[name] = true
			}
		}
	}
	names := map[string]bool{}
	for _, c := range getCases() {
		names["get:"+c.name] = true
	}
	for _, c := range postCases() {
		names["post:"+c.name] = true
	}
	if len(names) != len(getCases())+len(postCases()) {
		t.Error("two hard cases share a name")
	}
	for name := range names {
		if !seen[name] {
			t.Errorf("the case %s was never dealt", name)
		}
	}
}

func TestIDs(t *testing.T) {
	f := func(o Options, n int) []uint32 {
		t.Helper()
		r := &run{opts: o}
		ids := r.ids(r.random(1), n)
		if len(ids) != n || !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != n {
			t.Errorf("%+v: %d ids, not %d different ones in order", o, len(ids), n)
		}
		return ids
	}
	if ids := f(Options{}, 5); !slices.Equal(ids, []uint32{1, 2, 3, 4, 5}) {
		t.Errorf("without gaps: %v", ids)
	}
	if ids := f(Options{Gaps: 50}, 10_000); ids[9_999] < 19_000 || ids[9_999] > 21_000 {
		t.Errorf("half left out: the last of 10,000 is %d", ids[9_999])
	}
	if ids := f(Options{Far: 3}, 10); ids[6] != 7 || ids[7] < 1_000_000 || ids[9] != 4294967295 {
		t.Errorf("three far: %v", ids)
	}
	if ids := f(Options{Far: 100}, 1); ids[0] != 4294967295 {
		t.Errorf("more far than there are: %v", ids)
	}
	f(Options{}, 0)
}

// TestData looks at the files as the contest's are.
func TestData(t *testing.T) {
	dir := t.TempDir()
	generate(t, dir, small())
	files := contents(t, filepath.Join(dir, "data"))
	for _, name := range []string{"users_1.json", "users_2.json", "locations_1.json", "visits_1.json", "visits_2.json", "options.txt", "data.zip"} {
		if files[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if string(files["options.txt"]) != "1504258883\n0" {
		t.Errorf("options.txt holds %q", files["options.txt"])
	}
	archive, err := zip.NewReader(bytes.NewReader(files["data.zip"]), int64(len(files["data.zip"])))
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.File) != len(files)-1 {
		t.Errorf("data.zip holds %d files, the folder %d beside it", len(archive.File), len(files)-1)
	}
	for _, entry := range archive.File {
		r, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || !bytes.Equal(text, files[entry.Name]) {
			t.Errorf("%s differs in data.zip: %v", entry.Name, err)
		}
	}
	all := string(bytes.Join([][]byte{files["users_1.json"], files["locations_1.json"]}, nil))
	for _, want := range []string{`{"users": [{"`, `"}, {"`, `\u04`, `\\`, `\"`, "ов\"", "@"} {
		if !strings.Contains(all, want) {
			t.Errorf("nowhere %s", want)
		}
	}
	orders := map[string]bool{}
	keys := regexp.MustCompile(`"([a-z_]+)": `)
	for name, text := range files {
		if !strings.HasPrefix(name, "users") {
			continue
		}
		for _, record := range strings.Split(string(text), "}, {") {
			order := ""
			for _, key := range keys.FindAllStringSubmatch(record, -1) {
				order += key[1] + " "
			}
			orders[order] = true
		}
	}
	if len(orders) < 10 {
		t.Errorf("only %d orders of keys", len(orders))
	}
}

func TestWords(t *testing.T) {
	w := newWords()
	f := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%d %s, want %d", got, what, want)
		}
	}
	f("first names", distinct(w.male)+distinct(w.female), 100)
	f("countries", distinct(w.countries), 62)
	f("cities", distinct(w.cityBeginnings)*distinct(w.city), 414)
	f("places", distinct(w.places), 38)
	f("domains", distinct(w.domains), 10)
	endings := map[string]bool{}
	for _, e := range w.endings {
		endings[e[0]], endings[e[1]] = true, true
	}
	f("last names", distinct(w.stems)*distinct(w.middles)*len(endings), 1568)
	for _, text := range w.odd {
		if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 50 {
			t.Errorf("%q is no good last name", text)
		}
	}
}

func distinct(list []string) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	return len(seen)
}

func TestStyles(t *testing.T) {
	for _, text := range append(oddTexts(), "Ёлка/😀", "plain") {
		for _, s := range []style{plain, escaped, strange} {
			json_ := appendString(nil, text, s)
			var back string
			if err := json.Unmarshal(json_, &back); err != nil || back != text {
				t.Errorf("%q in style %d is %s: %q, %v", text, s, json_, back, err)
			}
			if s != plain && strings.ContainsFunc(string(json_), func(r rune) bool { return r >= 0x7f }) {
				t.Errorf("%q in style %d is not ASCII: %s", text, s, json_)
			}
		}
		whole, _ := json.Marshal(map[string]string{"a": text})
		var a, b any
		json.Unmarshal(whole, &a)
		if err := json.Unmarshal(ascii(nil, whole), &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s became %s", whole, ascii(nil, whole))
		}
	}
}

func TestFolder(t *testing.T) {
	opts := Options{Users: 3, Locations: 2, Visits: 5, Requests: 11}
	// Somebody else's folder, even one that looks like a data set.
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "data"), 0o755)
	os.WriteFile(filepath.Join(dir, "data", "users_1.json"), []byte("precious"), 0o600)
	if _, err := Write(t.Context(), dir, opts, nil); !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a foreign folder: %v", err)
	}
	if got := contents(t, dir); len(got) != 1 || string(got["data/users_1.json"]) != "precious" {
		t.Errorf("a foreign folder was changed: %v", got)
	}
	if _, err := Write(t.Context(), filepath.Join(dir, "data", "users_1.json"), opts, nil); err == nil {
		t.Error("a file was taken for a folder")
	}

	// Ours may be replaced; nothing of the larger set before stays behind.
	dir = t.TempDir()
	large := opts
	large.Users = 2001
	generate(t, dir, large)
	generate(t, dir, opts)
	files := contents(t, dir)
	if files["data/users_1.json"] == nil || files["data/users_2.json"] != nil || files["generated.json"] == nil || len(files) != 12 {
		t.Errorf("after generating again there are %d files", len(files))
	}

	// A run that ends early leaves what was there.
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(p Progress) {
		if p.Step == "phase_2_post" {
			cancel()
		}
	}
	if _, err := Write(ctx, dir, large, stop); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if after := contents(t, dir); !reflect.DeepEqual(files, after) {
		t.Error("a canceled run changed the folder")
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	if _, err := Write(ctx, fresh, opts, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a canceled run left its folder: %v", err)
	}

	// A killed run leaves its partial folder, which the next one removes.
	os.MkdirAll(filepath.Join(fresh, partialName, "data"), 0o755)
	generate(t, fresh, opts)
	if _, err := os.Stat(filepath.Join(fresh, partialName)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the partial folder of a killed run is still there")
	}
}

func TestOptionsCheck(t *testing.T) {
	good := Options{Users: 1, Locations: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Users = 0 }, func(o *Options) { o.Locations = 0 }, func(o *Options) { o.Visits = -1 },
		func(o *Options) { o.Requests = -1 }, func(o *Options) { o.Far = -1 }, func(o *Options) { o.Gaps = 91 },
		func(o *Options) { o.Gaps = -1 }, func(o *Options) { o.Visits = 2 << 30 }, func(o *Options) { o.Visits, o.Gaps = 200_000_000, 90 },
	} {
		o := good
		change(&o)
		if o.Check() == nil {
			t.Errorf("%+v was taken", o)
		}
		if _, err := Write(t.Context(), filepath.Join(t.TempDir(), "x"), o, nil); err == nil {
			t.Errorf("%+v was generated", o)
		}
	}
}
