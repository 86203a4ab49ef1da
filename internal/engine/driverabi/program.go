package driverabi

// Sizes in bytes, from the tables named at the types.
const (
	ProgramCreateSize    = 32
	ProgramPrepareSize   = 56
	ProgramUnprepareSize = 56
	ProgramDestroySize   = 16
	CreateInstanceSize   = 32
)

// ProgramCreate is what control selector 3 takes (table 27.2).
// The source documents its size and no field.
type ProgramCreate struct{ Raw [ProgramCreateSize]byte }

// Size returns ProgramCreateSize.
func (s *ProgramCreate) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *ProgramCreate) Encode(b []byte) error { return store("ProgramCreate", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *ProgramCreate) Decode(b []byte) error { return load("ProgramCreate", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *ProgramCreate) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *ProgramCreate) Unknown() []Range { return gaps(len(s.Raw), nil) }

// ProgramPrepare is what control selector 4 takes and gives, 56 bytes each (table 27.2).
// The source documents its size and no field.
type ProgramPrepare struct{ Raw [ProgramPrepareSize]byte }

// Size returns ProgramPrepareSize.
func (s *ProgramPrepare) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *ProgramPrepare) Encode(b []byte) error { return store("ProgramPrepare", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *ProgramPrepare) Decode(b []byte) error { return load("ProgramPrepare", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *ProgramPrepare) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *ProgramPrepare) Unknown() []Range { return gaps(len(s.Raw), nil) }

// ProgramUnprepare is what control selector 5 takes (table 27.2). The symbol of its
// handler in public kernel caches has an ANEProgramPrepareArgs, the type of selector 4.
// The source documents its size and no field.
type ProgramUnprepare struct{ Raw [ProgramUnprepareSize]byte }

// Size returns ProgramUnprepareSize.
func (s *ProgramUnprepare) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *ProgramUnprepare) Encode(b []byte) error { return store("ProgramUnprepare", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *ProgramUnprepare) Decode(b []byte) error { return load("ProgramUnprepare", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *ProgramUnprepare) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *ProgramUnprepare) Unknown() []Range { return gaps(len(s.Raw), nil) }

// ProgramDestroy is what control selector 6 takes (table 27.2).
// The source documents its size and no field.
type ProgramDestroy struct{ Raw [ProgramDestroySize]byte }

// Size returns ProgramDestroySize.
func (s *ProgramDestroy) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *ProgramDestroy) Encode(b []byte) error { return store("ProgramDestroy", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *ProgramDestroy) Decode(b []byte) error { return load("ProgramDestroy", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *ProgramDestroy) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *ProgramDestroy) Unknown() []Range { return gaps(len(s.Raw), nil) }

// CreateInstance is what control selector 8 takes (table 27.2).
// The source documents its size and no field.
type CreateInstance struct{ Raw [CreateInstanceSize]byte }

// Size returns CreateInstanceSize.
func (s *CreateInstance) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *CreateInstance) Encode(b []byte) error { return store("CreateInstance", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *CreateInstance) Decode(b []byte) error { return load("CreateInstance", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *CreateInstance) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *CreateInstance) Unknown() []Range { return gaps(len(s.Raw), nil) }
