package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// convert runs convertNginx on a text.
func convert(t *testing.T, text string) (out, said string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	err = convertNginx(&streams{ctx: context.Background(), out: &stdout, err: &stderr}, file)
	return stdout.String(), strings.ReplaceAll(stderr.String(), file, "nginx.conf"), err
}

// What is written is a file that --check finds fine, and what is not in it is told.
func TestProxyNginx(t *testing.T) {
	out, said, err := convert(t, `
		gzip on;
		location / {
			proxy_pass http://127.0.0.1:9000;
			sub_filter 'old' 'new';
			sub_filter 'who' '$remote_user';
		}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"nginx.conf:2: gzip on: ", "nginx.conf:6: sub_filter who $remote_user: ", "redoubt proxy: nginx.conf: 1 of 2 rules for bodies could not"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
	name := configFile(t, out)
	code, checked, errs := command(t, "proxy", "--config", name, "--check")
	if want := name + ": fine, 1 route, 1 upstream\n"; code != exitFine || checked != want || errs != "" {
		t.Errorf("%d %q %q, want %q", code, checked, errs, want)
	}
}

// What is no configuration of nginx exits with 2, and writes nothing.
func TestProxyNginxRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"hello world":                          "nginx.conf:1:12: ",
		"location / { return 1; }":             "nginx.conf:1:1: neither",
		"location / { proxy_pass https://a; }": "no location can be carried over",
	} {
		out, _, err := convert(t, text)
		if _, ok := err.(inputError); !ok || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%q: %v, %q; want %q", text, err, out, want)
		}
	}
	err := convertNginx(&streams{}, filepath.Join(t.TempDir(), "none"))
	if _, ok := err.(inputError); !ok || !strings.Contains(err.Error(), "--nginx: open") {
		t.Error(err)
	}
}
