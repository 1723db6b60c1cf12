package config

import "testing"

// Connections to a server are shared out among the loops.
func TestLoops(t *testing.T) {
	const text = `{"upstreams": {"a": {"servers": ["h:1"]},
  "b": {"servers": ["h:2"], "connections": 3}}}`
	for loops, want := range map[int]string{
		0: "", 1: "", 3: "",
		4: "f.json:2:44: connections 3: that is fewer than the 4 event loops, which share them: allow as many, or use fewer --workers",
	} {
		got := ""
		if _, err := Parse("f.json", []byte(text), Options{Loops: loops, API: "127.0.0.1:1"}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d loops: %q, want %q", loops, got, want)
		}
	}
}
