package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"redoubt/handlers/admin"
	"redoubt/internal/metrics"
	"redoubt/store"
)

// adminListener is that of serve. It is there from the first moment, so
// that one can see that data still loads. A nil one does nothing.
type adminListener struct {
	server *admin.Server
	addr   netip.AddrPort
	served chan error
	state  atomic.Pointer[adminState]
}

type adminState struct {
	health  error
	metrics func(*metrics.Writer)
}

var (
	errLoading  = errors.New("loading the data")
	errDraining = errors.New("shutting down")
)

// startAdmin listens on addr, and returns nil if that is empty.
func startAdmin(addr string) (*adminListener, error) {
	if addr == "" {
		return nil, nil
	}
	w := &adminListener{served: make(chan error, 1)}
	w.tell(errLoading, func(*metrics.Writer) {})
	w.server = admin.New(admin.Options{
		Name:    "redoubt serve",
		Health:  func() error { return w.state.Load().health },
		Metrics: func(m *metrics.Writer) { w.state.Load().metrics(m) },
	})
	var err error
	if w.addr, err = w.server.Listen(addr); err != nil {
		return nil, adminCannotListen("--admin", addr, err)
	}
	go func() { w.served <- w.server.Serve() }()
	return w, nil
}

// adminCannotListen shows the way out. name is what has given the address.
func adminCannotListen(name, addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		err = fmt.Errorf("%w: end what listens there, or give another port; 0 picks a free one", syscall.EADDRINUSE)
	case errors.Is(err, os.ErrPermission):
		err = fmt.Errorf("%s: ports below 1024 need root or CAP_NET_BIND_SERVICE; give another", strings.TrimPrefix(err.Error(), "listen "))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		err = fmt.Errorf("%w: this machine does not have that address", syscall.EADDRNOTAVAIL)
	default:
		err = fmt.Errorf("%s: use HOST:PORT, or :PORT for this machine only", strings.TrimPrefix(err.Error(), "listen "))
	}
	return badInput(fmt.Errorf("%s %s: %w", name, addr, err))
}

// tell has the listener say something else from now on.
func (w *adminListener) tell(health error, metrics func(*metrics.Writer)) {
	if w != nil {
		w.state.Store(&adminState{health, metrics})
	}
}

// drain has it say that the server ends.
func (w *adminListener) drain() {
	if w != nil {
		w.tell(errDraining, w.state.Load().metrics)
	}
}

// stop ends the listener. After an error its requests may still be under way.
func (w *adminListener) stop() error {
	if w == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := w.server.Shutdown(ctx); err != nil {
		return err
	}
	err := <-w.served
	w.served <- nil // stop may be called again
	return err
}

// metricsOf returns what there is to tell of an engine and its store: on
// fasthttp nothing is counted, and there is the store alone.
func metricsOf(e engine, s *store.Store) func(*metrics.Writer) {
	counting, _ := e.(interface{ WriteMetrics(*metrics.Writer) })
	return func(m *metrics.Writer) {
		if counting != nil {
			counting.WriteMetrics(m)
		}
		sizes := s.Sizes()
		m.Family("redoubt_store_records", metrics.KindGauge, "Records in the store")
		m.Sample(float64(sizes.Users), "kind", "users")
		m.Sample(float64(sizes.Locations), "kind", "locations")
		m.Sample(float64(sizes.Visits), "kind", "visits")
		m.Family("redoubt_store_block_bytes", metrics.KindGauge, "Memory for bodies, texts and lists: taken, free again, and waiting for readers of what was replaced")
		m.Sample(float64(sizes.Blocks), "use", "taken")
		m.Sample(float64(sizes.Free), "use", "free")
		m.Sample(float64(sizes.Waiting), "use", "waiting")
	}
}
