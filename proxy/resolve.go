//go:build linux

package proxy

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	resolveEvery   = 30 * time.Second
	resolveSooner  = 2 * time.Second // while there is no address
	resolveTimeout = 5 * time.Second
	firstTimeout   = 2 * time.Second
)

// lookup finds the addresses of a name; net.DefaultResolver's in earnest.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// resolve keeps the addresses of a server whose name is none fresh, until ctx
// ends. It runs on a goroutine of its own: a name server may take seconds. An
// answer that fails leaves the addresses as they are.
func (p *Proxy) resolve(ctx context.Context, o *origin, first func()) {
	host, port := o.split()
	for {
		p.resolveOnce(ctx, o, host, port)
		first()
		first = func() {}
		wait := resolveEvery
		if o.addresses() == nil {
			wait = resolveSooner
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// find looks for servers of a plan that nobody has looked for yet, for as long as
// requests can be expected to wait for a start or a reload.
func (p *Proxy) find(pl *plan) {
	ctx, cancel := context.WithTimeout(context.Background(), firstTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, u := range pl.upstreams {
		for _, o := range u.origins {
			if host, port := o.split(); o.addresses() == nil {
				group.Go(func() { p.resolveOnce(ctx, o, host, port) })
			}
		}
	}
	group.Wait()
}

func (p *Proxy) resolveOnce(ctx context.Context, o *origin, host string, port uint16) {
	limited, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := p.lookup(limited, "ip", host)
	if ctx.Err() != nil {
		return
	}
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	if err != nil {
		if o.addresses() == nil {
			p.warn("%s: %v; trying again", o.name, err)
		}
		return
	}
	list := interleave(found, port)
	o.addrs.Store(&list)
}

// interleave orders addresses as they are tried: kinds in turn, beginning with
// the kind of the first (RFC 8305, 4), so that one kind that leads nowhere
// costs one delay.
func interleave(found []netip.Addr, port uint16) []netip.AddrPort {
	var kinds [2][]netip.AddrPort // of the first's kind, of the other
	seen := make(map[netip.Addr]bool)
	for _, a := range found {
		a = a.Unmap()
		if seen[a] {
			continue
		}
		seen[a] = true
		k := 0
		if a.Is4() != found[0].Unmap().Is4() {
			k = 1
		}
		kinds[k] = append(kinds[k], netip.AddrPortFrom(a, port))
	}
	var list []netip.AddrPort
	for i := range len(found) {
		for _, kind := range kinds {
			if i < len(kind) {
				list = append(list, kind[i])
			}
		}
	}
	return list
}
