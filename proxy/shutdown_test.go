//go:build linux

package proxy

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"redoubt/proxy/config"
)

// Whoever ends the process behind Shutdown loses no line of the access log. Here
// it goes to a pipe, which takes half of the lines until someone reads.
func TestShutdownWaitsForTheLog(t *testing.T) {
	const requests = 100
	name := filepath.Join(t.TempDir(), "log")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	c := settings(goOrigin(t, func(http.ResponseWriter, *http.Request) {}))
	c.Log = &config.Log{File: name, Format: "json"}
	p, addr := start(t, c, Options{})
	client := &http.Client{Transport: &http.Transport{}}
	for range requests {
		r, err := client.Get("http://" + addr + "/" + strings.Repeat("x", 1500))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	client.CloseIdleConnections()

	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		ended <- p.Shutdown(ctx)
	}()
	select {
	case err := <-ended:
		t.Fatalf("Shutdown returns %v before the lines are written", err)
	case <-time.After(300 * time.Millisecond):
	}
	piece := make([]byte, 64<<10)
	for lines := 0; lines < requests; {
		pipe.SetReadDeadline(time.Now().Add(3 * time.Second))
		n, err := pipe.Read(piece)
		if err != nil {
			t.Fatalf("after %d lines of %d: %v", lines, requests, err)
		}
		lines += bytes.Count(piece[:n], []byte{'\n'})
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
