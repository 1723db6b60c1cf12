package subst

import (
	"fmt"
	"math/bits"
	"regexp/syntax"
	"strings"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// add adds the bytes from lo to hi, both included.
func (s *byteSet) add(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

// join adds the bytes of another set.
func (s *byteSet) join(t byteSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

// meets tells whether two sets have a byte in common.
func (s *byteSet) meets(t byteSet) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

func (s *byteSet) len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// String writes a set as a class: [a-z\xff].
func (s byteSet) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for lo := 0; lo < 256; lo++ {
		if !s.has(byte(lo)) {
			continue
		}
		hi := lo
		for hi < 255 && s.has(byte(hi+1)) {
			hi++
		}
		b.WriteString(byteName(byte(lo)))
		if hi > lo {
			b.WriteString("-" + byteName(byte(hi)))
		}
		lo = hi
	}
	b.WriteByte(']')
	return b.String()
}

func byteName(c byte) string {
	if c <= ' ' || c >= 0x7f {
		return fmt.Sprintf(`\x%02x`, c)
	}
	return string(rune(c))
}

// classify finds the classes of bytes that no node tells apart. Assertions look
// at neighbours: they add word bytes or the newline where they occur.
func (p *program) classify() {
	p.classOf, p.classes = [256]uint8{}, []byte{0}
	for i := range p.sets {
		p.refine(&p.sets[i])
	}
	if p.asserts&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		var word byteSet
		for c := range 128 {
			if syntax.IsWordChar(rune(c)) {
				word.add(byte(c), byte(c))
			}
		}
		p.refine(&word)
	}
	if p.asserts&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0 {
		var newline byteSet
		newline.add('\n', '\n')
		p.refine(&newline)
	}
}

// refine splits each class that lies on both sides of a set's border. The side
// of the class's first byte keeps its number.
func (p *program) refine(s *byteSet) {
	if len(p.classes) == 256 {
		return
	}
	var split [256]uint8 // new number of a class's other side
	var done [256]bool
	for c := range 256 {
		class := p.classOf[c]
		if s.has(byte(c)) == s.has(p.classes[class]) {
			continue
		}
		if !done[class] {
			done[class] = true
			split[class] = uint8(len(p.classes))
			p.classes = append(p.classes, byte(c))
		}
		p.classOf[c] = split[class]
	}
}
