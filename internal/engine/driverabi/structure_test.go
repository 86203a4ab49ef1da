package driverabi

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// every structure with a codec, by name.
func every() map[string]func() Structure {
	out := map[string]func() Structure{
		"DispatchRecord": func() Structure { return new(DispatchRecord) },
		"ArgsBlock":      func() Structure { return new(ArgsBlock) },
	}
	for _, p := range Placements() {
		out[reflect.TypeOf(p.New()).Elem().Name()] = p.New
	}
	return out
}

// rest is the bytes of s that no field covers.
func rest(t testing.TB, s Structure) []byte {
	if r, ok := s.(*DispatchRecord); ok {
		return append(make([]byte, RecordReserved), r.Reserved[:]...)
	}
	raw := reflect.ValueOf(s).Elem().FieldByName("Raw")
	require.True(t, raw.IsValid())
	return raw.Bytes()
}

func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = r.Read(b) // it cannot fail
	return b
}

func TestSizes(t *testing.T) {
	want := map[string]int{ // tables 27.2 and 27.4, listings 27.2 and 27.4
		"DeviceInfo": 104, "SendRequest": 2376, "SendReply": 40, "ProgramCreate": 32, "ProgramPrepare": 56,
		"ProgramUnprepare": 56, "ProgramDestroy": 16, "Status": 32, "CreateInstance": 32, "ChainingPrepare": 16,
		"ChainingPrepareReply": 24, "DebugWorkProcessor": 24, "OutputSetEnqueue": 40, "InputsReady": 3104,
		"MemoryMap": 2080, "MemoryUnmap": 2080, "SessionHint": 16, "SessionHintReply": 24, "SetActiveProcedure": 32,
		"DispatchRecord": 40, "ArgsBlock": 0x60 + 4,
	}
	have := map[string]int{}
	for name, make := range every() {
		have[name] = make().Size()
	}
	require.Equal(t, want, have)
}

// Every other length is refused with the structure's name and both numbers, and neither
// the structure nor the buffer changes.
func TestLengths(t *testing.T) {
	for name, fresh := range every() {
		t.Run(name, func(t *testing.T) {
			s := fresh()
			require.NoError(t, s.Decode(noise(s.Size())))
			before := fresh()
			require.NoError(t, before.Decode(noise(s.Size())))
			for _, n := range []int{0, 1, s.Size() - 1, s.Size() + 1, s.Size() * 2} {
				b := bytes.Repeat([]byte{0xa5}, n)
				for _, err := range []error{s.Encode(b), s.Decode(b)} {
					require.ErrorIs(t, err, ErrSize)
					var e *Error
					require.ErrorAs(t, err, &e)
					require.Equal(t, name, e.Structure)
					require.EqualValues(t, s.Size(), e.Want)
					require.EqualValues(t, n, e.Have)
				}
				require.Equal(t, bytes.Repeat([]byte{0xa5}, n), b)
				require.Equal(t, before, s)
			}
			require.ErrorIs(t, s.Decode(nil), ErrSize)
			require.ErrorIs(t, s.Encode(nil), ErrSize)
		})
	}
}

// Encode after Decode gives the same bytes, Decode after Encode the same value.
func TestRoundTrip(t *testing.T) {
	for name, fresh := range every() {
		t.Run(name, func(t *testing.T) {
			in := noise(fresh().Size())
			s := fresh()
			require.NoError(t, s.Decode(in))
			out := make([]byte, len(in))
			require.NoError(t, s.Encode(out))
			require.Equal(t, in, out)
			again := fresh()
			require.NoError(t, again.Decode(out))
			require.Equal(t, s, again)
		})
	}
}

// A zero value is all zero bytes.
func TestZero(t *testing.T) {
	for name, fresh := range every() {
		b := noise(fresh().Size())
		require.NoError(t, fresh().Encode(b))
		require.Equal(t, make([]byte, len(b)), b, name)
	}
}

