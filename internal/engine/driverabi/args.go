package driverabi

import "math"

// AsyncReferenceSize is the size in bytes of the asynchronous reference that the word
// at ArgsScalarInput leads to in asynchronous calls (listing 27.2).
const AsyncReferenceSize = 0x20

// Args is what an IOExternalMethodArguments leads to: the arguments of one call. The
// lengths of the outputs are what the caller asks for, and handlers write into them.
type Args struct {
	AsyncPort uint64 // the mach port that completion wakes, in asynchronous calls; 0 in others
	ScalarIn  []uint64
	StructIn  []byte
	ScalarOut []uint64
	StructOut []byte
}

// Block is the argument block of a, whose memory lies at the four addresses given. A
// port or a length that needs more than 32 bits is an *Error matching ErrRange.
func (a *Args) Block(scalarIn, structIn, scalarOut, structOut uint64) (ArgsBlock, error) {
	for _, n := range [...]struct {
		what  string
		value uint64
	}{
		{"port", a.AsyncPort},
		{"scalar input count", uint64(len(a.ScalarIn))},
		{"structure input size", uint64(len(a.StructIn))},
		{"scalar output count", uint64(len(a.ScalarOut))},
		{"structure output size", uint64(len(a.StructOut))},
	} {
		if n.value > math.MaxUint32 {
			return ArgsBlock{}, &Error{Structure: "ArgsBlock " + n.what, Want: math.MaxUint32,
				Have: n.value, Err: ErrRange, Hint: "pass a value of 32 bits"}
		}
	}
	return ArgsBlock{
		AsyncWakePort:       uint32(a.AsyncPort),
		ScalarInput:         scalarIn,
		ScalarInputCount:    uint32(len(a.ScalarIn)),
		StructureInput:      structIn,
		StructureInputSize:  uint32(len(a.StructIn)),
		ScalarOutput:        scalarOut,
		ScalarOutputCount:   uint32(len(a.ScalarOut)),
		StructureOutput:     structOut,
		StructureOutputSize: uint32(len(a.StructOut)),
	}, nil
}
