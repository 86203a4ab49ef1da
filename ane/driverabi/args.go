package driverabi

// AsyncReferenceSize is the size in bytes of the asynchronous reference that the word
// at ArgsScalarInput leads to in asynchronous calls (listing 27.2).
const AsyncReferenceSize = 0x20

// Args is what an IOExternalMethodArguments leads to: the arguments of one call. The
// lengths of the outputs are what the caller asks for, and handlers write into them.
type Args struct {
	AsyncPort uint64 // the mach port that completion wakes, in asynchronous calls
	ScalarIn  []uint64
	StructIn  []byte
	ScalarOut []uint64
	StructOut []byte
}

// Block is the argument block of a, whose memory lies at the four addresses given.
func (a *Args) Block(scalarIn, structIn, scalarOut, structOut uint64) ArgsBlock {
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
	}
}
