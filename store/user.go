package store

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"sync/atomic"

	"redoubt/store/arena"
)

// userRow is a user's place in the table. A user exists when it has a block.
type userRow struct {
	block atomic.Uint64
	list  atomic.Uint64
}

// userFields are a user's fields as the store keeps them: strings are kept
// texts, views of wherever they came from.
type userFields struct {
	birth              int32
	gender             byte
	first, last, email []byte
}

// A user's block: birth date 4, number of the first name 2, of the last name
// 2, of the email's domain 15 bits with gender in the top bit; then the local
// part of the email to the end. Where a number is 0 the string itself stands
// before the local part, behind its length in 2 bytes; an email without a
// domain of its own number stands whole instead of the local part.
const (
	userBlockHead = 10
	femaleDomain  = 1 << 15
	namesLimit    = 1 << 16
	domainsLimit  = 1 << 15
)

// domainOf splits a kept email behind its last @. There may be none.
func domainOf(email []byte) (local, domain []byte) {
	i := bytes.LastIndexByte(email, '@')
	if i < 0 {
		return email, nil
	}
	return email[:i], email[i+1:]
}

// newUserBlock makes the block of u.
func (s *Store) newUserBlock(a allocator, u *userFields) (arena.Ref, error) {
	first, last := s.firstNames.intern(u.first), s.lastNames.intern(u.last)
	tail, domainText := domainOf(u.email)
	domain := s.domains.intern(domainText)
	if domain == 0 {
		tail = u.email
	}
	n := userBlockHead + len(tail)
	if first == 0 {
		n += 2 + len(u.first)
	}
	if last == 0 {
		n += 2 + len(u.last)
	}
	ref, err := a.Alloc(n)
	if err != nil {
		return 0, err
	}
	order := binary.NativeEndian
	b := s.heap.Bytes(ref)[:0]
	b = order.AppendUint32(b, uint32(u.birth))
	b = order.AppendUint16(b, uint16(first))
	b = order.AppendUint16(b, uint16(last))
	if u.gender == 'f' {
		domain |= femaleDomain
	}
	b = order.AppendUint16(b, uint16(domain))
	if first == 0 {
		b = append(order.AppendUint16(b, uint16(len(u.first))), u.first...)
	}
	if last == 0 {
		b = append(order.AppendUint16(b, uint16(len(u.last))), u.last...)
	}
	copy(b[len(b):n], tail)
	return ref, nil
}

// userBlock is a block taken apart. The email is local@domain, or local alone
// where domain is nil.
type userBlock struct {
	birth                      int32
	gender                     byte
	first, last, local, domain []byte
}

func (s *Store) userBlock(ref arena.Ref) (u userBlock) {
	order := binary.NativeEndian
	b := s.heap.Bytes(ref)
	u.birth = int32(order.Uint32(b))
	first, last, domain := order.Uint16(b[4:]), order.Uint16(b[6:]), order.Uint16(b[8:])
	b = b[userBlockHead:]
	u.gender = 'm'
	if domain >= femaleDomain {
		u.gender = 'f'
		domain -= femaleDomain
	}
	if first != 0 {
		u.first = s.firstNames.at(uint32(first))
	} else {
		n := order.Uint16(b)
		u.first, b = b[2:2+n], b[2+n:]
	}
	if last != 0 {
		u.last = s.lastNames.at(uint32(last))
	} else {
		n := order.Uint16(b)
		u.last, b = b[2:2+n], b[2+n:]
	}
	u.local = b
	if domain != 0 {
		u.domain = s.domains.at(uint32(domain))
	}
	return u
}

// hasEmail tells whether the user of the block has that kept email.
func (u *userBlock) hasEmail(email []byte) bool {
	if u.domain == nil {
		return bytes.Equal(email, u.local)
	}
	n := len(u.local)
	return len(email) == n+1+len(u.domain) && email[n] == '@' &&
		bytes.Equal(email[:n], u.local) && bytes.Equal(email[n+1:], u.domain)
}

func (u *userBlock) appendEmail(dst []byte) []byte {
	dst = append(dst, u.local...)
	if u.domain != nil {
		dst = append(append(dst, '@'), u.domain...)
	}
	return dst
}

// emailTaken tells whether a user other than the one in slot has the email.
func (s *Store) emailTaken(key uint32, email []byte, slot uint32) bool {
	_, found := s.emails.find(key, func(other uint32) bool {
		if other == slot {
			return false
		}
		u := s.userBlock(arena.Ref(s.users.At(other).block.Load()))
		return u.hasEmail(email)
	})
	return found
}

func appendUser(dst []byte, id uint32, u *userBlock) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendUint(dst, uint64(id), 10)
	dst = append(dst, `,"email":"`...)
	dst = u.appendEmail(dst)
	dst = append(dst, `","first_name":"`...)
	dst = append(dst, u.first...)
	dst = append(dst, `","last_name":"`...)
	dst = append(dst, u.last...)
	dst = append(dst, `","gender":"`...)
	dst = append(dst, u.gender)
	dst = append(dst, `","birth_date":`...)
	dst = strconv.AppendInt(dst, int64(u.birth), 10)
	return append(dst, '}')
}
