package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"redoubt/internal/jsonc"
	"redoubt/netloop/http1"
	"redoubt/proxy/body"
	"redoubt/proxy/subst"
)

// reject is what a check of a text finds: nil, or the reason with the way out,
// and the offset of the byte that is wrong.
type reject struct {
	at     int
	reason string
}

func rejectf(at int, format string, args ...any) *reject {
	return &reject{at, fmt.Sprintf(format, args...)}
}

// checked reads a string and has it checked; check returns what to keep.
func checked(to *string, check func(string) (string, *reject)) read {
	return func(v jsonc.Value) error {
		text, err := v.Text()
		if err != nil {
			return err
		}
		kept, bad := check(text)
		if bad != nil {
			return v.ErrorfAt(bad.at, "%.80q: %s", text, bad.reason)
		}
		*to = kept
		return nil
	}
}

// checkListen knows HOST:PORT, where the host may be missing and the port 0.
func checkListen(text string) (string, *reject) {
	return checkAddress(text, "write HOST:PORT, or :PORT for all addresses")
}

// checkAdmin is the same for the admin listener; "" is none.
func checkAdmin(text string) (string, *reject) {
	if text == "" {
		return "", nil
	}
	return checkAddress(text, "write HOST:PORT, or :PORT for this machine only")
}

func checkAddress(text, form string) (string, *reject) {
	switch host, port, ok := cutPort(text); {
	case strings.Contains(text, "://"):
		return "", rejectf(0, "an address has no scheme; %s", form)
	case !ok:
		return "", rejectf(0, "no port; %s", form)
	case !isPort(port, 0):
		return "", rejectf(len(text)-len(port), "a port is a number from 0 to 65535, 0 picks a free one; %s", form)
	case host != "" && !isHost(host):
		return "", rejectf(0, "%.40q is neither a name nor an address; %s", host, form)
	}
	return text, nil
}

// checkServer knows HOST:PORT of a server.
func checkServer(text string) (string, *reject) {
	const form = "write HOST:PORT, such as 127.0.0.1:9000"
	switch host, port, ok := cutPort(text); {
	case strings.HasPrefix(text, "https://"):
		return "", rejectf(0, "servers are spoken to without TLS; %s", form)
	case strings.Contains(text, "://"):
		return "", rejectf(0, "a server has no scheme; %s", form)
	case strings.Contains(text, "/"):
		return "", rejectf(strings.IndexByte(text, '/'), "a server has no path; %s", form)
	case !ok:
		return "", rejectf(0, "no port; %s", form)
	case !isPort(port, 1):
		return "", rejectf(len(text)-len(port), "a port is a number from 1 to 65535; %s", form)
	case host == "" || !isHost(host):
		return "", rejectf(0, "%.40q is neither a name nor an address; %s", host, form)
	}
	return text, nil
}