// Fields and unknown ranges part every structure: no byte in both, none in neither, and
// a byte shows up in Raw exactly if it is unknown.
func TestUnknownBytes(t *testing.T) {
	for name, fresh := range every() {
		t.Run(name, func(t *testing.T) {
			size := fresh().Size()
			owner := make([]string, size)
			claim := func(from, to int, field string) {
				for i := from; i < to; i++ {
					require.Empty(t, owner[i], "byte %#x of %s is also of %s", i, field, owner[i])
					owner[i] = field
				}
			}
			at := -1
			for _, f := range fresh().Fields() {
				require.NotEmpty(t, f.Source)
				require.Greater(t, f.Offset, at)
				at = f.Offset
				claim(f.Offset, f.Offset+f.Size, f.Name)
			}
			for _, r := range fresh().Unknown() {
				require.Less(t, r.Offset, r.End)
				claim(r.Offset, r.End, "unknown")
			}
			for i := range size {
				require.NotEmpty(t, owner[i], "byte %#x is in no range", i)
				b := make([]byte, size)
				b[i] = 0x80
				s := fresh()
				require.NoError(t, s.Decode(b))
				if owner[i] == "unknown" {
					require.Equal(t, b, rest(t, s), "byte %#x", i)
				} else {
					require.Equal(t, make([]byte, len(rest(t, s))), rest(t, s), "byte %#x of %s", i, owner[i])
				}
			}
		})
	}
}

func TestUnknownRangesOfTheTables(t *testing.T) {
	require.Equal(t, []Range{{0x1c, 0x48}, {0x54, 0x60}, {0x64, 0x68}}, new(DeviceInfo).Unknown())
	require.Equal(t, []Range{{0x0c, 0x10}, {0x18, 0x1c}, {0x20, 2376}}, new(SendRequest).Unknown())
	require.Equal(t, []Range{{0x10, 0x20}, {0x24, 0x28}}, new(SendReply).Unknown())
	require.Equal(t, []Range{{0x18, 0x28}}, new(DispatchRecord).Unknown())
	require.Equal(t, []Range{{0, 2080}}, new(MemoryMap).Unknown())
}

// A buffer is only read by Decode and only written by Encode: the value stays its own.
func TestNothingIsShared(t *testing.T) {
	for name, fresh := range every() {
		in := noise(fresh().Size())
		s := fresh()
		require.NoError(t, s.Decode(in))
		clear(in)
		out := make([]byte, len(in))
		require.NoError(t, s.Encode(out))
		require.Equal(t, noise(len(in)), out, name)
	}
}

func golden(t *testing.T, s Structure, want string) {
	t.Helper()
	b := make([]byte, s.Size())
	require.NoError(t, s.Encode(b))
	require.Equal(t, want, hex.EncodeToString(b[:len(want)/2]))
	require.Equal(t, make([]byte, len(b)-len(want)/2), b[len(want)/2:])
}

// The offsets and values of table 27.3.
func TestDeviceInfoGolden(t *testing.T) {
	d := &DeviceInfo{Callback: HandshakeBoardID, Context: 0xa1a2a3a4a5a6a7a8, Timeout: HandshakeTimeout}
	d.SetUsage(UsageStandard)
	header := "4444333322221111" + "a8a7a6a5a4a3a2a1" + "10270000" // +0x08, +0x10, +0x18
	golden(t, d, "0100000000000000"+header)
	out := d.Answer(0x1122334455667788, [2]uint32{HandshakeVersion, HandshakeVersionSecond}, HandshakeEngines,
		HandshakeCPUSubtype)
	golden(t, &out, "8877665544332211"+header+
		hex.EncodeToString(make([]byte, 0x48-0x1c))+
		"2000000000010000"+ // +0x48: 0x20 = 32, 256
		"01000000"+hex.EncodeToString(make([]byte, 12))+ // +0x50
		"04000000") // +0x60
	require.EqualValues(t, 0x2710, HandshakeTimeout)
}

func TestUsage(t *testing.T) {
	var d DeviceInfo
	require.NoError(t, d.Decode(bytes.Repeat([]byte{0xee}, 104)))
	d.SetUsage(UsageUnsupported)
	require.Equal(t, uint64(0xeeeeeeeeeeeeee02), d.Token, "the other seven bytes stay")
	require.Equal(t, UsageUnsupported, d.Usage())
	require.EqualValues(t, 1, UsageStandard)
	require.EqualValues(t, 2, UsageUnsupported)
	require.Equal(t, Success, UsageStandard.Check())
	require.Equal(t, Return(24), UsageUnsupported.Check())
	for _, u := range []UsageType{0, 3, 255} {
		require.Equal(t, BadArgument, u.Check())
	}
}

