package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"redoubt/internal/machine"
	"redoubt/proxy"
	"redoubt/proxy/config"
)

// demoRules are of the kind that proxies have. Answers of the API hold nothing that
// they look for, so each must come through as it was.
const demoRules = `{
	"listen": ["127.0.0.1:0"],
	"response": {
		"set": {"X-Served-By": "redoubt demo"},
		"body": {
			"types": ["application/json"],
			"rules": [
				{"find": "(https?:)?//(www\\.)?origin\\.example", "put": "$1//shop.example", "flags": "gi"},
				{"find": "<script[^>]*tracker[^>]*></script>", "put": "", "flags": "gi"},
				{"find": "\\b[0-9]{4}([ -]?[0-9]{4}){3}\\b", "put": "(card)", "flags": "g"},
				{"find": "Powered by OriginPress", "put": "", "flags": "gl"},
			],
		},
	},
}`

// demoProxy is a proxy in this process.
type demoProxy struct {
	proxy *proxy.Proxy
	addr  string
	ran   chan error
}

func (d *demo) startProxy(api string) (*demoProxy, error) {
	read, err := config.Parse("the demo's proxy", []byte(demoRules), config.Options{API: api})
	if err != nil {
		return nil, err
	}
	loops := loopsFor(0, false, machine.AvailableProcessors())
	roomBesides(2 * loops) // its own, and the API's
	p, err := proxy.New(read, proxy.Options{Workers: loops, Files: 3, Warn: func(text string) { fmt.Fprintf(d.err, "warning: %s\n", text) }})
	if err != nil {
		return nil, err
	}
	at, err := p.Listen()
	if err != nil {
		return nil, err
	}
	front := &demoProxy{proxy: p, addr: at[0].String(), ran: make(chan error, 1)}
	go func() { front.ran <- p.Run() }()
	return front, nil
}

// stop ends it before the API, which what it has under way may need.
func (p *demoProxy) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(p.proxy.Shutdown(ctx), <-p.ran)
}

// throughProxy shells the API through a proxy, then fires at both to compare.
func (d *demo) throughProxy(api string) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	front, err := d.startProxy(api)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, front.stop()) }()
	if err := d.showHeader(front.addr); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "   without HEADs: where a body might change, its length is not told")
	phases, err := d.phasesWithoutHeads()
	if err != nil {
		return err
	}
	if err := d.checkPhases(front.addr, phases); err != nil {
		return err
	}
	return d.fire(api, front.addr)
}

// showHeader shows what the proxy has put in.
func (d *demo) showHeader(addr string) error {
	const name = "X-Served-By"
	response, err := http.Get("http://" + addr + demoQuestions[0])
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.Header.Get(name) == "" {
		return fmt.Errorf("the proxy's answer to %s has no %s", demoQuestions[0], name)
	}
	fmt.Fprintf(d.out, "   GET %s\n       %d %s: %s\n", demoQuestions[0], response.StatusCode, name, response.Header.Get(name))
	return nil
}
