package http1

// lines reads field lines up to the empty one, of a head or a trailer section.
// It keeps where it stopped as offsets: the bytes may have moved by the next
// call, but begin with the same ones.
type lines struct {
	at    lineState
	count uint8  // fields so far
	pos   uint16 // bytes scanned; all that were there when more was needed

	// Of the line under way, valid from the state on that follows each.
	name, colon, value uint16
}

type lineState uint8

const (
	atLine lineState = iota
	atName
	atBlanks // before the value
	atValue
	atLF
	atLastLF
)

type step uint8

const (
	needMore step = iota
	aField
	theEnd
	aFault
)

// next reads one line of in, which the caller has cut to MaxHead: offsets fit
// 16 bits. The fault counts with aFault only.
func (l *lines) next(in []byte) (f Field, s step, fault Fault) {
	i, name, colon, value, size := int(l.pos), int(l.name), int(l.colon), int(l.value), 0
	at := l.at
	switch at {
	case atLine:
		if i >= len(in) {
			goto more
		}
		if in[i] == '\r' {
			l.at, l.pos = atLastLF, uint16(i+1)
			return f, l.last(in), BadLineEnd
		}
		if l.count == MaxFields {
			fault = TooManyFields
			goto bad
		}
		name = i
		fallthrough
	case atName:
		i = tokenEnd(in, i)
		if i >= len(in) {
			at = atName
			goto more
		}
		if in[i] != ':' || i == name {
			fault = BadFieldName
			if i == name && isBlank(in[i]) {
				fault = FoldedField
			}
			if i == name && in[i] == '\n' {
				fault = BadLineEnd
			}
			goto bad
		}
		colon = i
		i++
		fallthrough
	case atBlanks:
		for i < len(in) && isBlank(in[i]) {
			i++
		}
		if i >= len(in) {
			at = atBlanks
			goto more
		}
		value = i
		fallthrough
	case atValue:
		i = valueEnd(in, i)
		if i >= len(in) {
			at = atValue
			goto more
		}
		if in[i] != '\r' {
			fault = BadFieldValue
			if in[i] == '\n' {
				fault = BadLineEnd
			}
			goto bad
		}
		i++
		fallthrough
	case atLF:
		if i >= len(in) {
			at = atLF
			goto more
		}
		if in[i] != '\n' {
			fault = BadLineEnd
			goto bad
		}
	case atLastLF:
		return f, l.last(in), BadLineEnd
	}
	size = i - 1 - value
	for size > 0 && isBlank(in[value+size-1]) {
		size--
	}
	f = newField(name, colon-name, value, size, lookup(in, name, colon))
	l.at, l.pos = atLine, uint16(i+1)
	l.count++
	return f, aField, 0

more:
	l.at, l.pos = at, uint16(i)
	l.name, l.colon, l.value = uint16(name), uint16(colon), uint16(value)
	return f, needMore, 0
bad:
	l.pos = uint16(i)
	return f, aFault, fault
}

// last expects the LF of the empty line.
func (l *lines) last(in []byte) step {
	i := int(l.pos)
	if i >= len(in) {
		return needMore
	}
	if in[i] != '\n' {
		return aFault
	}
	l.pos++
	return theEnd
}
