//go:build linux

package gun

import (
	"sync"
	"testing"
	"time"
)

// TestStall is what the gun is for. A server answers one request at a time and
// stands still once, for a tenth of the run. A gun that waits for answers
// would fire one shot then, and find one answer in a thousand slow; but
// everybody who would have come in that second has waited. From the planned
// instant, a tenth of the shots waited up to a second.
func TestStall(t *testing.T) {
	t.Parallel()
	length, stall := "10s", time.Second
	if testing.Short() {
		length, stall = "3s", 300*time.Millisecond
	}
	for name, instances := range map[string]int{"one instance": 1, "many": 200} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var one sync.Mutex
			s := serve(t, answering(func(r *request) string {
				one.Lock()
				defer one.Unlock()
				if r.first == 100 {
					time.Sleep(stall)
				}
				return ok
			}))
			summary := shoot(t, s, "const(100,"+length+")", magazineOf(keep), func(o *Options) { o.Instances = instances; o.Timeout = 5 * time.Second })
			if summary.Shots.Answered != summary.Shots.Planned {
				t.Fatalf("%+v %v", summary.Shots, summary.Errors)
			}
			us := float64(stall.Microseconds())
			p99 := summary.FromPlanned.P99
			t.Logf("p99 from planned %v, from sent %v, late %d of %d", p99, summary.FromSent.P99, summary.Shots.Late, summary.Shots.Sent)
			if p99 < 0.8*us || p99 > 1.1*us+200e3 {
				t.Errorf("p99 from planned %.0f µs, want about %.0f", p99, 0.9*us)
			}
			if instances == 1 && summary.FromSent.P99 > 0.5*us {
				t.Errorf("p99 from sent %.0f µs: one shot alone has waited for the server", summary.FromSent.P99)
			}
			if instances > 1 && summary.FromSent.P99 < 0.8*us {
				t.Errorf("p99 from sent %.0f µs, though there were connections for all", summary.FromSent.P99)
			}
		})
	}
}
