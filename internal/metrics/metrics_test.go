package metrics

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// exposition is what the strict parser below has understood.
type exposition struct {
	kinds   map[string]string // family → kind
	helps   map[string]string
	samples map[string]float64 // name{sorted labels} → value
}

var (
	nameRE  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelRE = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"`)
	unquote = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")
)

// parse reads text format 0.0.4, and takes only what a careful writer writes:
// HELP and TYPE once and before the family's samples, all samples of a family
// together, no sample twice, histograms whole and in order.
func parse(text string) (e exposition, err error) {
	e = exposition{map[string]string{}, map[string]string{}, map[string]float64{}}
	if !strings.HasSuffix(text, "\n") {
		return e, errors.New("no line break at the end")
	}
	family, last := "", map[string]float64{} // of a histogram's labels: the bucket before
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		bad := func(why string) error { return fmt.Errorf("line %d: %s: %q", n+1, why, line) }
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			if _, twice := e.helps[name]; twice || nameRE.FindString(name) != name {
				return e, bad("second or bad HELP")
			}
			e.helps[name], family = unquote.Replace(help), name
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if _, twice := e.kinds[name]; twice || name != family || !slices.Contains([]string{"counter", "gauge", "histogram"}, kind) {
				return e, bad("second, bad or lonely TYPE")
			}
			e.kinds[name] = kind
			continue
		}
		name := nameRE.FindString(line)
		rest := line[len(name):]
		var labels []string
		le := ""
		if strings.HasPrefix(rest, "{") {
			for rest = rest[1:]; ; rest = rest[1:] {
				m := labelRE.FindStringSubmatch(rest)
				if m == nil {
					return e, bad("bad label")
				}
				rest = rest[len(m[0]):]
				if m[1] == "le" {
					le = m[2]
				} else {
					labels = append(labels, m[1]+"="+unquote.Replace(m[2]))
				}
				if strings.HasPrefix(rest, "}") {
					rest = rest[1:]
					break
				}
				if !strings.HasPrefix(rest, ",") {
					return e, bad("no comma between labels")
				}
			}
		}
		number, ok := strings.CutPrefix(rest, " ")
		v, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil {
			return e, bad("bad value")
		}
		suffix := strings.TrimPrefix(name, family)
		kind := e.kinds[family]
		if family == "" || kind == "" || !strings.HasPrefix(name, family) || (kind == "histogram") != slices.Contains([]string{"_bucket", "_sum", "_count"}, suffix) ||
			kind != "histogram" && suffix != "" || (suffix == "_bucket") != (le != "") {
			return e, bad("not of the family " + family)
		}
		slices.Sort(labels)
		key := fmt.Sprint(name, labels)
		if suffix == "_bucket" {
			if v < last[key] {
				return e, bad("a bucket with less than the one before")
			}
			last[key] = v
			key += le
		}
		if suffix == "_count" && v != last[fmt.Sprint(family+"_bucket", labels)] {
			return e, bad("not the count of the last bucket")
		}
		if _, twice := e.samples[key]; twice {
			return e, bad("twice")
		}
		e.samples[key] = v
	}
	return e, nil
}

