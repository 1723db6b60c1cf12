package store

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
)

// BenchmarkGCCycle is the CPU time of one collection, in milliseconds, the
// median of the run, with a million visits of 100,000 users to 100,000
// locations: in the store, and beside it in maps of pointers, and with none.
//
//	go test -run '^$' -bench GCCycle -benchtime 20x ./store
func BenchmarkGCCycle(b *testing.B) {
	const n = 100_000
	b.Run("nothing", func(b *testing.B) { collect(b) })
	b.Run("store", func(b *testing.B) {
		s := build(b, Config{}, n, 2)
		collect(b)
		runtime.KeepAlive(s)
	})
	b.Run("maps", func(b *testing.B) {
		users, locations, visits := map[uint32]*User{}, map[uint32]*Location{}, map[uint32]*Visit{}
		for id := range uint32(n) {
			users[id], locations[id] = testUser(id), testLocation(id)
		}
		for id := range uint32(10 * n) {
			visits[id] = testVisit(id, id%n, id%n)
		}
		collect(b)
		runtime.KeepAlive([]any{users, locations, visits})
	})
}

func collect(b *testing.B) {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	runtime.GC()
	var cycles []float64
	for b.Loop() {
		metrics.Read(sample)
		before := sample[0].Value.Float64()
		runtime.GC()
		metrics.Read(sample)
		cycles = append(cycles, 1000*(sample[0].Value.Float64()-before))
	}
	slices.Sort(cycles)
	b.ReportMetric(cycles[len(cycles)/2], "CPU-ms/cycle")
}

// BenchmarkRead is one query of each kind at random over a million visits.
//
//	go test -run '^$' -bench Read ./store
func BenchmarkRead(b *testing.B) {
	const n = 100_000
	for _, ready := range []bool{false, true} {
		s := build(b, Config{Ready: ready}, n, 2)
		r := s.NewReader()
		random := rand.New(rand.NewPCG(1, 1))
		id := func() uint32 { return 1 + random.Uint32N(n) }
		filter := AverageFilter{FromDate: 1_010_000_000, ToDate: 1_090_000_000, HasFromAge: true, FromAge: 46, Gender: 'f'}
		for _, q := range []struct {
			name string
			read func() ([]byte, bool)
		}{
			{"user", func() ([]byte, bool) { return r.User(id()) }},
			{"location", func() ([]byte, bool) { return r.Location(id()) }},
			{"visit", func() ([]byte, bool) { return r.Visit(id() * 10) }},
			{"visits", func() ([]byte, bool) { body, err := r.UserVisits(id(), &AllVisits); return body, err == nil }},
			{"average", func() ([]byte, bool) { return r.LocationAverage(id(), &filter) }},
		} {
			b.Run(fmt.Sprint(map[bool]string{true: "ready", false: "lean"}[ready], "/", q.name), func(b *testing.B) {
				b.ReportAllocs()
				var sent [4096]byte // as an engine would copy it, so that a ready body is fetched, too
				bytes := 0
				for b.Loop() {
					r.Enter()
					body, _ := q.read()
					bytes += copy(sent[:], body)
					r.Exit()
				}
				b.ReportMetric(float64(bytes)/float64(b.N), "body-B/op")
			})
		}
		r.Close()
	}
}

// BenchmarkWrite is one update of each kind at random over a million visits.
//
//	go test -run '^$' -bench Write ./store
func BenchmarkWrite(b *testing.B) {
	const n = 100_000
	for _, ready := range []bool{false, true} {
		s := build(b, Config{Ready: ready}, n, 2)
		random := rand.New(rand.NewPCG(1, 1))
		id := func() uint32 { return 1 + random.Uint32N(n) }
		email, emails := []byte("00000000@changed.ru"), 0
		for _, w := range []struct {
			name  string
			write func() error
		}{
			{"user's name", func() error { return s.UpdateUser(id(), &User{Has: FirstName, FirstName: []byte("Яна")}) }},
			{"user's email", func() error {
				emails++
				for i, n := 0, emails; i < 8; i, n = i+1, n/10 {
					email[i] = '0' + byte(n%10)
				}
				return s.UpdateUser(id(), &User{Has: Email, Email: email})
			}},
			{"user's birth", func() error { return s.UpdateUser(id(), &User{Has: BirthDate, BirthDate: random.Int32()}) }},
			{"location", func() error { return s.UpdateLocation(id(), &Location{Has: Distance, Distance: id()}) }},
			{"visit's move", func() error {
				return s.UpdateVisit(id()*10, &Visit{Has: ByUser | AtLocation, User: id(), Location: id()})
			}},
		} {
			b.Run(fmt.Sprint(map[bool]string{true: "ready", false: "lean"}[ready], "/", w.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := w.write(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
