//go:build linux

package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
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

// up tells whether a server gets requests: it does unless the health check calls
// it sick, or it rests after failures while others are well. pick chooses among
// those that are up, and while a server of an upstream is not sick one is.
func (u *upstream) up(o *origin, now time.Duration) bool {
	return !o.sick.Load() && (o.rested(now) || !u.others(o, now))
}

// others tells whether there are servers that are well besides one.
func (u *upstream) others(than *origin, now time.Duration) bool {
	return slices.ContainsFunc(u.origins, func(o *origin) bool { return o != than && !o.sick.Load() && o.rested(now) })
}

// watchEvery is how often servers are looked at by whoever warns of them: a
// server that fails and answers in turn makes no more lines than that.
const watchEvery = time.Second

// watchFailures warns, until ctx ends, of servers that requests have taken out
// and of those that answer again.
func (p *Proxy) watchFailures(ctx context.Context, pl *plan) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchEvery):
			p.tellFailures(pl, p.group.Clock())
		}
	}
}

// tellFailures warns of what is new.
func (p *Proxy) tellFailures(pl *plan, now time.Duration) {
	for _, u := range pl.upstreams {
		for _, o := range u.origins {
			n := int(o.fails.Load())
			failing := u.Fails > 0 && n >= u.Fails
			switch {
			case o.sick.Load(), failing == o.told: // of the sick checkHealth tells
				continue
			case !failing:
				p.warn("upstream %s: %s answers again", u.Name, o.name)
			case u.others(o, now):
				p.warn("upstream %s: %s is taken out, for %v at a time: %d failures in a row", u.Name, o.name, u.Retry, n)
			default:
				p.warn("upstream %s: %s is tried all the same after %d failures in a row: no other server is well", u.Name, o.name, n)
			}
			o.told = failing
		}
	}
}
