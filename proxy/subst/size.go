package subst

import "unsafe"

// Check tells whether Compile would take rules, at a fraction of what Compile takes.
// Its errors are *RuleError.
func Check(rules []Rule) error {
	parsed, err := parseRules(rules)
	if err == nil {
		_, err = newProgram(parsed)
	}
	return err
}

// Bytes estimates the memory that the set takes now, with the states that its streams
// have found. It may be called from any goroutine.
func (s *Set) Bytes() int {
	const (
		fixed   = 10 << 10 // tables by byte, and maps
		ofRule  = 2500     // its texts and syntax tree, and signs
		ofState = 160      // besides its row, and its nodes
	)
	p := s.program
	n := fixed + ofRule*len(s.rules) + 2*len(p.nodes)*int(unsafe.Sizeof(node{})) + len(p.sets)*int(unsafe.Sizeof(byteSet{}))
	c := s.current.Load()
	return n + 4*cap(*c.table.Load()) + ofState*len(*c.rows.Load()) + 4*len(p.nodes)*len(c.begins)*len(c.begins[0])/2
}
