//go:build cgo

package standin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// BenchmarkThroughTheBridge is a warm evaluation from Go through the bridge and
// the framework's classes to the server and back. The floor is only the server.
func BenchmarkThroughTheBridge(b *testing.B) {
	f, br := bridge(b)
	p := loadedProgram(b, br, addition)
	x, y := opened(b, plane, f.Surfaces()), opened(b, plane, f.Surfaces())
	in, out := wrapped(b, f, br, x), wrapped(b, f, br, y)
	r := requested(b, p, 0, []objcbridge.Binding{{Surface: in, Index: 0, Bytes: plane}, {Surface: in, Index: 1,
		Bytes: plane}}, []objcbridge.Binding{{Surface: out, Bytes: plane}})
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Evaluate(p, driverabi.QoSDefault); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThroughTheBridgeFloor(b *testing.B) {
	f := started(b)
	h, err := f.server.compile(write(b, map[string]string{"model.mil": addition}))
	require.NoError(b, err)
	x, y := opened(b, plane, f.Surfaces()), opened(b, plane, f.Surfaces())
	in, out := []uint32{x.ID(), x.ID()}, []uint32{y.ID()}
	b.ReportAllocs()
	for b.Loop() {
		if f.server.evaluate(h, 0, 1, in, out) != done {
			b.Fatal("failed")
		}
	}
	f.server.DropRequest(1)
	f.server.DropProgram(h)
}
