package soft_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft"
)

// files are weights in memory.
type files map[string][]byte

func (f files) ReadFile(path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

const weighted = `program(1.3)
{
func main<ios18>(tensor<fp16, [4]> x) {
tensor<fp16, [4]> w = const()[val = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(OFFSET)))];
tensor<fp16, [4]> y = add(x = x, y = w);
} -> (y);
}`

// TestWeights reads an aligned entry, and one that starts at an odd byte, as
// some writers produce: its elements are unaligned in the file.
func TestWeights(t *testing.T) {
	w := nd{mil.FP16, []int{4}, []float64{1, 2, 3, 4}}
	var writer blob.Writer
	_, err := writer.Add(mil.FP16, encode(w), 0)
	require.NoError(t, err)
	good := writer.Bytes()
	unaligned := append(append(append([]byte{}, good[:64]...), 0), good[64:]...)
	le.PutUint64(unaligned[65+16:], 65+64)
	for offset, data := range map[string][]byte{"64": good, "65": unaligned} {
		dev, err := ane.Open(soft.New(), "")
		require.NoError(t, err)
		ctx := context.Background()
		src := files{"@model_path/w.bin": data}
		text := []byte(strings.Replace(weighted, "OFFSET", offset, 1))
		m, err := dev.Compile(ctx, ane.Source{Text: text, Weights: src})
		require.NoError(t, err)
		clear(data) // the model has its own copy
		require.NoError(t, m.Load(ctx))
		b := &bench{t: t, model: m, mem: memory{t: t, kind: 1}}
		r, out := b.bind(10)
		_, err = m.Evaluate(ctx, r)
		require.NoError(t, err)
		got := make([]float32, 4)
		_, err = out["y"].ReadFloat32(got)
		require.NoError(t, err)
		require.Equal(t, []float32{11, 12, 13, 14}, got)
		require.NoError(t, r.Close())
		require.NoError(t, m.Close(ctx))
		require.NoError(t, dev.Close())
		b.mem.close()
	}
}

// TestWeightsMissing: the error has the position of the BLOBFILE and the name
// of the file, and wraps its cause.
func TestWeightsMissing(t *testing.T) {
	dev, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	_, err = dev.Compile(context.Background(), ane.Source{File: "m.mil",
		Text: []byte(strings.Replace(weighted, "OFFSET", "64", 1)), Weights: files{}})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorIs(t, err, fs.ErrNotExist)
	var list mil.ErrorList
	require.True(t, errors.As(err, &list))
	require.Equal(t, mil.Pos{Line: 4, Col: 55}, list[0].Pos)
	require.Contains(t, err.Error(), "m.mil:4:55: weights @model_path/w.bin")
	require.NoError(t, dev.Close())
}
