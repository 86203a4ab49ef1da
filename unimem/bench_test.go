package unimem_test

import (
	"testing"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/membench"
)

// BenchmarkCases runs each operation beside its floor.
func BenchmarkCases(b *testing.B) { measure.Bench(b, membench.Cases()) }
