//go:build !macrules

package pages_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/pages"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func resident(t *testing.T, memory []byte) (n int64) {
	address := uint64(reflect.ValueOf(memory).Pointer())
	require.NoError(t, procmem.Mappings(0, func(m *procmem.Mapping) {
		if m.Start <= address && address < m.End {
			n = m.Resident
		}
	}))
	return n
}

// The pages leave the Block's mapping, pinned or not, and their bytes stay.
func TestDrop(t *testing.T) {
	leaktest.SkipEmulated(t) // which does not say what is resident
	const size = 1 << 20
	b, err := unimem.Open(size)
	require.NoError(t, err)
	defer b.Close()
	m, err := unimem.Map(b)
	require.NoError(t, err)
	defer m.Close()
	for i := range b.Bytes() {
		b.Bytes()[i] = byte(i % 251)
	}
	require.GreaterOrEqual(t, resident(t, b.Bytes()), int64(size))
	pages.Drop(b)
	require.Zero(t, resident(t, b.Bytes()))
	for i, v := range m.Bytes() {
		if v != byte(i%251) || b.Bytes()[i] != v {
			t.Fatalf("byte %d is %d", i, v)
		}
	}
}

// Memory of the heap has no other owner: its bytes stay where they are.
func TestDropLeavesTheHeap(t *testing.T) {
	b, err := unimem.Open(1<<16, unimem.OnHeap())
	require.NoError(t, err)
	defer b.Close()
	b.Bytes()[4097] = 7
	pages.Drop(b)
	require.EqualValues(t, 7, b.Bytes()[4097])
	pages.Drop(nil)
}

// The pages of a part of a file are in the mapping, and of a file that became shorter some are not.
func TestPopulate(t *testing.T) {
	leaktest.SkipEmulated(t) // which does not say what is resident
	const size = 1 << 20
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Write(make([]byte, size))
	require.NoError(t, err)
	b, err := unimem.MapFile(f)
	require.NoError(t, err)
	defer b.Close()
	require.True(t, pages.Populate(b, 5000, size-5000))
	require.GreaterOrEqual(t, resident(t, b.Bytes()), int64(size/16), "the system leaves out pages that are in use")
	require.True(t, pages.Populate(b, size, 0))
	pages.Release(b, 0, size)
	require.Zero(t, resident(t, b.Bytes()))
	require.True(t, pages.Populate(b, 60<<10, 130<<10), "neither begins nor ends with 64 KiB")
	require.GreaterOrEqual(t, resident(t, b.Bytes()), int64(130<<10/16))
	require.NoError(t, f.Truncate(size-4096))
	require.False(t, pages.Populate(b, 5000, size-5000))
	require.NoError(t, f.Truncate(8192))
	require.False(t, pages.Populate(b, 5000, size-5000))
}
