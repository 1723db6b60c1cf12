// Package inflate unpacks a whole DEFLATE stream (RFC 1951) from one slice into
// another, about twice as fast as readers that stop and go on anywhere.
//
// It knows right from wrong but does not explain: where Inflate says no, ask a
// library why. What speeds it up is that input and output are whole: bits are
// taken in 8 bytes at a time, several symbols are decoded for each such load,
// and matches are copied 8 bytes at a time, all without checks while both ends
// are far away. Near them a plain loop takes over.
package inflate

import (
	"encoding/binary"
	"math/bits"
)

// Decoder holds the tables. Its zero value is ready; it is for one goroutine
// at a time.
type Decoder struct {
	in   []byte
	at   int    // next byte of in
	hold uint64 // bits taken in, the next one lowest
	have uint   // of which so many are valid

	out     []byte
	written int

	lengths  [maxLitlen + maxDist]uint8
	pre      [1 << preBits]entry
	litlen   [litlenTable]entry
	dist     [distTable]entry
	isStatic bool // litlen and dist are those of blocks with fixed codes
}

const (
	maxLitlen  = 288
	maxDist    = 32
	longest    = 15 // bits of a code
	preBits    = 7
	litlenBits = 11
	distBits   = 8

	// Primary tables, and room for all secondary ones: at most one for each
	// code longer than the primary's, and each no larger than its longest.
	litlenTable = 1<<litlenBits + maxLitlen<<(longest-litlenBits)
	distTable   = 1<<distBits + maxDist<<(longest-distBits)
)

// entry is what the next bits stand for:
//
//	bits 0..7    bits to drop: of the code, or of its part in this table
//	bits 8..11   extra bits that follow, or bits that index a secondary table
//	bits 12..14  kind
//	bits 16..31  literal, base of a length or distance, start of a secondary table
//
// The zero entry stands for no code.
type entry uint32

const (
	literal   entry = 1 << 12
	copies    entry = 2 << 12 // a length, or a distance
	ends      entry = 3 << 12
	secondary entry = 4 << 12
	kindMask  entry = 7 << 12
)

func (e entry) drop() uint    { return uint(e & 0xff) }
func (e entry) extra() uint   { return uint(e>>8) & 15 }
func (e entry) value() uint32 { return uint32(e >> 16) }

