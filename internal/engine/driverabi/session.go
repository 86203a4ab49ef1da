package driverabi

// Sizes in bytes, from the tables named at the types.
const (
	SessionHintSize      = 16
	SessionHintReplySize = 24
)

// SessionHint is what direct selector 7 takes (table 27.4).
// The source documents its size and no field.
type SessionHint struct{ Raw [SessionHintSize]byte }

// Size returns SessionHintSize.
func (s *SessionHint) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *SessionHint) Encode(b []byte) error { return store("SessionHint", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *SessionHint) Decode(b []byte) error { return load("SessionHint", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *SessionHint) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *SessionHint) Unknown() []Range { return gaps(len(s.Raw), nil) }

// SessionHintReply is what direct selector 7 gives (table 27.4).
// The source documents its size and no field.
type SessionHintReply struct{ Raw [SessionHintReplySize]byte }

// Size returns SessionHintReplySize.
func (s *SessionHintReply) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *SessionHintReply) Encode(b []byte) error { return store("SessionHintReply", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *SessionHintReply) Decode(b []byte) error { return load("SessionHintReply", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *SessionHintReply) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *SessionHintReply) Unknown() []Range { return gaps(len(s.Raw), nil) }
