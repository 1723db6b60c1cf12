package subst

import "math/bits"

// oneWay finds groups where there is only one way through a rule's nodes for any
// text: by going it. That is so for most rules that people write. Assertions need
// no look, for if the match is known, they held.
type oneWay struct {
	places []place // the first is where it begins
	arcs   []arc
}

// place is behind a byte.
type place struct {
	arcs, end int32  // its arcs are those from arcs to end
	slots     uint32 // to be noted if the match ends here
	done      bool   // from here on there are none to be noted
}

// arc takes a byte from place to place.
type arc struct {
	set   int32  // of the program's
	to    int32  // place
	slots uint32 // to be noted before the byte
}

const (
	maxPlaces = 1000
	maxSlots  = 32
)

// oneWay returns nil if there is more than one way, or it would be too large. seen
// is for its use.
func (p *program) oneWay(rule int, seen *visited) *oneWay {
	if p.slots[rule] == 0 || p.slots[rule] > maxSlots {
		return nil
	}
	w := &oneWay{}
	index := map[int32]int32{p.begin[rule]: 0}
	order := []int32{p.begin[rule]}
	for at := 0; at < len(order); at++ {
		if len(order) > maxPlaces {
			return nil
		}
		seen.clear()
		var taken byteSet
		here := place{arcs: int32(len(w.arcs))}
		matched := false
		type step struct {
			node  int32
			slots uint32
		}
		todo := []step{{order[at], 0}}
		for len(todo) > 0 {
			s := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen.add(s.node) { // two ways lead here
				return nil
			}
			switch n := &p.nodes[s.node]; n.op {
			case opSplit:
				todo = append(todo, step{n.alt, s.slots}, step{n.out, s.slots})
			case opAssert:
				todo = append(todo, step{n.out, s.slots})
			case opCapture:
				todo = append(todo, step{n.out, s.slots | 1<<n.arg})
			case opMatch:
				if matched {
					return nil
				}
				matched, here.slots = true, s.slots
			case opBytes:
				set := p.sets[n.arg]
				if taken.meets(set) {
					return nil
				}
				taken.join(set)
				to, ok := index[n.out]
				if !ok {
					to = int32(len(order))
					index[n.out] = to
					order = append(order, n.out)
				}
				w.arcs = append(w.arcs, arc{n.arg, to, s.slots})
			}
		}
		here.end = int32(len(w.arcs))
		w.places = append(w.places, here)
	}
	w.findDone()
	return w
}

// findDone finds the places from which no slot is noted any more.
func (w *oneWay) findDone() {
	for i := range w.places {
		w.places[i].done = w.places[i].slots == 0
	}
	for changed := true; changed; {
		changed = false
		for i := range w.places {
			l := &w.places[i]
			if !l.done {
				continue
			}
			for _, a := range w.arcs[l.arcs:l.end] {
				if a.slots != 0 || !w.places[a.to].done {
					l.done, changed = false, true
					break
				}
			}
		}
	}
}

// find is captor.find for such a rule. slots are all -1 before.
func (w *oneWay) find(p *program, text *window, m match, slots []int) {
	note := func(which uint32, pos int) {
		for ; which != 0; which &= which - 1 {
			slots[bits.TrailingZeros32(which)] = pos
		}
	}
	at := &w.places[0]
	for pos := m.start; pos < m.end; {
		part := text.from(pos)
		part = part[:min(len(part), m.end-pos)]
	bytes:
		for _, b := range part {
			if at.done {
				return
			}
			for i := at.arcs; i < at.end; i++ {
				if a := &w.arcs[i]; p.sets[a.set].has(b) {
					if a.slots != 0 {
						note(a.slots, pos)
					}
					at = &w.places[a.to]
					pos++
					continue bytes
				}
			}
			panic("subst: a match that its rule does not make")
		}
	}
	note(at.slots, m.end)
}
