//go:build !macrules

package server

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
)

// withEntry starts a broker whose cache has an entry, of a program that is no longer in memory, and returns the
// program, its key and the path of the entry.
func withEntry(t *testing.T) (b *broker, m models.Model, key, path string) {
	t.Helper()
	b = startBroker(t, Config{CacheDir: t.TempDir()})
	p := b.join(alice, "")
	m = model(t, "add")
	c, err := p.compile(m)
	require.NoError(t, err)
	p.close()
	eventually(t, "the program is gone from memory", func() bool { return b.live.Count() == 0 })
	files, err := filepath.Glob(filepath.Join(b.conf.CacheDir, alice.String()+"-"+c.Key+"*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return b, m, c.Key, files[0]
}

// TestRewrittenEntry: an entry whose content another process replaced is
// removed, counted and compiled again: 3 + 4 stays 7.
func TestRewrittenEntry(t *testing.T) {
	b, m, key, path := withEntry(t)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	evil := bytes.ReplaceAll(kept, []byte("add("), []byte("sub("))
	require.NotEqual(t, kept, evil)
	require.NoError(t, os.WriteFile(path, evil, 0o600))

	p := b.join(alice, "")
	_, err = p.byKey(key)
	require.ErrorIs(t, err, ane.ErrName)
	require.ErrorContains(t, err, "damaged")
	require.EqualValues(t, 1, p.counter(t, "cache entries damaged"))
	require.NoFileExists(t, path)
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	require.Equal(t, []float32{7}, sum(t, p, r))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, kept, again, "made again")
}

// TestSwollenEntry: an entry that a process made longer than the cache may be is removed, and charged to no client.
func TestSwollenEntry(t *testing.T) {
	b, m, key, path := withEntry(t)
	require.NoError(t, os.Truncate(path, 1<<40))

	p := b.join(alice, "")
	_, err := p.byKey(key)
	require.ErrorIs(t, err, ane.ErrName)
	require.EqualValues(t, 1, p.counter(t, "cache entries damaged"))
	_, err = p.compile(m)
	require.NoError(t, err)
}

// sum is what a program makes of tensors of threes and fours.
func sum(t *testing.T, p *peer, r *run) []float32 {
	t.Helper()
	for i, v := range []float32{3, 4} {
		values := make([]float32, r.in[i].Layout().Elements())
		for j := range values {
			values[j] = v
		}
		_, err := r.in[i].WriteFloat32(values)
		require.NoError(t, err)
	}
	require.NoError(t, p.evaluate(r, 0))
	values := make([]float32, r.out[0].Layout().Elements())
	_, err := r.out[0].ReadFloat32(values)
	require.NoError(t, err)
	return slices.Compact(values)
}

func TestCacheThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	b := startBroker(t, Config{CacheDir: filepath.Join(file, "cache")})
	p := b.join(alice, "")
	_, err := p.compile(model(t, "conv-3x3"))
	require.NoError(t, err)
}
