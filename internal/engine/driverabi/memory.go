package driverabi

// Sizes in bytes, from the tables named at the types.
const (
	MemoryMapSize   = 2080
	MemoryUnmapSize = 2080
)

// MemoryMap is what direct selector 5 takes: it describes a host buffer (table 27.4).
// The device address comes back as the one scalar.
// The source documents its size and no field.
type MemoryMap struct{ Raw [MemoryMapSize]byte }

// Size returns MemoryMapSize.
func (s *MemoryMap) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *MemoryMap) Encode(b []byte) error { return store("MemoryMap", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *MemoryMap) Decode(b []byte) error { return load("MemoryMap", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *MemoryMap) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *MemoryMap) Unknown() []Range { return gaps(len(s.Raw), nil) }

// MemoryUnmap is what direct selector 6 takes (table 27.4). That it is laid out as
// MemoryMap is not documented.
// The source documents its size and no field.
type MemoryUnmap struct{ Raw [MemoryUnmapSize]byte }

// Size returns MemoryUnmapSize.
func (s *MemoryUnmap) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *MemoryUnmap) Encode(b []byte) error { return store("MemoryUnmap", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *MemoryUnmap) Decode(b []byte) error { return load("MemoryUnmap", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *MemoryUnmap) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *MemoryUnmap) Unknown() []Range { return gaps(len(s.Raw), nil) }
