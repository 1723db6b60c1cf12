package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"redoubt/ammo/gun"
)

func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	code, out, errs := command(t, "demo")
	want := []string{"PASSED: 0 of 22,000 answers wrong\n"}
	if hasNetloop {
		want = []string{"200 X-Served-By: redoubt demo\n", "\n    50 %  straight |", "\n          proxied  |", "PASSED: 0 of 32,994 answers wrong\n"}
	}
	for _, text := range want {
		if code != exitFine || !strings.Contains(out, text) {
			t.Errorf("no %q in demo: %d\n%s%s", text, code, out, errs)
		}
	}
	wantNothingLeft(t)
}

// interruptedAt cancels a little after a text has been written.
type interruptedAt struct {
	bytes.Buffer
	text   string
	cancel func()
}

func (w *interruptedAt) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if strings.Contains(w.String(), w.text) {
		time.AfterFunc(100*time.Millisecond, w.cancel)
	}
	return n, err
}

// Interrupted while it generates, checks or fires, it ends with 1 and leaves nothing
// behind.
func TestDemoInterrupted(t *testing.T) {
	texts := []string{"1. "}
	if hasNetloop {
		texts = append(texts, "X-Served-By", "straight   ")
	}
	if testing.Short() {
		texts = texts[:1]
	}
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			out, errs := interruptedAt{text: text, cancel: cancel}, new(bytes.Buffer)
			code := run(ctx, []string{"demo"}, &out, errs)
			if code != exitFailed || errs.String() != "redoubt demo: interrupted\n" || strings.Contains(out.String(), "PASSED") {
				t.Errorf("%d\n%s%s", code, out.String(), errs)
			}
			wantNothingLeft(t)
		})
	}
}

func wantNothingLeft(t *testing.T) {
	t.Helper()
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Ten times as long is twelve columns more; what is shorter than the scale has no bar.
func TestPlotLatencies(t *testing.T) {
	var out bytes.Buffer
	plotLatencies(&out, []demoRun{
		{"straight", gun.Latency{P50: 3, P90: 100, P99: 215}},
		{"proxied", gun.Latency{P50: 10, P90: 1000, P99: 10000}},
	})
	want := `    50 %  straight | 3 µs
          proxied  | 10 µs
    90 %  straight |############ 100 µs
          proxied  |######################## 1.00 ms
    99 %  straight |################ 215 µs
          proxied  |#################################### 10.00 ms
                    10 µs       100 µs      1 ms        10 ms
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
