package driverabi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The offsets of listing 27.4.
func TestDispatchRecordGolden(t *testing.T) {
	require.Equal(t, []int{0x00, 0x08, 0x0c, 0x10, 0x14, 0x18},
		[]int{RecordFunction, RecordScalarIn, RecordStructIn, RecordScalarOut, RecordStructOut, RecordReserved})
	require.Equal(t, 0x10, RecordReservedSize)
	require.Equal(t, 40, DispatchRecordSize)
	r := ControlMethods()[ControlSendRequest].Record(0x1122334455667788)
	r.Reserved[0], r.Reserved[15] = 0xaa, 0xbb
	golden(t, &r, "8877665544332211"+"01000000"+"48090000"+"00000000"+"28000000"+
		"aa0000000000000000000000000000bb")
}

func TestDispatchArray(t *testing.T) {
	for client, methods := range tables() {
		var in []DispatchRecord
		for i, m := range methods() {
			in = append(in, m.Record(uint64(i)<<32|1))
		}
		b, err := EncodeRecords(in)
		require.NoError(t, err)
		require.Len(t, b, len(in)*40, client)
		for i := range in { // the stride
			var r DispatchRecord
			require.NoError(t, r.Decode(b[40*i:40*i+40]))
			require.Equal(t, in[i], r)
		}
		out, err := DecodeRecords(b)
		require.NoError(t, err)
		require.Equal(t, in, out)
		for _, n := range []int{1, 39, 41, len(b) - 1} {
			_, err := DecodeRecords(b[:n])
			require.ErrorIs(t, err, ErrSize)
		}
	}
	out, err := DecodeRecords(nil)
	require.NoError(t, err)
	require.Empty(t, out)
}

// The offsets of listing 27.2.
func TestArgsBlockGolden(t *testing.T) {
	require.Equal(t, []int{0x08, 0x10, 0x20, 0x30, 0x38, 0x48, 0x50, 0x58, 0x60},
		[]int{ArgsAsyncWakePort, ArgsScalarInput, ArgsScalarInputCount, ArgsStructureInput, ArgsStructureInputSize,
			ArgsScalarOutput, ArgsScalarOutputCount, ArgsStructureOutput, ArgsStructureOutputSize})
	require.Equal(t, 0x20, AsyncReferenceSize)
	a := &Args{AsyncPort: 0x707, ScalarIn: make([]uint64, 1), StructIn: make([]byte, 2376),
		ScalarOut: make([]uint64, 3),
		StructOut: make([]byte, 40)}
	b, err := a.Block(0x1111, 0x2222, 0x3333, 0x4444)
	require.NoError(t, err)
	golden(t, &b, "0000000000000000"+
		"07070000"+"00000000"+ // +0x08
		"1111000000000000"+"0000000000000000"+ // +0x10
		"01000000"+"00000000"+"0000000000000000"+ // +0x20
		"2222000000000000"+ // +0x30
		"48090000"+"00000000"+"0000000000000000"+ // +0x38
		"3333000000000000"+ // +0x48
		"03000000"+"00000000"+ // +0x50
		"4444000000000000"+ // +0x58
		"28000000") // +0x60
}

func TestArgsBlockRange(t *testing.T) {
	for _, port := range []uint64{math.MaxUint32 + 1, math.MaxUint64} {
		_, err := (&Args{AsyncPort: port}).Block(0, 0, 0, 0)
		require.ErrorIs(t, err, ErrRange)
		require.ErrorContains(t, err, "ArgsBlock port")
	}
	b, err := (&Args{AsyncPort: math.MaxUint32}).Block(0, 0, 0, 0)
	require.NoError(t, err)
	require.EqualValues(t, math.MaxUint32, b.AsyncWakePort)
}