func TestText(t *testing.T) {
	var c Counter
	var g Gauge
	c.Add(3)
	c.Add(1 << 40)
	g.Add(5)
	g.Add(-7)
	var one, two, zero Histogram
	for _, d := range []time.Duration{0, -1, 1000, 1001, 10 * time.Microsecond, 10*time.Microsecond + 1, 99 * time.Second, 101 * time.Second} {
		one.Observe(d)
	}
	two.Observe(3 * time.Millisecond)
	const hostile = "a\"b\\c\nd} 1\xff é"
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Family("requests_total", KindCounter, `how many \ of "them"`+"\nthere were")
	w.Sample(float64(c.Value()), "code", "200", "route", hostile)
	w.Sample(0, "code", "404", "route", "")
	w.Family("open", KindGauge, "open ones")
	w.Sample(float64(g.Value()))
	w.Family("seconds", KindHistogram, "how long")
	w.Histogram([]string{"route", "x"}, &one, &two)
	w.Histogram([]string{"route", "zero"}, &zero)
	w.Histogram([]string{"route", "none"})
	w.Family("odd", KindGauge, "")
	for i, v := range []float64{math.Inf(1), math.Inf(-1), 1e-12, 1e21, 0.1} {
		w.Sample(v, "i", fmt.Sprint(i))
	}
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	e, err := parse(b.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	want := map[string]float64{
		"requests_total[code=200 route=" + strings.ToValidUTF8(hostile, "\ufffd") + "]": 3 + 1<<40,
		"requests_total[code=404 route=]":                                               0,
		"open[]":                                                                        -2,
		"seconds_bucket[route=x]0.000001":                                               3, "seconds_bucket[route=x]0.000002": 4, "seconds_bucket[route=x]0.000005": 4,
		"seconds_bucket[route=x]0.00001": 5, "seconds_bucket[route=x]0.00002": 6, "seconds_bucket[route=x]0.002": 6, "seconds_bucket[route=x]0.005": 7,
		"seconds_bucket[route=x]50": 7, "seconds_bucket[route=x]100": 8, "seconds_bucket[route=x]+Inf": 9,
		"seconds_count[route=x]": 9, "seconds_sum[route=x]": 200.003022002,
		"seconds_bucket[route=zero]+Inf": 0, "seconds_count[route=zero]": 0, "seconds_sum[route=zero]": 0,
		"seconds_count[route=none]": 0,
		"odd[i=0]":                  math.Inf(1), "odd[i=1]": math.Inf(-1), "odd[i=2]": 1e-12, "odd[i=3]": 1e21, "odd[i=4]": 0.1,
	}
	for key, v := range want {
		if got, ok := e.samples[key]; !ok || got != v {
			t.Errorf("%s is %v (%t), want %v", key, got, ok, v)
		}
	}
	if n := len(e.samples); n != 2+1+3*(buckets+2)+5 {
		t.Errorf("%d samples: %q", n, slices.Sorted(maps.Keys(e.samples)))
	}
	if got := e.helps["requests_total"]; got != `how many \ of "them"`+"\nthere were" {
		t.Errorf("help is %q", got)
	}
	if !strings.Contains(b.String(), `code="200"`) || !strings.Contains(b.String(), " 1099511627779\n") {
		t.Errorf("not as people write it:\n%s", b.String())
	}
}

// The parser above is no yes-man.
func TestParseRefuses(t *testing.T) {
	const head = "# HELP a b\n# TYPE a counter\n"
	for _, text := range []string{
		"", head + "a 1", "a 1\n", head + "b 1\n", head + "a x\n", head + "a{b=\"c} 1\n", head + "a{b=\"c\"d=\"e\"} 1\n", head + "a 1\na 1\n",
		head + head, "# TYPE a counter\n", head + "a_sum 1\n", head + "a{9=\"\"} 1\n", head + "a  1\n", head + "a{} 1\n",
		"# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\n",
		"# HELP a b\n# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 2\n",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("takes %q", text)
		}
	}
	if _, err := parse(head + "a{b=\"c\",d=\"\\\\\"} 1\n"); err != nil {
		t.Error(err)
	}
}

// Every bucket takes what lies in it, to the nanosecond.
func TestBuckets(t *testing.T) {
	f := func(d time.Duration) {
		t.Helper()
		want := 0
		for want < len(bounds) && d > bounds[want] {
			want++
		}
		if got := bucketOf(d); got != want {
			t.Errorf("%v goes into bucket %d, want %d", d, got, want)
		}
	}
	for _, b := range bounds {
		f(b - 1)
		f(b)
		f(b + 1)
	}
	for k := range 63 {
		f(1<<k - 1)
		f(1 << k)
	}
	f(math.MaxInt64)
	for i := range len(bounds) - 1 {
		if bounds[i+1] < 2*bounds[i] {
			t.Errorf("%v and %v are too near", bounds[i], bounds[i+1])
		}
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, errors.New("broken")
	}
	return len(p), nil
}

func TestErr(t *testing.T) {
	b := &broken{after: 1}
	w := NewWriter(b)
	w.Family("a", KindGauge, "b")
	if w.Err() != nil {
		t.Error(w.Err())
	}
	w.Sample(1)
	w.Sample(2)
	if w.Err() == nil || b.after != -1 {
		t.Errorf("%v, and writing went on (%d)", w.Err(), b.after)
	}
}

// One writes, others read: never a value that was not there, none that falls.
func TestManyReaders(t *testing.T) {
	type counters struct {
		_ Pad
		c Counter
		g Gauge
		h Histogram
		_ Pad
	}
	all := new(counters)
	const n = 50_000
	var done sync.WaitGroup
	for range 3 {
		done.Go(func() {
			var c, h uint64
			for c < n*1<<33 {
				next, count := all.c.Value(), all.h.Count()
				if next < c || next%(1<<33) != 0 || count < h || count > n {
					t.Errorf("%d after %d, %d after %d", next, c, count, h)
					return
				}
				c, h = next, count
				if g := all.g.Value(); g != 0 && g != -1 {
					t.Errorf("gauge %d", g)
					return
				}
			}
		})
	}
	for i := range n {
		all.h.Observe(time.Duration(i) * 100)
		all.g.Add(-1)
		all.g.Add(1)
		all.c.Add(1 << 33)
	}
	done.Wait()
	if all.h.Count() != n || all.h.Sum() != 100*n*(n-1)/2 {
		t.Errorf("%d durations, %v", all.h.Count(), all.h.Sum())
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	var h Histogram
	var c Counter
	if n := testing.AllocsPerRun(100, func() { h.Observe(time.Second); c.Add(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
