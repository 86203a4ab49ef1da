package driverabi

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every decoder: bytes of the right length come back as they were, the value decodes to
// itself, and every other length is refused.
func FuzzStructures(f *testing.F) {
	all := every()
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		f.Add(uint8(i), noise(all[name]().Size()))
		f.Add(uint8(i), make([]byte, all[name]().Size()))
		f.Add(uint8(i), noise(all[name]().Size()-1))
	}
	f.Fuzz(func(t *testing.T, which uint8, in []byte) {
		fresh := all[names[int(which)%len(names)]]
		s := fresh()
		if len(in) != s.Size() {
			require.ErrorIs(t, s.Decode(in), ErrSize)
			require.Equal(t, fresh(), s)
			in = slices.Concat(in, make([]byte, s.Size()))[:s.Size()]
		}
		require.NoError(t, s.Decode(in))
		out := noise(len(in))
		require.NoError(t, s.Encode(out))
		require.Equal(t, in, out)
		again := fresh()
		require.NoError(t, again.Decode(out))
		require.Equal(t, s, again)
	})
}

func FuzzDispatchArray(f *testing.F) {
	f.Add([]byte{})
	f.Add(noise(40))
	f.Add(noise(17 * 40))
	f.Add(noise(41))
	f.Fuzz(func(t *testing.T, in []byte) {
		records, err := DecodeRecords(in)
		if len(in)%40 != 0 {
			require.ErrorIs(t, err, ErrSize)
			return
		}
		require.NoError(t, err)
		require.Len(t, records, len(in)/40)
		out, err := EncodeRecords(records)
		require.NoError(t, err)
		require.Equal(t, in, append([]byte{}, out...))
	})
}

// Identifiers that are written come back, and nothing outside their places changes.
func FuzzSurfaces(f *testing.F) {
	f.Add(noise(SendRequestSize), []byte{1, 2, 3})
	f.Add(make([]byte, SendRequestSize), make([]byte, 129))
	f.Fuzz(func(t *testing.T, in, ids []byte) {
		var s SendRequest
		require.NoError(t, s.Decode(slices.Concat(in, make([]byte, SendRequestSize))[:SendRequestSize]))
		require.LessOrEqual(t, len(s.Surfaces(nil)), MaxSurfaces)
		before := s
		var want []uint32
		for _, id := range ids {
			want = append(want, uint32(id)*0x01010101)
		}
		err := s.SetSurfaces(want...)
		if len(want) > MaxSurfaces || slices.Contains(want, 0) {
			require.ErrorIs(t, err, ErrRange)
			require.Equal(t, before, s)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, s.Surfaces(nil))
		out := make([]byte, SendRequestSize)
		require.NoError(t, s.Encode(out))
		sameFields(t, &s, out)
		clear(s.Raw[0x20:][:4*MaxSurfaces])
		clear(before.Raw[0x20:][:4*MaxSurfaces])
		require.Equal(t, before, s)
	})
}

// A handler runs for the exact sizes and for no others.
func FuzzCall(f *testing.F) {
	f.Add(true, 2, uint16(1), uint16(2376), uint16(0), uint16(40))
	f.Add(true, 16, uint16(3), uint16(0), uint16(0), uint16(0))
	f.Add(false, 5, uint16(1), uint16(2080), uint16(1), uint16(0))
	f.Add(false, 9, uint16(0), uint16(0), uint16(0), uint16(0))
	f.Add(false, -1, uint16(0), uint16(0), uint16(0), uint16(65535))
	f.Fuzz(func(t *testing.T, control bool, selector int, scalarIn, structIn, scalarOut, structOut uint16) {
		methods := DirectMethods()
		if control {
			methods = ControlMethods()
		}
		ran := false
		d, err := NewDispatcher(methods, handlersOf(methods, func(any, *Args) Return { ran = true; return Busy }))
		require.NoError(t, err)
		got := d.Call(nil, selector, &Args{ScalarIn: make([]uint64, scalarIn), StructIn: make([]byte, structIn),
			ScalarOut: make([]uint64, scalarOut), StructOut: make([]byte, structOut)})
		want := BadArgument
		if selector >= 0 && selector < len(methods) {
			m := methods[selector]
			sizes := [4]uint32{m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut}
			if sizes == [4]uint32{uint32(scalarIn), uint32(structIn), uint32(scalarOut), uint32(structOut)} {
				want = Busy
				if m.Disabled {
					want = Unsupported
				}
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, want == Busy, ran)
	})
}
