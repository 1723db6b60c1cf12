//go:build linux

package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"redoubt/proxy/config"
)

// checkHealth asks a server again and again, until ctx ends, and notes whether
// it is well: sick after Fails bad answers in a row, well after one that is
// good (2xx or 3xx).
func (p *Proxy) checkHealth(ctx context.Context, u *config.Upstream, o *origin) {
	client := &http.Client{
		Timeout: u.Health.Timeout,
		Transport: &http.Transport{
			DisableKeepAlives: true, // whether new connections work is part of the question
			Proxy:             nil,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialAny(ctx, network, o)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	most := max(u.Fails, 1)
	bad := 0
	for {
		err := askHealth(ctx, client, u.Health, o.name)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			bad = 0
			if o.sick.Swap(false) {
				p.warn("upstream %s: %s is well again", u.Name, o.name)
			}
		default:
			if bad++; bad >= most && !o.sick.Swap(true) {
				p.warn("upstream %s: %s is taken out: %v", u.Name, o.name, err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(u.Health.Every):
		}
	}
}

// dialAny connects to the first address that answers.
func dialAny(ctx context.Context, network string, o *origin) (net.Conn, error) {
	err := errors.New("its name has no address")
	for _, a := range o.addresses() {
		var conn net.Conn
		if conn, err = new(net.Dialer).DialContext(ctx, network, a.String()); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// healthBody is how much of a check's answer is read: enough for any page that
// says it is well.
const healthBody = 1 << 20

func askHealth(ctx context.Context, client *http.Client, h *config.Health, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+name+h.Path, nil)
	if err != nil {
		return err
	}
	if h.Host != "" {
		r.Host = h.Host
	}
	r.Header.Set("User-Agent", "redoubt health check")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, healthBody)); err != nil {
		return err
	}
	if answer.StatusCode < 200 || answer.StatusCode > 399 {
		return fmt.Errorf("%s answers %s", h.Path, answer.Status)
	}
	return nil
}
