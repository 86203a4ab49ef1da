package driverabi

// Sizes in bytes, from the tables named at the types.
const (
	ChainingPrepareSize      = 16
	ChainingPrepareReplySize = 24
	SetActiveProcedureSize   = 32
)

// ChainingPrepare is what control selector 9 takes (table 27.2).
// The source documents its size and no field.
type ChainingPrepare struct{ Raw [ChainingPrepareSize]byte }

// Size returns ChainingPrepareSize.
func (s *ChainingPrepare) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *ChainingPrepare) Encode(b []byte) error { return store("ChainingPrepare", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *ChainingPrepare) Decode(b []byte) error { return load("ChainingPrepare", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *ChainingPrepare) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *ChainingPrepare) Unknown() []Range { return gaps(len(s.Raw), nil) }

// ChainingPrepareReply is what control selector 9 gives (table 27.2).
// The source documents its size and no field.
type ChainingPrepareReply struct {
	Raw [ChainingPrepareReplySize]byte
}

// Size returns ChainingPrepareReplySize.
func (s *ChainingPrepareReply) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *ChainingPrepareReply) Encode(b []byte) error {
	return store("ChainingPrepareReply", b, s.Raw[:])
}

// Decode reads all bytes of s from b.
func (s *ChainingPrepareReply) Decode(b []byte) error {
	return load("ChainingPrepareReply", s.Raw[:], b)
}

// Fields returns nil: no field is documented.
func (s *ChainingPrepareReply) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *ChainingPrepareReply) Unknown() []Range { return gaps(len(s.Raw), nil) }

// SetActiveProcedure is what direct selector 8 takes (table 27.4).
// The source documents its size and no field.
type SetActiveProcedure struct{ Raw [SetActiveProcedureSize]byte }

// Size returns SetActiveProcedureSize.
func (s *SetActiveProcedure) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *SetActiveProcedure) Encode(b []byte) error { return store("SetActiveProcedure", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *SetActiveProcedure) Decode(b []byte) error { return load("SetActiveProcedure", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *SetActiveProcedure) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *SetActiveProcedure) Unknown() []Range { return gaps(len(s.Raw), nil) }
