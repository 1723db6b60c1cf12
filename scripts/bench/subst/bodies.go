package main

import (
	"bytes"
	"fmt"
	"strings"
)

// bodyOf makes a body, the same one each time.
func bodyOf(name string, size int) ([]byte, error) {
	if size < 1 {
		return nil, fmt.Errorf("--size %d: a number from 1 should be here", size)
	}
	w := &writer{dice: 1}
	w.Grow(size + 8<<10)
	switch name {
	case "html":
		w.page(size)
	case "js":
		w.script(size)
	case "a":
		w.WriteString(strings.Repeat("a", size))
	default:
		return nil, fmt.Errorf("--body %s: there are html, js and a", name)
	}
	return w.Bytes()[:size], nil
}

// writer writes a body by chance.
type writer struct {
	bytes.Buffer
	dice
}

// dice are numbers by a formula of their own, so that bodies stay what they are
// with each release of Go.
type dice uint64

// below is a number from 0 to n-1.
func (d *dice) below(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(uint64(*d) >> 33 * uint64(n) >> 31)
}

// in is true once in n times.
func (d *dice) in(n int) bool { return d.below(n) == 0 }

func (d *dice) of(list []string) string { return list[d.below(len(list))] }

// word prefers those at the front, as language does.
func (d *dice) word() string { return words[d.below(d.below(len(words))+1)] }

func (d *dice) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = '0' + byte(d.below(10))
	}
	return string(text)
}

func (d *dice) hex(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = "0123456789abcdef"[d.below(16)]
	}
	return string(text)
}

func (w *writer) add(format string, values ...any) { fmt.Fprintf(w, format, values...) }

// words are about as frequent in running text as they stand early here.
var words = strings.Fields(`
the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all
her she there would their we him been has when who will no more if out so up said what its about than into them can only other time
new some could these two may first then do any like my now over such our man me even most made after also well before must through
years where much your way down should because long each just state those people too mister how little good world make very year still
see own work men day get here old life both between being under three never know same last another while us off might great go come
since against right came take used himself few house use place during high without again home around small however found thought went
say part once general upon school every does got united left number course war until always away something fact water though less
public put think almost hand enough far took head yet government system better set told nothing night end why called find going look
asked later knew point next program city business give group toward young days let room president side social given present several
order national second possible rather per face among form important often things looked early white case large big need four within
felt along children saw best church ever least power development light thing seemed family interest want members mind country area
others done turned although open service certain kind problem began different door thus help means sense whole matter perhaps itself
shipping reading writing building morning evening meeting opening pricing listing checking nothing everything getting making looking
coming working following according during beginning understanding catalogue basket delivery payment account customer colour quality
material comfortable delivered available returned guarantee warranty subscription newsletter`)
