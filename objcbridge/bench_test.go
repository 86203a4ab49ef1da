package objcbridge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// BenchmarkEvaluate runs a request through a bridge whose framework does
// nothing.
func BenchmarkEvaluate(b *testing.B) {
	p, r := fakeProgram(b, openFake(b))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Evaluate(p, driverabi.QoSDefault); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvaluateFloor calls a C function that does nothing.
func BenchmarkEvaluateFloor(b *testing.B) {
	nothing := emptyFunction(b)
	b.ReportAllocs()
	for b.Loop() {
		call(nothing)
	}
}

// emptyFunction returns a C function without a body.
func emptyFunction(b *testing.B) uintptr {
	handle, err := openLibrary(fakeBridge(b))
	require.NoError(b, err)
	nothing := findSymbol(handle, "fake_nothing")
	require.NotZero(b, nothing)
	return nothing
}
