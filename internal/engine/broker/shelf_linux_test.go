//go:build !macrules

package broker

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/access"
)

// rows is a program that multiplies rows by a weight of 128 KiB, all of which is value.
func rows(t *testing.T, n int, value float32) ane.Source {
	b := build.New(build.FilePerWeight())
	f := b.Func("main")
	x := f.Input("x", mil.FP16, n, 256)
	w := make([]float32, 256*256)
	for i := range w {
		w[i] = value
	}
	f.Output("y", f.Linear(x, f.Weight("w", w, 256, 256)))
	p, err := b.Program()
	require.NoError(t, err)
	return ane.Source{File: "rows.mil", Program: p.Program, Weights: p.Weights}
}

// Programs with the same weights share the memory that holds them, until the last one is closed; a broker that takes
// the place of another gets them from it.
func TestProgramsShareWeights(t *testing.T) {
	x, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	e := x.(*engine)
	d, err := ane.Open(x, "")
	require.NoError(t, err)
	compile := func(s ane.Source) (*ane.Model, *executable) {
		m, err := d.Compile(t.Context(), s)
		require.NoError(t, err)
		y, err := newUpload(s, e.shelf) // as the Model has it
		require.NoError(t, err)
		return m, &executable{upload: y}
	}
	one, first := compile(rows(t, 1, 0.5))
	many, second := compile(rows(t, 3, 0.5))
	other, third := compile(rows(t, 1, 0.25))
	require.Len(t, first.upload.files, 2)
	require.Same(t, first.upload.files[1], second.upload.files[1])
	require.NotSame(t, first.upload.files[1], third.upload.files[1])
	require.Len(t, e.shelf.have, 2)
	require.Equal(t, 4, first.upload.files[1].users, "two Models and two uploads")
	for _, u := range []*executable{first, second, third} {
		require.NoError(t, u.upload.close())
	}

	require.NoError(t, one.Close(t.Context()))
	run := func(m *ane.Model, want float32) *ane.Request {
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.Input("x").Set(4, 0, 7))
		_, err = r.Evaluate(t.Context())
		require.NoError(t, err)
		y, err := r.Output("y").At(0, 200)
		require.NoError(t, err)
		require.Equal(t, want, y)
		return r
	}
	r := run(many, 2)
	pid, _ := access.Address(r, access.Input, "x")
	signal(t, pid, unix.SIGKILL)
	ends(t, pid)
	require.NoError(t, r.Close())
	require.NoError(t, run(many, 2).Close())
	require.NoError(t, run(other, 1).Close())
	require.NoError(t, many.Close(t.Context()))
	require.Len(t, e.shelf.have, 1)
	require.NoError(t, other.Close(t.Context()))
	require.Empty(t, e.shelf.have)
	require.NoError(t, d.Close())
}

// A memfd counts whole for the upload that shares one file of it. A program that is within the limit by itself is sent
// without sharing where what it shares exceeds the limit.
func TestSharingKeepsWithinTheLimit(t *testing.T) {
	weights := func(values ...byte) (all [][]byte) {
		for _, v := range values {
			all = append(all, bytes.Repeat([]byte{v}, leastKept))
		}
		return all
	}
	s := newShelf(5 * leastKept)
	pack := func(values ...byte) *upload {
		u := &upload{shelf: s}
		all := weights(values...)
		var paths []string
		for i := range all {
			paths = append(paths, string(rune('a'+i)))
		}
		paths = append(paths, "missing")
		require.NoError(t, u.pack(paths, func(path string) ([][]byte, error) {
			if path == "missing" {
				return nil, fs.ErrNotExist
			}
			return [][]byte{all[path[0]-'a']}, nil
		}))
		size := 0
		for _, f := range u.files {
			size += f.size
		}
		require.LessOrEqual(t, size, s.limit)
		require.Len(t, u.request.Weights, len(values))
		for i, w := range u.request.Weights {
			at := slot{u.files[w.Descriptor], int(w.Offset)}
			got := make([]byte, w.Size)
			_, err := at.file.ReadAt(got, int64(at.offset))
			require.NoError(t, err)
			require.Equal(t, all[i], got, w.Name)
		}
		return u
	}
	one, two := pack(1, 2, 3), pack(4, 5, 6)
	again := pack(1, 2, 3, 7)
	require.Same(t, one.files[0], again.files[0])
	across := pack(3, 4)
	require.Len(t, across.files, 1)
	require.NotSame(t, one.files[0], across.files[0])
	for _, u := range []*upload{one, two, again, across} {
		require.NoError(t, u.close())
	}
	require.Empty(t, s.have)
}
