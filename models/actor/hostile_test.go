package actor

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/decodertest"
)

// What _initialize did is in the memory of a frozen guest, so that a thawed one is not initialized again: it would have
// open what it has closed, and could not be frozen any more.
func TestThawedGuestsAreNotInitializedAgain(t *testing.T) {
	ctx := context.Background()
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft).load(t, binaryOf(t, "testdata/opener.wasm"))
	a := start(t, c, Config{Prompt: prompt})
	path := filepath.Join(t.TempDir(), "a")
	require.ErrorIs(t, a.Freeze(ctx, path), ErrBusy, "the cache is open")
	require.Equal(t, []int{1}, say(t, a, 1))
	require.NoError(t, a.Freeze(ctx, path))
	b := thaw(t, c, path)
	require.Zero(t, b.Guest().Objects())
	require.Equal(t, []int{2}, say(t, b, 1))
	require.NoError(t, b.Freeze(ctx, path))
}

// A guest that trapped has half of a call in its memory.
func TestGuestsThatTrappedAreNotFrozen(t *testing.T) {
	ctx := context.Background()
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft).load(t, binaryOf(t, "testdata/opener.wasm"))
	a := start(t, c, Config{Prompt: prompt})
	say(t, a, 2)
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, a.Freeze(ctx, path))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = a.Next(ctx)
	require.ErrorIs(t, err, wasm.ErrTrap)
	err = a.Freeze(ctx, path)
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorIs(t, err, wasm.ErrTrap)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	_, err = thaw(t, c, path).Next(ctx)
	require.ErrorIs(t, err, wasm.ErrTrap, "as the one that was frozen")
}

// next has no parameters and one i32; another one is refused before the guest runs.
func TestNextHasOneResult(t *testing.T) {
	s := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft)
	for name, text := range map[string][]byte{
		"another name": oneFunction("\x00\x01\x7f", "last", "\x41\x05"),
		"no result":    oneFunction("\x00\x00", "next", ""),
		"i64":          oneFunction("\x00\x01\x7e", "next", "\x42\x05"),
		"f32":          oneFunction("\x00\x01\x7d", "next", "\x43\x00\x00\x00\x00"),
		"two results":  oneFunction("\x00\x02\x7f\x7f", "next", "\x41\x05\x41\x05"),
		"a parameter":  oneFunction("\x01\x7f\x01\x7f", "next", "\x41\x05"),
	} {
		_, err := s.load(t, text).Start(context.Background(), Config{Prompt: prompt})
		require.ErrorIs(t, err, ErrGuest, name)
		require.ErrorContains(t, err, "next", name)
		require.ErrorContains(t, err, "export next with no parameter and one i32 as its result", name)
	}
}

// A guest without a memory has a state all the same.
func TestAGuestWithoutMemoryIsFrozen(t *testing.T) {
	c := newStage(t, modelDir(t, decodertest.Spec{Seed: 1}), engine.Soft).load(t,
		oneFunction("\x00\x01\x7f", "next", "\x41\x05"))
	a := start(t, c, Config{Prompt: prompt})
	require.Equal(t, []int{5}, say(t, a, 1))
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, a.Freeze(context.Background(), path))
	b := thaw(t, c, path)
	require.Equal(t, []int{5}, b.Said())
	require.Equal(t, []int{5}, say(t, b, 1))

	require.ErrorContains(t, b.restore(&state{Size: 65536}), "the limit is 0", "memory for a guest that has none")
}