// cutPort cuts at the last colon, which is outside of brackets.
func cutPort(text string) (host, port string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || strings.HasSuffix(text, "]") {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

func isPort(text string, least uint64) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n >= least
}

// isHost knows names and addresses, those of IPv6 in brackets.
func isHost(text string) bool {
	if !strings.HasPrefix(text, "[") && strings.IndexFunc(text, noHostByte) >= 0 {
		return false
	}
	host, _, ok := http1.SplitAuthority([]byte(text))
	return ok && len(host) == len(text)
}

// noHostByte tells what names of hosts do not have, though HTTP would let some
// of it pass.
func noHostByte(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
}

// distinct reads a list of strings that must have one, and none twice.
func distinct(to *[]string, what string, check func(string) (string, *reject)) read {
	return func(v jsonc.Value) error {
		seen := make(map[string]bool)
		err := v.Elements(func(_ int, v jsonc.Value) error {
			var text string
			if err := checked(&text, check)(v); err != nil {
				return err
			}
			if seen[text] && !strings.HasSuffix(text, ":0") { // each 0 is another port
				return v.Errorf("%.80q stands twice; leave one out", text)
			}
			seen[text] = true
			*to = append(*to, text)
			return nil
		})
		if err == nil && len(*to) == 0 {
			err = v.Errorf("the list is empty: %s", what)
		}
		return err
	}
}

func (r *reader) readListen(v jsonc.Value) error {
	return distinct(&r.Listen, `nobody could connect; write HOST:PORT, or ":PORT" for all addresses`, checkListen)(v)
}

func readServers(to *[]string) read {
	return distinct(to, "write HOST:PORT of each server", checkServer)
}

// networks reads prefixes, and single addresses as such. IPv4 in IPv6 is IPv4.
func networks(to *[]netip.Prefix) read {
	return each(func(text string, v jsonc.Value) error {
		p, err := netip.ParsePrefix(text)
		if err != nil && !strings.Contains(text, "/") {
			var a netip.Addr
			if a, err = netip.ParseAddr(text); err == nil {
				p = netip.PrefixFrom(a.WithZone(""), a.BitLen())
			}
			if a.Zone() != "" {
				return v.Errorf("%.80q: a network has no zone; leave %%%s out", text, a.Zone())
			}
		}
		if err != nil {
			return v.Errorf("%.80q is no network; write an address, or one with the number of bits that count, such as 10.0.0.0/8 or 2001:db8::/32", text)
		}
		if a := p.Addr(); a.Is4In6() {
			if p.Bits() < 96 {
				return v.Errorf("%.80q is IPv4 in part; write networks of IPv4 as such, as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		*to = append(*to, p.Masked())
		return nil
	})
}

// hostPattern reads a host, or "*." and the end of many.
func hostPattern(to *string) read {
	return checked(to, func(text string) (string, *reject) {
		host := strings.TrimPrefix(text, "*.")
		star := strings.IndexByte(host, '*')
		switch _, port, ok := cutPort(host); {
		case text == "":
			return "", nil
		case text == "*":
			return "", rejectf(0, "for any host leave it out")
		case star >= 0:
			return "", rejectf(len(text)-len(host)+star, "* may only stand in front, as *.shop.example")
		case ok && isPort(port, 0):
			return "", rejectf(len(text)-len(port)-1, "a host has no port here; all ports match")
		case !isASCII(host):
			return "", rejectf(0, "write the name in ASCII, as it is sent: xn--...")
		case host == "" || !isHost(host):
			return "", rejectf(0, "no host; write a name such as shop.example or *.shop.example")
		}
		return strings.ToLower(strings.TrimSuffix(text, ".")), nil
	})
}

// pathPattern reads a path, maybe with * for any rest.
func pathPattern(to *string, empty bool) read {
	return checked(to, func(text string) (string, *reject) {
		if text == "" && empty {
			return "", nil
		}
		if star := strings.IndexByte(text, '*'); star >= 0 && star < len(text)-1 {
			return "", rejectf(star, "* may only stand at the end, for any rest")
		}
		return checkPath(text)
	})
}

// checkPath knows paths as they are sent.
func checkPath(text string) (string, *reject) {
	if i := strings.IndexByte(text, '?'); i >= 0 {
		return "", rejectf(i, "a path ends before the ?; queries do not count")
	}
	return checkTarget(text)
}

// checkTarget knows paths with or without a query.
func checkTarget(text string) (string, *reject) {
	if !strings.HasPrefix(text, "/") {
		return "", rejectf(0, "a path begins with /")
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return "", rejectf(i, "write it as it is sent: %%%02X for the byte %#02x", c, c)
		}
	}
	if len(text) > http1.MaxTarget {
		return "", rejectf(0, "longer than any that is taken, %d bytes", http1.MaxTarget)
	}
	return text, nil
}

func healthHost(to *string) read {
	return checked(to, func(text string) (string, *reject) {
		if host, _, ok := http1.SplitAuthority([]byte(text)); text != "" && (!ok || len(host) == 0) {
			return "", rejectf(0, "no host; write a name such as shop.example, or HOST:PORT")
		}
		return text, nil
	})
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
}

// Simple is the configuration of a proxy without a file: what comes to listen
// goes to the one server, HOST:PORT or http://HOST:PORT. In answers of these types, or
// the usual ones if there are none, rules, which subst.Check has passed, are applied.
func Simple(listen, to string, types []string, rules []subst.Rule) (*Config, error) {
	if _, bad := checkListen(listen); bad != nil {
		return nil, fmt.Errorf("--listen %.80q: %s", listen, bad.reason)
	}
	server := strings.TrimSuffix(strings.TrimPrefix(to, "http://"), "/")
	if _, _, ok := cutPort(server); !ok && strings.HasPrefix(to, "http://") {
		server += ":80"
	}
	if _, bad := checkServer(server); bad != nil {
		return nil, fmt.Errorf("--to %.80q: %s", to, bad.reason)
	}
	bodies := map[string]any{}
	if len(rules) > 0 {
		bodies["rules"] = rules
	}
	for _, t := range types {
		if err := body.ParseType(t); err != nil {
			return nil, fmt.Errorf("--types %w", err)
		}
		bodies["types"] = types
	}
	return Parse("--to", []byte(quote(map[string]any{
		"listen":    []string{listen},
		"upstreams": map[string]any{"origin": map[string]any{"servers": []string{server}}},
		"body":      bodies,
	})), Options{})
}

// ReplaceListen puts an address in the place of those in the file.
func (c *Config) ReplaceListen(addr string) error {
	if _, bad := checkListen(addr); bad != nil {
		return fmt.Errorf("%.80q: %s", addr, bad.reason)
	}
	c.Listen = []string{addr}
	return nil
}

// ReplaceAdmin does so for the admin listener; "" is none.
func (c *Config) ReplaceAdmin(addr string) error {
	if _, bad := checkAdmin(addr); bad != nil {
		return fmt.Errorf("%.80q: %s", addr, bad.reason)
	}
	c.Admin = addr
	return nil
}