// Inflate unpacks src into dst and tells whether src is one whole stream that
// fills dst exactly.
func (d *Decoder) Inflate(dst, src []byte) bool {
	d.in, d.at, d.hold, d.have = src, 0, 0, 0
	d.out, d.written = dst, 0
	defer func() { d.in, d.out = nil, nil }()
	for last := false; !last; {
		header, ok := d.bits(3)
		if !ok {
			return false
		}
		last = header&1 != 0
		switch header >> 1 {
		case 0:
			ok = d.stored()
		case 1:
			ok = d.fixedCodes() && d.block()
		case 2:
			ok = d.dynamicCodes() && d.block()
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return d.written == len(dst) && d.at-int(d.have/8) == len(src)
}

// refill takes in bits until at least 56 are held, or the input ends. The
// first form also takes bits beyond have: they are taken again, the same.
func (d *Decoder) refill() {
	if d.at+8 <= len(d.in) {
		d.hold |= binary.LittleEndian.Uint64(d.in[d.at:]) << d.have
		d.at += int(63-d.have) >> 3
		d.have |= 56
		return
	}
	for d.have <= 56 && d.at < len(d.in) {
		d.hold |= uint64(d.in[d.at]) << d.have
		d.at++
		d.have += 8
	}
}

// bits takes n bits, n <= 16.
func (d *Decoder) bits(n uint) (uint, bool) {
	if d.have < n {
		d.refill()
		if d.have < n {
			return 0, false
		}
	}
	v := uint(d.hold) & (1<<n - 1)
	d.drop(n)
	return v, true
}

func (d *Decoder) drop(n uint) {
	d.hold >>= n
	d.have -= n
}

func (d *Decoder) stored() bool {
	// Back to the byte that the next bit stands in, rounded up.
	d.at -= int(d.have / 8)
	d.hold, d.have = 0, 0
	if len(d.in)-d.at < 4 {
		return false
	}
	n := int(binary.LittleEndian.Uint16(d.in[d.at:]))
	if n != int(^binary.LittleEndian.Uint16(d.in[d.at+2:])) {
		return false
	}
	d.at += 4
	if n > len(d.in)-d.at || n > len(d.out)-d.written {
		return false
	}
	copy(d.out[d.written:], d.in[d.at:d.at+n])
	d.at += n
	d.written += n
	return true
}

// fixedCodes makes the tables of section 3.2.6.
func (d *Decoder) fixedCodes() bool {
	if d.isStatic {
		return true
	}
	for i := range maxLitlen {
		switch {
		case i < 144:
			d.lengths[i] = 8
		case i < 256:
			d.lengths[i] = 9
		case i < 280:
			d.lengths[i] = 7
		default:
			d.lengths[i] = 8
		}
	}
	for i := range maxDist {
		d.lengths[maxLitlen+i] = 5
	}
	d.isStatic = build(d.litlen[:], litlenBits, d.lengths[:maxLitlen], litlenEntry) &&
		build(d.dist[:], distBits, d.lengths[maxLitlen:], distEntry)
	return d.isStatic
}

// preOrder is the order of the code lengths of code lengths.
var preOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamicCodes reads the tables of section 3.2.7.
func (d *Decoder) dynamicCodes() bool {
	d.isStatic = false
	sizes, ok := d.bits(14)
	if !ok {
		return false
	}
	litlens, dists, pres := int(sizes&31)+257, int(sizes>>5&31)+1, int(sizes>>10)+4
	if litlens > 286 || dists > 30 {
		return false
	}
	var lengths [19]uint8
	for _, symbol := range preOrder[:pres] {
		n, ok := d.bits(3)
		if !ok {
			return false
		}
		lengths[symbol] = uint8(n)
	}
	if !build(d.pre[:], preBits, lengths[:], plainEntry) {
		return false
	}
	for i := 0; i < litlens+dists; {
		if d.have < longest {
			d.refill()
		}
		e := d.pre[d.hold&(1<<preBits-1)]
		if e == 0 || e.drop() > d.have {
			return false
		}
		d.drop(e.drop())
		length, repeat := uint8(0), 1
		switch symbol := e.value(); symbol {
		default:
			length = uint8(symbol)
		case 16:
			n, ok := d.bits(2)
			if !ok || i == 0 {
				return false
			}
			length, repeat = d.lengths[i-1], 3+int(n)
		case 17:
			n, ok := d.bits(3)
			if !ok {
				return false
			}
			repeat = 3 + int(n)
		case 18:
			n, ok := d.bits(7)
			if !ok {
				return false
			}
			repeat = 11 + int(n)
		}
		if repeat > litlens+dists-i {
			return false
		}
		for range repeat {
			d.lengths[i] = length
			i++
		}
	}
	return d.lengths[256] != 0 &&
		build(d.litlen[:], litlenBits, d.lengths[:litlens], litlenEntry) &&
		build(d.dist[:], distBits, d.lengths[litlens:litlens+dists], distEntry)
}

// plainEntry, litlenEntry and distEntry are the entries of symbols, without
// the bits to drop.

func plainEntry(symbol int) entry { return literal | entry(symbol)<<16 }

func litlenEntry(symbol int) entry {
	switch {
	case symbol < 256:
		return literal | entry(symbol)<<16
	case symbol == 256:
		return ends
	case symbol < 265:
		return copies | entry(symbol-254)<<16
	case symbol < 285:
		extra := uint(symbol-261) / 4
		return copies | entry(extra)<<8 | entry(3+(4+uint(symbol-261)%4)<<extra)<<16
	case symbol == 285:
		return copies | 258<<16
	}
	return 0 // of the fixed code, but may not be used
}

func distEntry(symbol int) entry {
	switch {
	case symbol < 4:
		return copies | entry(symbol+1)<<16
	case symbol < 30:
		extra := uint(symbol)/2 - 1
		return copies | entry(extra)<<8 | entry(1+(2+uint(symbol)%2)<<extra)<<16
	}
	return 0
}

// build makes a table from the lengths of its symbols' codes. The code must be
// complete, but for one that has a single code of one bit, or none at all.
func build(table []entry, primary uint, lengths []uint8, of func(symbol int) entry) bool {
	var count [longest + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	var next [longest + 2]int // the next code of each length
	room := 1
	used := 0
	for n := 1; n <= longest; n++ {
		room = room*2 - count[n]
		if room < 0 {
			return false
		}
		next[n+1] = (next[n] + count[n]) * 2
		used += count[n]
	}
	if room > 0 && (used > 1 || used == 1 && count[1] != 1) {
		return false
	}
	clear(table[:1<<primary])
	end := 1 << primary // of the secondary tables
	for n := uint(1); n <= longest; n++ {
		if count[n] == 0 {
			continue
		}
		left := count[n]
		for symbol, length := range lengths {
			if uint(length) != n {
				continue
			}
			e := of(symbol)
			code := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
			next[n]++
			if n <= primary {
				if e != 0 {
					e |= entry(n)
				}
				for i := code; i < 1<<primary; i += 1 << n {
					table[i] = e
				}
				left--
				continue
			}
			// Codes come in order, so those that share a primary index follow
			// each other, the longest last; its length is not known yet.
			head := &table[code&(1<<primary-1)]
			if *head == 0 {
				size := secondarySize(n, primary, left, count[:])
				if end+1<<size > len(table) {
					return false
				}
				clear(table[end : end+1<<size])
				*head = secondary | entry(primary) | entry(size)<<8 | entry(end)<<16
				end += 1 << size
			}
			if e != 0 {
				e |= entry(n - primary)
			}
			start, size := int(head.value()), head.extra()
			for i := code >> primary; i < 1<<size; i += 1 << (n - primary) {
				table[start+i] = e
			}
			left--
		}
	}
	return true
}

// secondarySize is how many bits index the secondary table that begins with a
// code of n bits, of which so many are left: it is as large as those and the
// longer ones that follow need to fill it.
func secondarySize(n, primary uint, left int, count []int) uint {
	size := n - primary
	for left < 1<<size && size < longest-primary {
		size++
		left = left*2 + count[primary+size]
	}
	return size
}

// block decodes symbols to the end of a block.
func (d *Decoder) block() bool {
	for {
		// Fast path - nothing can end within the next step: three literals or
		// one match, of 258 bytes written in steps of 8.
		if done, ok := d.fast(); done || !ok {
			return ok
		}
		// Slow path - one symbol, with all checks.
		if done, ok := d.symbol(); done || !ok {
			return ok
		}
	}
}

const (
	fastIn  = 16
	fastOut = 2 + 258 + 8
)

// fast decodes symbols until the block is done or an end is near.
func (d *Decoder) fast() (done, ok bool) {
	in, out := d.in, d.out
	at, written, hold, have := d.at, d.written, d.hold, d.have
	ok = true
loop:
	for at+fastIn <= len(in) && written+fastOut <= len(out) {
		hold |= binary.LittleEndian.Uint64(in[at:]) << have
		at += int(63-have) >> 3
		have |= 56

		e := d.litlen[hold&(1<<litlenBits-1)]
		if e&kindMask == literal {
			hold >>= e.drop()
			have -= e.drop()
			out[written] = byte(e.value())
			written++
			if e = d.litlen[hold&(1<<litlenBits-1)]; e&kindMask == literal {
				hold >>= e.drop()
				have -= e.drop()
				out[written] = byte(e.value())
				written++
				e = d.litlen[hold&(1<<litlenBits-1)]
			}
		}
		if e&kindMask == secondary {
			hold >>= litlenBits
			have -= litlenBits
			e = d.litlen[uint64(e.value())+hold&(1<<e.extra()-1)]
		}
		hold >>= e.drop()
		have -= e.drop()
		switch e & kindMask {
		case literal:
			out[written] = byte(e.value())
			written++
			continue
		case ends:
			done = true
			break loop
		case copies:
		default:
			ok = false
			break loop
		}
		length := int(e.value()) + int(hold&(1<<e.extra()-1))
		hold >>= e.extra()
		have -= e.extra()

		// 35 bits may be gone by now; a distance takes up to 28.
		hold |= binary.LittleEndian.Uint64(in[at:]) << have
		at += int(63-have) >> 3
		have |= 56
		e = d.dist[hold&(1<<distBits-1)]
		if e&kindMask == secondary {
			hold >>= distBits
			have -= distBits
			e = d.dist[uint64(e.value())+hold&(1<<e.extra()-1)]
		}
		if e&kindMask != copies {
			ok = false
			break
		}
		hold >>= e.drop()
		have -= e.drop()
		distance := int(e.value()) + int(hold&(1<<e.extra()-1))
		hold >>= e.extra()
		have -= e.extra()
		if distance > written {
			ok = false
			break
		}
		from, to := written-distance, written
		written += length
		if distance < 8 {
			for ; to < written; to, from = to+1, from+1 {
				out[to] = out[from]
			}
			continue
		}
		for to < written { // the last step may write beyond; what comes next overwrites it
			binary.LittleEndian.PutUint64(out[to:], binary.LittleEndian.Uint64(out[from:]))
			to, from = to+8, from+8
		}
	}
	// No closure may hold these: they would live in memory and not in registers.
	d.at, d.written, d.hold, d.have = at, written, hold, have
	return done, ok
}

// symbol decodes one literal, one match or the block's end.
func (d *Decoder) symbol() (done, ok bool) {
	e, ok := d.code(d.litlen[:], litlenBits)
	if !ok {
		return false, false
	}
	switch e & kindMask {
	case literal:
		if d.written == len(d.out) {
			return false, false
		}
		d.out[d.written] = byte(e.value())
		d.written++
		return false, true
	case ends:
		return true, true
	}
	extra, ok := d.bits(e.extra())
	if !ok {
		return false, false
	}
	length := int(e.value()) + int(extra)
	if e, ok = d.code(d.dist[:], distBits); !ok {
		return false, false
	}
	if extra, ok = d.bits(e.extra()); !ok {
		return false, false
	}
	distance := int(e.value()) + int(extra)
	if distance > d.written || length > len(d.out)-d.written {
		return false, false
	}
	for range length {
		d.out[d.written] = d.out[d.written-distance]
		d.written++
	}
	return false, true
}

// code takes one code of a table.
func (d *Decoder) code(table []entry, primary uint) (entry, bool) {
	if d.have < longest {
		d.refill()
	}
	e := table[d.hold&(1<<primary-1)]
	if e&kindMask == secondary {
		if d.have < primary {
			return 0, false
		}
		d.drop(primary)
		e = table[uint64(e.value())+d.hold&(1<<e.extra()-1)]
	}
	if e == 0 || e.drop() > d.have {
		return 0, false
	}
	d.drop(e.drop())
	return e, true
}
