package soft_test

import (
	"testing"

	"github.com/anekit/anekit/internal/engine/soft/kernbench"
	"github.com/anekit/anekit/internal/measure"
)

// Kernels of the engine beside their floors.
func BenchmarkKernels(b *testing.B) { measure.Bench(b, kernbench.Kernels()) }

// Programs whose operators are fused beside the same unfused.
func BenchmarkFused(b *testing.B) { measure.Bench(b, kernbench.Fused()) }

// Products of float32 beside those of other libraries.
func BenchmarkPeers(b *testing.B) { unlessShort(b, kernbench.Peers) }

// Operators on shapes that networks have.
func BenchmarkShapes(b *testing.B) { unlessShort(b, kernbench.Shapes) }

// Packed weights.
func BenchmarkPacked(b *testing.B) { unlessShort(b, kernbench.Packed) }

func unlessShort(b *testing.B, cases func() []measure.Case) {
	if testing.Short() {
		b.Skip("takes a minute, or a GiB; run it without -short")
	}
	measure.Bench(b, cases())
}
