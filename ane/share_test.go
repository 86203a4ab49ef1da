package ane_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

func TestSharedTensorsSeeTheSameBytes(t *testing.T) {
	if !host.ShareByFD {
		t.Skip("only memory of Linux is shared by a descriptor")
	}
	for _, d := range storable {
		whole := onBlock(t, newLayout(t, "w", d, 2, 4, 3, 5))
		part, err := whole.Slice(1, 1, 3)
		require.NoError(t, err)
		part, err = part.Slice(3, 2, 4)
		require.NoError(t, err)
		for _, x := range []*ane.Tensor{whole, part} {
			memory, header, err := ane.ShareTensor(x)
			require.NoError(t, err)
			y, err := ane.AdoptTensor(memory, header)
			require.NoError(t, err)
			require.NoError(t, memory.Close())
			require.Equal(t, x.Layout(), y.Layout())
			require.Equal(t, x.Offset(), y.Offset())
			require.Len(t, y.Bytes(), len(x.Bytes()))
			require.NoError(t, x.Set(1, 1, 1, 2, 1))
			v, err := y.At(1, 1, 2, 1)
			require.NoError(t, err)
			require.Equal(t, float32(1), v)
			require.NoError(t, y.Set(0, 1, 1, 2, 1))
			v, err = x.At(1, 1, 2, 1)
			require.NoError(t, err)
			require.Zero(t, v)
			s, err := y.Slice(0, 1, 2)
			require.NoError(t, err)
			require.NoError(t, s.Set(1, 0, 0, 0, 0))
			v, err = x.At(1, 0, 0, 0)
			require.NoError(t, err)
			require.Equal(t, float32(1), v)
			require.NoError(t, y.Block().Close())
		}
	}
}

// An adopted tensor can be bound like any other.
func TestAdoptedTensorsAreBound(t *testing.T) {
	if !host.ShareByFD {
		t.Skip("only memory of Linux is shared by a descriptor")
	}
	m := model(t, adder(t))
	in, out := tensors(t, m.Inputs()), tensors(t, m.Outputs())
	memory, header, err := ane.ShareTensor(in["zeta"])
	require.NoError(t, err)
	defer memory.Close()
	in["zeta"], err = ane.AdoptTensor(memory, header)
	require.NoError(t, err)
	r, err := m.Bind(in, out)
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, in["zeta"].Block().Close(), unimem.ErrInUse)
	require.NoError(t, r.Close())
	require.NoError(t, in["zeta"].Block().Close())
}

func TestShareAndAdoptRefuse(t *testing.T) {
	_, _, err := ane.ShareTensor(nil)
	require.ErrorIs(t, err, ane.ErrStale)
	heap := onBlock(t, newLayout(t, "x", mil.FP16, 4), unimem.OnHeap())
	_, _, err = ane.ShareTensor(heap)
	require.ErrorIs(t, err, unimem.ErrShare)
	if !host.ShareByFD {
		return
	}
	memory, header, err := ane.ShareTensor(fp16On(t, 2, 2, 3))
	require.NoError(t, err)
	defer memory.Close()
	before := unimem.Live()
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{`{`, `[`, ane.ErrLength},
		{`"fp16"`, `"fp8"`, ane.ErrType},
		{`"Shape":[2,2,3]`, `"Shape":[2,2,4]`, ane.ErrShape},
		{`"Shape":[2,2,3]`, `"Shape":[2,2,3,1,1,1]`, ane.ErrShape},
		{`"Width":3`, `"Width":-3`, ane.ErrShape},
		{`"RowStride":64`, `"RowStride":4`, ane.ErrShape},
		{`"At":0`, `"At":-2`, ane.ErrOffset},
		{`"At":0`, `"At":1`, ane.ErrOffset},
		{`"Size":256`, `"Size":100`, ane.ErrShort},
		{`"Size":256`, `"Size":257`, ane.ErrShort},
		{`"At":0`, `"At":1048576`, unimem.ErrSize},
	} {
		bad := strings.Replace(string(header), c.from, c.to, 1)
		require.NotEqual(t, string(header), bad, c.from)
		_, err := ane.AdoptTensor(memory, []byte(bad))
		require.ErrorIs(t, err, c.want, c.to)
	}
	_, err = ane.AdoptTensor(nil, header)
	require.ErrorIs(t, err, unimem.ErrShare)
	require.Equal(t, before, unimem.Live())
}