// An answer echoes every byte of the header.
func TestAnswerEchoes(t *testing.T) {
	var in DeviceInfo
	require.NoError(t, in.Decode(noise(104)))
	out := in.Answer(7, [2]uint32{32, 256}, 1, 4)
	b := make([]byte, 104)
	require.NoError(t, out.Encode(b))
	require.Equal(t, noise(104)[8:0x48], b[8:0x48])
}

// The offsets and values of table 27.6.
func TestSendRequestGolden(t *testing.T) {
	s := &SendRequest{Token: 0x1122334455667788, Sequence: 1, Priority: 5, QoS: 21, Category: 2}
	require.NoError(t, s.SetSurfaces(0xa0a1a2a3, 7))
	golden(t, s, "8877665544332211"+ // +0x000
		"01000000"+"00000000"+ // +0x008
		"05000000"+"15000000"+ // +0x010
		"00000000"+"02000000"+ // +0x01c
		"a3a2a1a007000000") // +0x020
	require.EqualValues(t, 5, ObservedPriority)
	require.EqualValues(t, 21, ObservedQoS)
	require.EqualValues(t, 2, IOCategory)
}

// The offsets of the text below table 27.6.
func TestSendReplyGolden(t *testing.T) {
	golden(t, &SendReply{Sequence: 1, Result: 2, Token: 0x1122334455667788, Status: 3},
		"01000000"+"02000000"+"8877665544332211"+hex.EncodeToString(make([]byte, 16))+"03000000")
}

func TestSurfaces(t *testing.T) {
	var s SendRequest
	require.Empty(t, s.Surfaces(nil))
	require.Len(t, s.SurfaceArea(), 2376-0x20)
	ids := make([]uint32, MaxSurfaces)
	for i := range ids {
		ids[i] = uint32(i + 1)
	}
	require.Equal(t, 128, MaxSurfaces)
	last := s.SurfaceArea()[4*MaxSurfaces:]
	last[0] = 0xee // right after the last place
	require.NoError(t, s.SetSurfaces(ids...))
	require.Equal(t, ids, s.Surfaces(nil), "full, and not one more")
	require.NoError(t, s.SetSurfaces(9))
	require.Equal(t, []uint32{3, 9}, s.Surfaces([]uint32{3}))
	require.EqualValues(t, 0xee, last[0])

	for _, bad := range [][]uint32{append(ids, 129), {0}, {1, 0, 2}} {
		err := s.SetSurfaces(bad...)
		require.ErrorIs(t, err, ErrRange)
		require.Equal(t, []uint32{9}, s.Surfaces(nil), "nothing written")
	}
	require.NoError(t, s.SetSurfaces())
	require.Empty(t, s.Surfaces(nil))
}

func TestSendDoesNotAllocate(t *testing.T) {
	var q SendRequest
	var r SendReply
	request, reply, ids := make([]byte, SendRequestSize), make([]byte, SendReplySize), make([]uint32, 0, MaxSurfaces)
	d, err := NewDispatcher(ControlMethods(), map[int]Handler{ControlSendRequest: func(_ any, a *Args) Return {
		if q.Decode(a.StructIn) != nil || r.Encode(a.StructOut) != nil {
			return BadArgument
		}
		return Success
	}})
	require.NoError(t, err)
	a := &Args{ScalarIn: make([]uint64, 1), StructIn: request, StructOut: reply}
	client, wrong := &door{}, &Args{}
	bad := false
	require.Zero(t, testing.AllocsPerRun(100, func() {
		bad = bad || q.SetSurfaces(1, 2, 3) != nil || q.Encode(request) != nil ||
			d.Call(client, ControlSendRequest, a) != Success || r.Decode(reply) != nil ||
			len(q.Surfaces(ids[:0])) != 3 || d.Call(client, ControlSendRequest, wrong) != BadArgument
	}))
	require.False(t, bad)
}
