package data

// kind is one of the three entities, in the order they are loaded.
type kind uint8

const (
	users kind = iota
	locations
	visits
	kinds = 3
)

// String returns the entity's name in paths, files and their names.
func (k kind) String() string {
	return [kinds]string{"users", "locations", "visits"}[k]
}
