package subst

// FindAll calls found for each match, in order, until it returns false: the
// bytes from start to end of text, won by a rule, counted from 0. These are the
// matches that replacing goes by, all of them: also those of a rule without
// flag g after its first, which it leaves as they are, but which no other rule
// gets.
func (s *Set) FindAll(text []byte, found func(start, end, rule int) bool) {
	f := search{set: s}
	f.reset()
	f.wake()
	f.text.piece, f.text.end = text, len(text)
	last := -1 // where the match before has ended
	for {
		e := f.advance()
		if e == more {
			e = f.finish()
		}
		if e == more {
			break
		}
		if e == gone {
			f.begin(f.oldest() + 1)
			continue
		}
		m := f.match
		empty := m.start == m.end
		if !empty || m.end != last && !f.text.inside(m.end) {
			last = m.end
			if !found(m.start, m.end, int(m.rule)) {
				break
			}
		}
		if empty {
			if m.end == len(text) {
				break
			}
			m.end++
		}
		f.begin(m.end)
	}
	f.stop()
}
