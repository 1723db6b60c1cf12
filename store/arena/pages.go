package arena

import (
	"math/bits"
	"sync"
)

// pages hands out runs of whole pages and joins those that come back with
// their free neighbours, so that memory that served small blocks can serve
// large ones, and the other way round.
//
// What is known of a page stands in a column beside the heap. It is true for
// the first and the last page of each run, free or not, which is all that
// neighbours look at.
type pages struct {
	mu     sync.Mutex
	info   Column[page]
	top    uint32       // pages from here on are untouched
	free   [bins]uint32 // first free run of each bin; 0 is none
	filled uint64       // a bit for each bin that has one
}

const (
	pageBits = 12
	pageSize = 1 << pageBits
)

// page is what is known of a page. 24 bytes for 4 KB.
type page struct {
	state pageState
	class uint8
	used  uint16 // slab: blocks handed out and not free
	fresh uint16 // slab: blocks from here on were never handed out
	freed uint16 // slab: a free block's index + 1, the first of a list
	run   uint32 // free run: its length; inside a slab: pages since its first
	next  uint32 // in the list of partial slabs, or of free runs of a bin
	prev  uint32
}

type pageState uint8

const (
	taken pageState = iota // of a long block, or untouched
	idle                   // first or last of a free run
	slab                   // first of a slab
	inner                  // another of a slab
)

// Runs up to exactBins pages have a bin for each length, longer ones a bin for
// each power of two.
const (
	exactBins = 32
	bins      = exactBins + 27
)

func binOf(n uint32) int {
	if n <= exactBins {
		return int(n) - 1
	}
	return exactBins + bits.Len32(n-1) - bits.Len32(exactBins)
}

func (p *pages) init(size int) (err error) {
	p.top = 1 // place 0 is "no block"
	p.info, err = NewColumn[page](size>>pageBits, 0)
	return err
}

// take returns the first of n pages.
func (p *pages) take(n uint32) (uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, length := p.find(n); first != 0 {
		p.unlink(first, length)
		p.mark(first, n, taken)
		if length > n {
			p.link(first+n, length-n)
		}
		return first, nil
	}
	if uint64(p.top)+uint64(n) > uint64(p.info.Len()) {
		return 0, ErrFull
	}
	first := p.top
	p.top += n
	p.mark(first, n, taken)
	return first, nil
}

// looks is how many runs of a bin of unequal ones are looked at.
const looks = 16

// find returns a free run of n pages or more.
func (p *pages) find(n uint32) (first, length uint32) {
	bin := binOf(n)
	for rest := p.filled >> bin << bin; rest != 0; rest &= rest - 1 {
		bin := bits.TrailingZeros64(rest)
		first := p.free[bin]
		for tries := 0; first != 0 && tries < looks; tries++ {
			if length := p.info.At(first).run; length >= n {
				return first, length
			}
			first = p.info.At(first).next
		}
	}
	return 0, 0
}

// give takes n pages back.
func (p *pages) give(first, n uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.info.At(first - 1); left.state == idle {
		length := left.run
		p.unlink(first-length, length)
		first, n = first-length, n+length
	}
	if end := first + n; end < p.top && p.info.At(end).state == idle {
		length := p.info.At(end).run
		p.unlink(end, length)
		n += length
	}
	p.link(first, n)
}

// mark sets what is known of a run's ends.
func (p *pages) mark(first, n uint32, state pageState) {
	*p.info.At(first) = page{state: state, run: n}
	*p.info.At(first + n - 1) = page{state: state, run: n}
}

// link and unlink enter a free run in the list of its bin and take it out.

func (p *pages) link(first, n uint32) {
	p.mark(first, n, idle)
	bin := binOf(n)
	push(&p.info, &p.free[bin], first)
	p.filled |= 1 << bin
}

func (p *pages) unlink(first, n uint32) {
	bin := binOf(n)
	remove(&p.info, &p.free[bin], first)
	if p.free[bin] == 0 {
		p.filled &^= 1 << bin
	}
}

// push enters page i at the head of a list, remove takes it out.

func push(info *Column[page], head *uint32, i uint32) {
	at := info.At(i)
	at.prev, at.next = 0, *head
	if *head != 0 {
		info.At(*head).prev = i
	}
	*head = i
}

func remove(info *Column[page], head *uint32, i uint32) {
	at := info.At(i)
	if at.next != 0 {
		info.At(at.next).prev = at.prev
	}
	if at.prev != 0 {
		info.At(at.prev).next = at.next
	} else {
		*head = at.next
	}
	at.prev, at.next = 0, 0
}
