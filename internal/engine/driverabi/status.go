package driverabi

// Sizes in bytes, from the tables named at the types.
const (
	StatusSize             = 32
	DebugWorkProcessorSize = 24
)

// Status is what control selector 7 gives (table 27.2).
// The source documents its size and no field.
type Status struct{ Raw [StatusSize]byte }

// Size returns StatusSize.
func (s *Status) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *Status) Encode(b []byte) error { return store("Status", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *Status) Decode(b []byte) error { return load("Status", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *Status) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *Status) Unknown() []Range { return gaps(len(s.Raw), nil) }

// DebugWorkProcessor is what control selector 11 takes (table 27.2).
// The source documents its size and no field.
type DebugWorkProcessor struct{ Raw [DebugWorkProcessorSize]byte }

// Size returns DebugWorkProcessorSize.
func (s *DebugWorkProcessor) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *DebugWorkProcessor) Encode(b []byte) error { return store("DebugWorkProcessor", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *DebugWorkProcessor) Decode(b []byte) error { return load("DebugWorkProcessor", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *DebugWorkProcessor) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *DebugWorkProcessor) Unknown() []Range { return gaps(len(s.Raw), nil) }
