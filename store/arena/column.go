package arena

import (
	"fmt"
	"reflect"
	"unsafe"
)

// hugePage is the size of a huge page on the machines we run on.
const hugePage = 2 << 20

// Column is an array of rows in a reservation of its own. Rows start zero and
// stay where they are. T must hold no pointers. A zero Column has no rows.
type Column[T any] struct {
	rows   []T
	memory []byte
}

// NewColumn reserves rows rows, of which the first expect are expected to be
// used: that part asks for huge pages where it is large.
func NewColumn[T any](rows, expect int) (Column[T], error) {
	t := reflect.TypeFor[T]()
	if hasPointers(t) {
		panic("arena: " + t.String() + " holds pointers: the collector would not see them")
	}
	size := int(t.Size())
	memory, err := reserve(rows * size)
	if err != nil {
		return Column[T]{}, fmt.Errorf("%d rows of %d bytes: %w", rows, size, err)
	}
	adviseHuge(memory[:min(expect, rows)*size&^(hugePage-1)])
	return Column[T]{
		rows:   unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), rows),
		memory: memory,
	}, nil
}

// At returns row i, which must be below Len.
func (c *Column[T]) At(i uint32) *T { return &c.rows[i] }

// Len returns the number of rows reserved.
func (c *Column[T]) Len() int { return len(c.rows) }

// Release gives the memory back. Nothing may use the column's rows any more.
func (c *Column[T]) Release() error {
	memory := c.memory
	*c = Column[T]{}
	return release(memory)
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() < reflect.Bool || t.Kind() > reflect.Complex128
	}
}
