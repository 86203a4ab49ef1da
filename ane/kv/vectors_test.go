package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// Whatever number of bytes a call moves, the next one begins with those after them.
func TestWhole(t *testing.T) {
	broken := errors.New("broken")
	for step := 1; step < 9; step++ {
		for _, fails := range []int{-1, 0, 3} {
			var got []byte
			parts := [][]byte{[]byte("a"), []byte("bcd"), []byte("efghijk"), []byte("lm")}
			err := whole(parts, func(parts [][]byte) (int, error) {
				if fails >= 0 && len(got) >= fails {
					return 0, broken
				}
				left := bytes.Join(parts, nil)
				n := min(step, len(left))
				got = append(got, left[:n]...)
				return n, nil
			})
			if fails < 0 {
				require.NoError(t, err)
				require.Equal(t, "abcdefghijklm", string(got))
			} else {
				require.ErrorIs(t, err, broken)
			}
		}
	}
	err := whole([][]byte{{1}}, func([][]byte) (int, error) { return 0, nil })
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "no progress")
}

// More parts than a call of the system takes, and a file that ends among them.
func TestVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := system{}.create(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var parts, into [][]byte
	var all bytes.Buffer
	for i := range 2*maxPieces + 7 {
		b := fmt.Appendf(nil, "%0*d", 1+i%9, i)
		parts, into = append(parts, b), append(into, make([]byte, len(b)))
		all.Write(b)
	}
	v, ok := f.(vectored)
	if !ok {
		t.Skip("this system's files move one part after another")
	}
	require.NoError(t, v.writev(parts))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, all.String(), string(written))

	r, _, err := system{}.open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	v = r.(vectored)
	require.NoError(t, v.readv(append([][]byte{}, into...), 0))
	require.Equal(t, all.String(), string(bytes.Join(into, nil)))
	err = v.readv(append([][]byte{}, into...), 1)
	require.True(t, errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF), "%v", err)
	require.Error(t, v.writev([][]byte{{1}}), "a file that was opened to be read")
}

// A cache without tokens has snapshots without them, however its rows are padded and whatever way they would take.
func TestSnapshotsWithoutTokens(t *testing.T) {
	for _, dim := range []int{500, 513, 8193, 131073} {
		c, err := New(Config{Layers: 2, Heads: 2, HeadDim: dim, Context: 1, DType: mil.FP16})
		require.NoError(t, err)
		defer c.Close()
		var b bytes.Buffer
		require.NoError(t, c.Save(&b, Fingerprint{}))
		require.Less(t, b.Len(), 1024, "%d", dim)
		more := bytes.NewReader(append(bytes.Clone(b.Bytes()), "next"...))
		require.NoError(t, c.Restore(more, Fingerprint{}))
		require.Equal(t, 4, more.Len(), "%d: what follows the snapshot", dim)
		path := filepath.Join(t.TempDir(), "none.kv")
		require.NoError(t, c.SaveFile(path, Fingerprint{}))
		require.NoError(t, c.RestoreFile(path, Fingerprint{}), "%d", dim)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, b.Bytes(), data, "%d", dim)
	}
}
