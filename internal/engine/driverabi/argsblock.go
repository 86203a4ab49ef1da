package driverabi

// Offsets in IOExternalMethodArguments, the same for all 26 selectors (listing 27.2).
const (
	ArgsAsyncWakePort       = 0x08
	ArgsScalarInput         = 0x10
	ArgsScalarInputCount    = 0x20
	ArgsStructureInput      = 0x30
	ArgsStructureInputSize  = 0x38
	ArgsScalarOutput        = 0x48
	ArgsScalarOutputCount   = 0x50
	ArgsStructureOutput     = 0x58
	ArgsStructureOutputSize = 0x60
)

// ArgsBlockSize is the size of an ArgsBlock: up to the end of the last field of listing
// 27.2. The structure in the kernel goes on after it.
const ArgsBlockSize = 0x64

// ArgsBlock is an IOExternalMethodArguments as listing 27.2 has it. Inputs and outputs
// are words that lead to memory of another address space, which this package never
// follows.
//
// The public header IOUserClient.h agrees with the listing but in two places: it has
// asyncReference at +0x10, with its count at +0x18, and scalarInput at +0x20, with its
// count at +0x28. The listing is what this type follows.
type ArgsBlock struct {
	AsyncWakePort       uint32
	ScalarInput         uint64 // also leads to the asynchronous reference
	ScalarInputCount    uint32
	StructureInput      uint64
	StructureInputSize  uint32
	ScalarOutput        uint64
	ScalarOutputCount   uint32
	StructureOutput     uint64
	StructureOutputSize uint32
	// Raw has the unknown bytes, each at its own offset.
	Raw [ArgsBlockSize]byte
}

// Size returns ArgsBlockSize.
func (a *ArgsBlock) Size() int { return ArgsBlockSize }

// Encode writes a to b.
func (a *ArgsBlock) Encode(b []byte) error {
	if err := store("ArgsBlock", b, a.Raw[:]); err != nil {
		return err
	}
	put32(b, ArgsAsyncWakePort, a.AsyncWakePort)
	put64(b, ArgsScalarInput, a.ScalarInput)
	put32(b, ArgsScalarInputCount, a.ScalarInputCount)
	put64(b, ArgsStructureInput, a.StructureInput)
	put32(b, ArgsStructureInputSize, a.StructureInputSize)
	put64(b, ArgsScalarOutput, a.ScalarOutput)
	put32(b, ArgsScalarOutputCount, a.ScalarOutputCount)
	put64(b, ArgsStructureOutput, a.StructureOutput)
	put32(b, ArgsStructureOutputSize, a.StructureOutputSize)
	return nil
}

// Decode reads a from b.
func (a *ArgsBlock) Decode(b []byte) error {
	if err := load("ArgsBlock", a.Raw[:], b); err != nil {
		return err
	}
	raw := a.Raw[:]
	a.AsyncWakePort = take32(raw, ArgsAsyncWakePort)
	a.ScalarInput = take64(raw, ArgsScalarInput)
	a.ScalarInputCount = take32(raw, ArgsScalarInputCount)
	a.StructureInput = take64(raw, ArgsStructureInput)
	a.StructureInputSize = take32(raw, ArgsStructureInputSize)
	a.ScalarOutput = take64(raw, ArgsScalarOutput)
	a.ScalarOutputCount = take32(raw, ArgsScalarOutputCount)
	a.StructureOutput = take64(raw, ArgsStructureOutput)
	a.StructureOutputSize = take32(raw, ArgsStructureOutputSize)
	return nil
}

// Fields are the lines of listing 27.2. Widths are those of IOUserClient.h.
func (a *ArgsBlock) Fields() []Field {
	const t, header = "listing 27.2", "width from the public header IOUserClient.h"
	return []Field{
		{"asyncWakePort", ArgsAsyncWakePort, 4, t, header},
		{"scalarInput", ArgsScalarInput, 8, t, "read as a pointer; IOUserClient.h has asyncReference here"},
		{"scalarInputCount", ArgsScalarInputCount, 4, t, "read as 32 bits; IOUserClient.h has scalarInput here"},
		{"structureInput", ArgsStructureInput, 8, t, ""},
		{"structureInputSize", ArgsStructureInputSize, 4, t, header},
		{"scalarOutput", ArgsScalarOutput, 8, t, "read as a pointer, as in IOUserClient.h"},
		{"scalarOutputCount", ArgsScalarOutputCount, 4, t, header},
		{"structureOutput", ArgsStructureOutput, 8, t, header},
		{"structureOutputSize", ArgsStructureOutputSize, 4, t, header},
	}
}

// Unknown are the bytes that listing 27.2 leaves out.
func (a *ArgsBlock) Unknown() []Range { return gaps(ArgsBlockSize, a.Fields()) }
