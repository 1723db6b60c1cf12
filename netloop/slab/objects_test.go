package slab

import (
	"sync"
	"testing"
)

type session struct {
	name string
	next *session
}

func TestObjects(t *testing.T) {
	p, other := NewObjects[session](4), NewObjects[session](4)
	seen := make(map[*session]bool)
	var all []*session
	for range 10 {
		x := p.Get()
		if seen[x] || x.name != "" {
			t.Fatal("an object was given twice")
		}
		seen[x], x.name = true, "used"
		all = append(all, x)
	}
	if s := p.Stats(); s != (ObjectStats{Made: 12, Live: 10, Free: 2}) {
		t.Errorf("%+v", s)
	}
	p.Put(all[0])
	if x := p.Get(); x != all[0] || x.name != "used" {
		t.Error("Get did not return the object freed last, as it was")
	}
	other.Put(all[1])
	other.Put(all[2])
	if s := p.Stats(); s != (ObjectStats{Made: 12, Live: 8, Free: 4}) {
		t.Errorf("%+v", s)
	}
	if s := other.Stats(); s != (ObjectStats{Crossed: 2}) {
		t.Errorf("%+v", s)
	}
	p.Get()
	p.Get()
	if x := p.Get(); x != all[1] && x != all[2] {
		t.Error("Get made new objects though some had come home")
	}
	p.Warm(100)
	if s := p.Stats(); s.Free != 100 || s.Made != s.Live+s.Free {
		t.Errorf("%+v", s)
	}
}

func TestObjectsDoublePut(t *testing.T) {
	p, other := NewObjects[session](0), NewObjects[session](0)
	x, y := p.Get(), p.Get()
	p.Put(x)
	panics(t, func() { p.Put(x) }, "*slab.session", "already free")
	other.Put(y)
	panics(t, func() { other.Put(y) }, "*slab.session", "already free")
	panics(t, func() { p.Put(y) }, "*slab.session", "already free")
}

func TestObjectsNoAllocations(t *testing.T) {
	if debugging {
		t.Skip("the tag slabdebug notes stacks")
	}
	p, other := NewObjects[session](8), NewObjects[session](8)
	p.Warm(64)
	var all [64]*session
	f := func() {
		for i := range all {
			all[i] = p.Get()
		}
		for i, x := range all {
			if i%2 == 0 {
				p.Put(x)
			} else {
				other.Put(x)
			}
		}
	}
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestObjectsThreads(t *testing.T) {
	mail := make(chan *session, 64)
	pools := make([]*Objects[session], 4)
	for i := range pools {
		pools[i] = NewObjects[session](3)
	}
	var wg sync.WaitGroup
	for _, p := range pools {
		wg.Go(func() {
			for i := range 20000 {
				x := p.Get()
				if x.next != nil {
					t.Error("an object is in two hands")
				}
				x.next = x
				select {
				case mail <- x:
				default:
					x.next = nil
					p.Put(x)
				}
				if i%2 == 0 {
					select {
					case x := <-mail:
						x.next = nil
						p.Put(x)
					default:
					}
				}
				p.Stats()
			}
		})
	}
	wg.Wait()
	for len(mail) > 0 {
		x := <-mail
		x.next = nil
		pools[0].Put(x)
	}
	for _, p := range pools {
		p.Collect()
		if s := p.Stats(); s.Live != 0 || s.Made != s.Free || s.Made > 200 {
			t.Errorf("%+v", s)
		}
	}
}
