package unimem_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// The Block is exactly the owner's bytes, until Close, which returns them to the owner once.
func TestAdoptMemory(t *testing.T) {
	before := unimem.Live()
	mem := make([]byte, 100, 200)
	freed := 0
	b, err := unimem.AdoptMemory(mem, func() error { freed++; return nil }, unimem.Warm())
	require.NoError(t, err)
	require.Equal(t, before.Blocks+1, unimem.Live().Blocks)
	require.Equal(t, before.Bytes, unimem.Live().Bytes, "the owner counts the bytes")
	require.Equal(t, 100, b.Size())
	require.Equal(t, 100, cap(b.Bytes()), "no byte past the end")
	b.Bytes()[7] = 9
	require.Equal(t, byte(9), mem[7])
	require.Equal(t, "foreign", b.Backing())
	require.False(t, b.ReadOnly())
	require.Zero(t, b.Handle())
	require.False(t, b.Pinned())
	_, err = b.Share()
	require.ErrorIs(t, err, unimem.ErrShare)

	m, err := unimem.Map(b)
	require.NoError(t, err)
	require.Equal(t, b.Address(), addressOf(m.Bytes()))
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.Zero(t, freed, "a Block in use keeps its memory")
	require.NoError(t, m.Close())

	last := 0
	_, err = b.AtClose(func() { last = freed })
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	require.Zero(t, last, "the functions of AtClose precede free")
	require.Equal(t, 1, freed)
	require.Nil(t, b.Bytes())
	require.Equal(t, before.Blocks, unimem.Live().Blocks)
}

func TestAdoptMemoryKeys(t *testing.T) {
	mem := make([]byte, 64)
	a, err := unimem.AdoptMemory(mem, nil)
	require.NoError(t, err)
	b, err := unimem.AdoptMemory(mem, nil, unimem.ReadOnly())
	require.NoError(t, err)
	require.True(t, b.ReadOnly())
	require.NotEqual(t, a.ID(), b.ID())
	require.NotZero(t, a.Key())
	require.NoError(t, errors.Join(a.Close(), b.Close()))
	require.True(t, b.ReadOnly(), "Close does not change it")
}

// A refused call leaves the memory to its owner.
func TestAdoptMemoryRefused(t *testing.T) {
	never := func() error { t.Error("free was called"); return nil }
	for want, call := range map[error]func() (*unimem.Block, error){
		unimem.ErrZeroSize: func() (*unimem.Block, error) { return unimem.AdoptMemory(nil, never) },
		unimem.ErrPin: func() (*unimem.Block, error) {
			return unimem.AdoptMemory(make([]byte, 9), never, unimem.RequirePinned())
		},
		unimem.ErrOption: func() (*unimem.Block, error) {
			return unimem.AdoptMemory(make([]byte, 9), never, unimem.OnHeap())
		},
	} {
		_, err := call()
		require.ErrorIs(t, err, want)
	}
	for name, call := range map[string]func() error{
		"open":  func() error { _, err := unimem.Open(1, unimem.ReadOnly()); return err },
		"start": func() error { _, err := unimem.Start(1, unimem.ReadOnly()); return err },
		"grid":  func() error { _, err := unimem.NewGrid(64, 1, unimem.ReadOnly()); return err },
	} {
		require.ErrorIs(t, call(), unimem.ErrOption, name)
	}
}

// The owner's error and panic reach the caller of Close; the Block is closed in both cases.
func TestAdoptMemoryFreeFails(t *testing.T) {
	lost := errors.New("lost")
	before := unimem.Live().Blocks
	b, err := unimem.AdoptMemory(make([]byte, 9), func() error { return lost })
	require.NoError(t, err)
	err = b.Close()
	require.ErrorIs(t, err, unimem.ErrRelease)
	require.ErrorIs(t, err, lost)
	require.NoError(t, b.Close())

	b, err = unimem.AdoptMemory(make([]byte, 9), func() error { panic("gone") })
	require.NoError(t, err)
	require.PanicsWithValue(t, "gone", func() { _ = b.Close() })
	require.NoError(t, b.Close())
	require.Nil(t, b.Bytes())
	require.Equal(t, before, unimem.Live().Blocks)
}

// Memory of Open is never read-only, nor is no memory.
func TestReadOnlyOfNothing(t *testing.T) {
	require.False(t, (*unimem.Block)(nil).ReadOnly())
	require.False(t, new(unimem.Block).ReadOnly())
	b, err := unimem.Open(1)
	require.NoError(t, err)
	require.False(t, b.ReadOnly())
	require.NoError(t, b.Close())
}
