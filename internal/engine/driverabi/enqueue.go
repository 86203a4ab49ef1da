package driverabi

// Sizes in bytes, from the tables named at the types.
const (
	OutputSetEnqueueSize = 40
	InputsReadySize      = 3104
)

// OutputSetEnqueue is what direct selector 3 takes, the output buffer set of a
// resident submission (table 27.4).
// The source documents its size and no field.
type OutputSetEnqueue struct{ Raw [OutputSetEnqueueSize]byte }

// Size returns OutputSetEnqueueSize.
func (s *OutputSetEnqueue) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *OutputSetEnqueue) Encode(b []byte) error { return store("OutputSetEnqueue", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *OutputSetEnqueue) Decode(b []byte) error { return load("OutputSetEnqueue", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *OutputSetEnqueue) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *OutputSetEnqueue) Unknown() []Range { return gaps(len(s.Raw), nil) }

// InputsReady is what direct selector 4 takes, the trigger of a resident submission
// (table 27.4).
// The source documents its size and no field.
type InputsReady struct{ Raw [InputsReadySize]byte }

// Size returns InputsReadySize.
func (s *InputsReady) Size() int { return len(s.Raw) }

// Encode writes all bytes of s to b.
func (s *InputsReady) Encode(b []byte) error { return store("InputsReady", b, s.Raw[:]) }

// Decode reads all bytes of s from b.
func (s *InputsReady) Decode(b []byte) error { return load("InputsReady", s.Raw[:], b) }

// Fields returns nil: no field is documented.
func (s *InputsReady) Fields() []Field { return nil }

// Unknown returns one range, the whole structure.
func (s *InputsReady) Unknown() []Range { return gaps(len(s.Raw), nil) }
