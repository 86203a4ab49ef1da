//go:build linux && cgo

package dynamic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

func BenchmarkAdopt(b *testing.B) {
	s := open(b)
	block, err := unimem.Open(1, s.Option())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		a, err := s.Adopt(block.ID(), page)
		if err != nil || a.Close() != nil {
			b.Fatal("adopting or closing failed: ", err)
		}
	}
	require.NoError(b, block.Close())
}

// The floor: the calls of the library that adopting and closing need.
func BenchmarkAdoptFloor(b *testing.B) {
	s := open(b)
	block, err := unimem.Open(1, s.Option())
	require.NoError(b, err)
	table, err := dynamic.Load(s.path, s.path)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		ref := table.Lookup(block.ID())
		table.Lock(ref, 0)
		table.GetBaseAddress(ref)
		table.GetAllocSize(ref)
		table.Unlock(ref, 0)
		table.Release(ref)
	}
	require.NoError(b, block.Close())
}
