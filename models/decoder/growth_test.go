package decoder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// A session that reserves little doubles its room, and says what one says that has reserved all. Forks and snapshots
// take the room along.
func TestRoomGrows(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen3, Bits: 4, Seed: 7, Positions: 2048})
	require.NoError(t, err)
	const room = 1100
	whole := begin(t, load(t, engine.Soft, dir, WithForm(Compact), Context(room)))
	m := load(t, engine.Soft, dir, WithForm(Compact), Context(room), Reserve(1))
	s, err := m.NewSession(unimem.Warm())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.Equal(t, 1280, whole.Cache().Cap())
	require.Equal(t, kv.Step, s.Cache().Cap())
	small := m.Plan().CacheBytes

	all := text(room, 96, 3)
	same := func(a, b *Session) {
		t.Helper()
		require.True(t, slices.Equal(a.Tokens(), b.Tokens()))
		require.Equal(t, a.Next(nil), b.Next(nil))
		require.InDeltaSlice(t, a.Logits(), b.Logits(), 0.01)
	}
	var caps []int
	for _, part := range [][2]int{{0, 200}, {200, 240}, {240, 700}, {700, 1090}} {
		for _, x := range []*Session{whole, s} {
			require.NoError(t, x.Prefill(t.Context(), all[part[0]:part[1]]))
		}
		same(whole, s)
		caps = append(caps, s.Cache().Cap())
	}
	require.Equal(t, []int{256, 256, 1024, 1280}, caps)
	require.Positive(t, s.Cache().Copied())
	require.Greater(t, m.Plan().CacheBytes, 4*small)

	fork, err := s.Fork()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "talk.kv")
	require.NoError(t, s.SaveFile(t.Context(), path, Snapshot{Prompt: s.Tokens()}))
	fresh := begin(t, m)
	_, err = fresh.RestoreFile(t.Context(), path, all[:3])
	require.ErrorIs(t, err, ErrSnapshot, "another prompt")
	bytes, err := os.ReadFile(path)
	require.NoError(t, err)
	bytes[len(bytes)/2] ^= 1
	damaged := filepath.Join(t.TempDir(), "damaged.kv")
	require.NoError(t, os.WriteFile(damaged, bytes, 0o600))
	_, err = fresh.RestoreFile(t.Context(), damaged, nil)
	require.ErrorIs(t, err, kv.ErrCorrupt)
	require.Equal(t, kv.Step, fresh.Cache().Cap(), "only a whole snapshot of this prompt makes room")
	_, err = fresh.RestoreFile(t.Context(), path, nil)
	require.NoError(t, err)
	require.Equal(t, 1280, fresh.Cache().Cap())
	sessions := []*Session{whole, s, fork, fresh}
	for _, x := range sessions {
		for _, token := range all[1090:] {
			require.NoError(t, x.Step(t.Context(), token))
		}
		same(whole, x)
		require.ErrorIs(t, x.Step(t.Context(), 1), ErrTooLong)
	}
	for _, x := range sessions { // a large room serves few tokens
		require.NoError(t, x.Truncate(100))
		require.NoError(t, x.Step(t.Context(), 1))
		same(whole, x)
	}
	require.NoError(t, fork.Close())

	f, err := Open(dir)
	require.NoError(t, err)
	defer f.Close()
	_, err = Load(t.Context(), m.device, f, Reserve(-1))
	require.ErrorIs(t, err, ErrLimits)
	engines := load(t, engine.Soft, dir, WithForm(Engine), Context(512), Reserve(1))
	require.Equal(t, 512, begin(t, engines).Cache().Cap(), "the form of engines reserves all")
}

// Keys and values have the type that the scales of the key projection have, not that of packed integers.
func TestTypeOfKeysAndValues(t *testing.T) {
	for name, s := range map[string]decodertest.Spec{
		"packed, bf16": {Bits: 4}, "packed, fp16": {Bits: 8, DType: safetensors.F16}, "bf16": {},
		"fp32": {DType: safetensors.F32},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := open(t, engine.Soft, s, WithForm(Compact), Context(64))
			require.Equal(t, mil.FP16, begin(t, m).Cache().Config().DType)
		})
	}
}
