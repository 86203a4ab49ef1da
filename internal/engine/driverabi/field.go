package driverabi

import "encoding/binary"

// Field32 is the offset of a field of 32 bits in a structure.
type Field32 int

// Get reads the field from the bytes of its structure.
func (at Field32) Get(b []byte) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// Put writes the field to the bytes of its structure.
func (at Field32) Put(b []byte, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }

// Field64 is the offset of a field of 64 bits in a structure.
type Field64 int

// Get reads the field from the bytes of its structure.
func (at Field64) Get(b []byte) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// Put writes the field to the bytes of its structure.
func (at Field64) Put(b []byte, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }

// Fields of IOExternalMethodArguments, the same for all 26 selectors (listing 27.2); the
// structure goes on after them. Widths are those of the public header IOUserClient.h,
// which agrees with the listing but in two places: it has asyncReference at +0x10, with
// its count at +0x18, and scalarInput at +0x20, with its count at +0x28.
const (
	ArgsAsyncWakePort       Field32 = 0x08
	ArgsScalarInput         Field64 = 0x10 // also leads to the asynchronous reference of 0x20 bytes
	ArgsScalarInputCount    Field32 = 0x20
	ArgsStructureInput      Field64 = 0x30
	ArgsStructureInputSize  Field32 = 0x38
	ArgsScalarOutput        Field64 = 0x48
	ArgsScalarOutputCount   Field32 = 0x50
	ArgsStructureOutput     Field64 = 0x58
	ArgsStructureOutputSize Field32 = 0x60
)

// Fields of IOExternalMethodDispatch2022, an element of a dispatch array (listing 27.4).
// From +0x18 on it has 16 reserved bytes, which hold the debug work-processor group flag;
// IOUserClient.h has allowAsync and checkEntitlement there.
const (
	RecordFunction  Field64 = 0x00 // pointer-authenticated handler
	RecordScalarIn  Field32 = 0x08
	RecordStructIn  Field32 = 0x0c
	RecordScalarOut Field32 = 0x10
	RecordStructOut Field32 = 0x14
)

// DispatchRecordSize is the stride of a dispatch array (listing 27.4).
const DispatchRecordSize = 40
