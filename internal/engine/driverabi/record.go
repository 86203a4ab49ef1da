package driverabi

import "encoding/binary"

// DispatchRecordSize is the stride of a dispatch array (listing 27.4).
const DispatchRecordSize = 40

// Offsets in a dispatch record (listing 27.4).
const (
	RecordFunction  = 0x00
	RecordScalarIn  = 0x08
	RecordStructIn  = 0x0c
	RecordScalarOut = 0x10
	RecordStructOut = 0x14
	RecordReserved  = 0x18
)

// RecordReservedSize is the length of the reserved bytes, which hold the debug
// work-processor group flag (listing 27.4). The public header IOUserClient.h has
// allowAsync and checkEntitlement there.
const RecordReservedSize = 0x10

// DispatchRecord is one IOExternalMethodDispatch2022 (listing 27.4).
type DispatchRecord struct {
	Function  uint64 // pointer-authenticated handler
	ScalarIn  uint32
	StructIn  uint32
	ScalarOut uint32
	StructOut uint32
	Reserved  [RecordReservedSize]byte // unknown, kept as it came
}

// Size returns DispatchRecordSize.
func (r *DispatchRecord) Size() int { return DispatchRecordSize }

// Encode writes r to b.
func (r *DispatchRecord) Encode(b []byte) error {
	if err := sized("DispatchRecord", DispatchRecordSize, len(b)); err != nil {
		return err
	}
	put64(b, RecordFunction, r.Function)
	put32(b, RecordScalarIn, r.ScalarIn)
	put32(b, RecordStructIn, r.StructIn)
	put32(b, RecordScalarOut, r.ScalarOut)
	put32(b, RecordStructOut, r.StructOut)
	copy(b[RecordReserved:], r.Reserved[:])
	return nil
}

// Decode reads r from b.
func (r *DispatchRecord) Decode(b []byte) error {
	if err := sized("DispatchRecord", DispatchRecordSize, len(b)); err != nil {
		return err
	}
	le := binary.LittleEndian
	r.Function = le.Uint64(b[RecordFunction:])
	r.ScalarIn = le.Uint32(b[RecordScalarIn:])
	r.StructIn = le.Uint32(b[RecordStructIn:])
	r.ScalarOut = le.Uint32(b[RecordScalarOut:])
	r.StructOut = le.Uint32(b[RecordStructOut:])
	copy(r.Reserved[:], b[RecordReserved:])
	return nil
}

// Fields are the members of listing 27.4 but the reserved bytes.
func (r *DispatchRecord) Fields() []Field {
	const t = "listing 27.4"
	return []Field{
		{"function", RecordFunction, 8, t, ""},
		{"checkScalarInputCount", RecordScalarIn, 4, t, ""},
		{"checkStructureInputSize", RecordStructIn, 4, t, ""},
		{"checkScalarOutputCount", RecordScalarOut, 4, t, ""},
		{"checkStructureOutputSize", RecordStructOut, 4, t, ""},
	}
}

// Unknown is the reserved bytes.
func (r *DispatchRecord) Unknown() []Range { return gaps(DispatchRecordSize, r.Fields()) }

// Record is the dispatch record of m, with function as its handler.
func (m Method) Record(function uint64) DispatchRecord {
	return DispatchRecord{Function: function,
		ScalarIn: m.ScalarIn, StructIn: m.StructIn, ScalarOut: m.ScalarOut, StructOut: m.StructOut}
}

// DecodeRecords reads a dispatch array. A length that is not a multiple of
// DispatchRecordSize is an *Error matching ErrSize.
func DecodeRecords(b []byte) ([]DispatchRecord, error) {
	n := len(b) / DispatchRecordSize
	if len(b)%DispatchRecordSize != 0 {
		return nil, &Error{Structure: "dispatch array", Want: uint64(n+1) * DispatchRecordSize, Have: uint64(len(b)),
			Err: ErrSize, Hint: "pass whole records"}
	}
	out := make([]DispatchRecord, n)
	for i := range out {
		if err := out[i].Decode(b[i*DispatchRecordSize:][:DispatchRecordSize]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EncodeRecords returns the dispatch array of records.
func EncodeRecords(records []DispatchRecord) ([]byte, error) {
	out := make([]byte, len(records)*DispatchRecordSize)
	for i := range records {
		if err := records[i].Encode(out[i*DispatchRecordSize:][:DispatchRecordSize]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
