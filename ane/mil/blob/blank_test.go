package blob_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

func TestBlank(t *testing.T) {
	needs := []blob.Need{
		{Offset: 256, Type: mil.TensorOf(mil.Int4, 3)},
		{Offset: 64, Type: mil.TensorOf(mil.FP16, 2, 4)},
		{Offset: 256, Type: mil.TensorOf(mil.Int4, 3)},
	}
	data, err := blob.Blank("w.bin", 1<<20, needs)
	require.NoError(t, err)
	f, err := blob.NewReader(bytes.NewReader(data), int64(len(data)), "w.bin")
	require.NoError(t, err)
	for _, n := range needs {
		got, err := f.Tensor(n.Offset, n.Type)
		require.NoError(t, err)
		size, err := n.Bytes()
		require.NoError(t, err)
		require.Equal(t, make([]byte, size), got)
	}
	require.Empty(t, f.Warnings())
	empty, err := blob.Blank("w.bin", 64, nil)
	require.NoError(t, err)
	require.Len(t, empty, 64)
}

func TestBlankRefuses(t *testing.T) {
	four := mil.TensorOf(mil.FP16, 4)
	for name, c := range map[string]struct {
		want  error
		needs []blob.Need
	}{
		"header":  {blob.ErrOffset, []blob.Need{{Offset: 0, Type: four}}},
		"overlap": {blob.ErrEntry, []blob.Need{{Offset: 64, Type: four}, {Offset: 128, Type: four}}},
		"two types": {blob.ErrEntry, []blob.Need{{Offset: 64, Type: four},
			{Offset: 64, Type: mil.TensorOf(mil.FP32, 4)}}},
		"far away":   {blob.ErrSize, []blob.Need{{Offset: 1 << 40, Type: four}}},
		"wraps":      {blob.ErrSize, []blob.Need{{Offset: math.MaxUint64, Type: four}}},
		"large":      {blob.ErrSize, []blob.Need{{Offset: 64, Type: mil.TensorOf(mil.FP16, 1<<30)}}},
		"beyond all": {blob.ErrSize, []blob.Need{{Offset: 64, Type: mil.TensorOf(mil.FP32, 1<<31, 1<<30)}}},
		"no shape": {blob.ErrType, []blob.Need{{Offset: 64,
			Type: mil.Type{Kind: mil.Tensor, DType: mil.FP16, Dims: []mil.Dim{{Symbol: "?"}}}}}},
		"no type": {blob.ErrType, []blob.Need{{Offset: 64, Type: mil.TensorOf(mil.String, 4)}}},
	} {
		_, err := blob.Blank("w.bin", 1<<20, c.needs)
		var e *blob.Error
		require.ErrorAs(t, err, &e, name)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, "w.bin", e.File)
	}
}
