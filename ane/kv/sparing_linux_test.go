//go:build !macrules

package kv_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// residentOf is the bytes of the cache's own mappings that are resident.
func residentOf(t *testing.T, c *kv.Cache) (n int64) {
	t.Helper()
	starts := map[uint64]bool{}
	for layer := range c.Config().Layers {
		for _, of := range []func(int) []byte{
			func(i int) []byte { return c.Keys(i).Block().Bytes() },
			func(i int) []byte { return c.Values(i).Block().Bytes() },
		} {
			starts[uint64(reflect.ValueOf(of(layer)).Pointer())] = true
		}
	}
	require.NoError(t, procmem.Mappings(0, func(m *procmem.Mapping) {
		for start := range starts {
			if m.Start <= start && start < m.End {
				n += m.Resident
			}
		}
	}))
	return n
}

// A sparing cache keeps none of the pages that a long Append, Save or Restore has touched, and no more than those of
// some tokens that came one by one. Its tokens are those of any cache. Options of the memory leave it as it is.
func TestSparing(t *testing.T) {
	leaktest.SkipEmulated(t) // which does not say what is resident
	const layers, tokens = 2, 256
	fill := func(sparing bool, opts ...unimem.Option) (*kv.Cache, []byte) {
		c, err := kv.New(kv.Config{Layers: layers, Heads: 2, HeadDim: 64, Context: 1024, Sparing: sparing}, opts...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		b := make([]byte, tokens*2*64*2)
		for i := range b {
			b[i] = byte(i % 249)
		}
		for layer := range layers {
			require.NoError(t, c.Append(layer, b, b))
		}
		require.NoError(t, c.Advance(tokens))
		return c, b
	}
	saved := func(c *kv.Cache) []byte {
		var b bytes.Buffer
		require.NoError(t, c.Save(&b, kv.Fingerprint{Model: "m"}))
		return b.Bytes()
	}
	plain, _ := fill(false)
	lean, b := fill(true)
	warm, _ := fill(true, unimem.Warm())
	require.NotZero(t, residentOf(t, plain))
	require.NotZero(t, residentOf(t, warm))
	require.Zero(t, residentOf(t, lean))
	require.Equal(t, saved(plain), saved(lean))
	require.Zero(t, residentOf(t, lean))

	token := b[:2*64*2]
	for range 200 {
		for layer := range layers {
			require.NoError(t, lean.Append(layer, token, token))
			require.NoError(t, plain.Append(layer, token, token))
		}
		require.NoError(t, lean.Advance(1))
		require.NoError(t, plain.Advance(1))
	}
	require.Less(t, residentOf(t, lean), residentOf(t, plain)/2)
	whole := saved(plain)
	require.Equal(t, whole, saved(lean))
	require.NoError(t, lean.Restore(bytes.NewReader(whole), kv.Fingerprint{Model: "m"}))
	require.Zero(t, residentOf(t, lean))
	require.Equal(t, whole, saved(lean))

	lean.Clear() // read into directly, through the second mapping
	bad := bytes.Clone(whole)
	bad[len(bad)/2]++
	require.ErrorIs(t, lean.Restore(bytes.NewReader(bad), kv.Fingerprint{Model: "m"}), kv.ErrCorrupt)
	require.ErrorIs(t, lean.Restore(bytes.NewReader(whole[:len(whole)/2]), kv.Fingerprint{Model: "m"}), kv.ErrCorrupt)
	require.Zero(t, lean.Len())
	require.NoError(t, lean.Restore(bytes.NewReader(whole), kv.Fingerprint{Model: "m"}))
	require.Zero(t, residentOf(t, lean))
	require.Equal(t, whole, saved(lean))

	// The file of the memory takes the place of pages that do not exist yet, the mapping of an engine that of others.
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, lean.SaveFile(path, kv.Fingerprint{Model: "m"}))
	onDisk, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, whole, onDisk)
	fresh, err := kv.New(kv.Config{Layers: layers, Heads: 2, HeadDim: 64, Context: 1024, Sparing: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fresh.Close()) })
	engine, err := unimem.Map(fresh.Values(1).Block())
	require.NoError(t, err)
	defer engine.Close()
	for range 2 {
		require.NoError(t, fresh.RestoreFile(path, kv.Fingerprint{Model: "m"}))
		require.Zero(t, residentOf(t, fresh))
		require.Equal(t, whole, saved(fresh))
		require.Equal(t, plain.Values(1).Block().Bytes(), engine.Bytes())
		fresh.Clear()
		clear(engine.Bytes())
	}
}
