package driverabi

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Identifiers that are written come back, and nothing outside their places changes.
func FuzzSurfaces(f *testing.F) {
	f.Add(noise(SendRequestSize), []byte{1, 2, 3})
	f.Add(make([]byte, SendRequestSize), make([]byte, 129))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, in, ids []byte) {
		b := slices.Concat(in, make([]byte, SendRequestSize))[:SendRequestSize]
		require.LessOrEqual(t, len(Identifiers(Surfaces(b))), MaxSurfaces)
		before := bytes.Clone(b)
		want := []uint32{}
		for _, id := range ids[:min(len(ids), MaxSurfaces)] {
			want = append(want, uint32(id)<<24|1)
		}
		PutSurfaces(b, want)
		require.Equal(t, want, Identifiers(Surfaces(b)))
		clear(b[RequestSurfaces:][:4*MaxSurfaces])
		clear(before[RequestSurfaces:][:4*MaxSurfaces])
		require.Equal(t, before, b)
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
		d := NewDispatcher(methods, handlersOf(methods, func(any, *Args) error { ran = true; return Busy }))
		got := d.Call(nil, selector, &Args{ScalarIn: make([]uint64, scalarIn), StructIn: make([]byte, structIn),
			ScalarOut: make([]uint64, scalarOut), StructOut: make([]byte, structOut)})
		want := BadArgument
		if selector >= 0 && selector < len(methods) {
			m := methods[selector]
			sizes := [4]uint32{m.ScalarIn, m.StructIn, m.ScalarOut, m.StructOut}
			if sizes == [4]uint32{uint32(scalarIn), uint32(structIn), uint32(scalarOut), uint32(structOut)} {
				want = Busy
				if m.Disabled() {
					want = Unsupported
				}
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, want == Busy, ran)
	})
}

func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = r.Read(b) // it cannot fail
	return b
}
