package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// The strides of a tensor_buffer become those of the layout, in bytes; what a layout cannot express is refused.
func TestBufferLayout(t *testing.T) {
	buffer := func(strides, interleave []int, shape ...int) mil.Type {
		typ := mil.TensorOf(mil.FP16, shape...)
		typ.Kind, typ.Buffer = mil.TensorBuffer, &mil.Buffer{Strides: strides, Interleave: interleave}
		return typ
	}
	l, err := ane.BufferLayout("x", buffer([]int{4096, 64, 64, 1}, []int{1, 1, 1, 1}, 1, 64, 1, 40))
	require.NoError(t, err)
	require.Equal(t, []int{8192, 128, 128}, []int{l.BatchStride, l.PlaneStride, l.RowStride})
	require.Equal(t, 8192, l.Bytes())
	at, err := l.Offset(0, 3, 0, 2)
	require.NoError(t, err)
	require.Equal(t, 3*128+4, at)
	l, err = ane.BufferLayout("x", buffer(nil, nil, 1, 64, 1, 40))
	require.NoError(t, err)
	require.Equal(t, 128, l.RowStride, "as NewLayout")
	for name, c := range map[string]struct {
		t    mil.Type
		want string
	}{
		"interleave": {buffer([]int{64, 64, 64, 1}, []int{1, 4, 1, 1}, 1, 4, 1, 8), "interleave_factors [1 4 1 1]"},
		"last axis":  {buffer([]int{128, 32, 32, 2}, nil, 1, 4, 1, 8), "stride 2 of the last axis"},
		"overlap":    {buffer([]int{32, 4, 8, 1}, nil, 1, 4, 1, 8), "strides overlap"},
		"broadcast":  {buffer([]int{32, 0, 8, 1}, nil, 1, 4, 1, 8), "strides overlap"},
		"beyond":     {buffer([]int{1, 1 << 60, 8, 1}, nil, 1, 4, 1, 8), "stride 1152921504606846976 of axis 1"},
		"number":     {buffer([]int{1}, nil, 4, 8), "1 strides for 2 axes"},
	} {
		_, err := ane.BufferLayout("x", c.t)
		require.ErrorIs(t, err, ane.ErrShape, name)
		require.ErrorContains(t, err, c.want, name)
	}
	open := buffer(nil, nil, 1, 2)
	open.Dims[0] = mil.Dim{Symbol: "?"}
	_, err = ane.BufferLayout("x", open)
	require.ErrorIs(t, err, ane.ErrShape)
}
