package weights_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/unimem/safetensors"
)

// beyond are 32 float32 with two beyond fp16, a NaN and an infinity, which fp16 has.
func beyond() (b []byte) {
	for i := range 32 {
		f := map[int]float64{3: 1e9, 4: -70000, 9: math.NaN(), 31: math.Inf(-1)}[i]
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
	}
	return b
}

// Elements that become infinite or NaN on their way to fp16 are refused by every way, with their tensor or weight;
// Files may allow them, and the Receipt has their number.
func TestNumbersBeyondFloat16(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("lin.w", safetensors.F32, []int{1, 32}, beyond()))
	require.NoError(t, w.Close())
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	names := func(string) string { return "lin.w" }
	d := device(t, engine.Soft)
	const counted = "become infinite: 2, NaN: 1, of 32; the first, at index 3, is 1e+09"

	row := mil.TensorOf(mil.FP16, 1, 32)
	program := func(weight func(*build.Func) build.Value) *build.Program {
		b := build.New()
		main := b.Func("main")
		main.Output("y", main.Add(main.Input("x", build.FP16, 1, 32), weight(main)))
		p, err := b.Program()
		require.NoError(t, err)
		return p
	}
	blobs := program(func(f *build.Func) build.Value { return f.Blob("w", row, blob.ModelPath+"w.bin", 64) })
	own, err := weights.Of(blobs.Program, f, names)
	require.NoError(t, err)
	_, err = d.Compile(t.Context(), ane.Source{Program: blobs, Weights: own})
	require.ErrorIs(t, err, safetensors.ErrRange)
	require.ErrorContains(t, err, "weights: w: ")
	require.ErrorContains(t, err, counted)
	_, err = own.ReadFile(blob.ModelPath + "w.bin")
	require.ErrorIs(t, err, safetensors.ErrRange)

	own.AllowRange()
	m := model(t, d, ane.Source{Program: blobs, Weights: own})
	require.Contains(t, m.Receipt().Notes, `weights: constant w, tensor "lin.w": elements that `+counted)
	other, err := m.WithWeights(t.Context(), own)
	require.NoError(t, err)
	require.Contains(t, other.Receipt().Notes, `weights: constant w, tensor "lin.w": elements that `+counted)
	require.NoError(t, other.Close(t.Context()))

	p, err := addRow(t, f, "lin.w")
	require.NoError(t, err)
	_, err = d.Compile(t.Context(), ane.Source{Program: p})
	require.ErrorContains(t, err, counted)

	streamed := program(func(f *build.Func) build.Value {
		return f.WeightFrom("stream_w", row, func() (io.ReadCloser, error) {
			return blob.Float32As16(io.NopCloser(bytes.NewReader(beyond()))), nil
		})
	})
	_, err = d.Compile(t.Context(), ane.Source{Program: streamed})
	require.ErrorContains(t, err, `weight "stream_w": value 3 of the stream is 1e+09`)

	inputs := program(func(f *build.Func) build.Value { return f.Input("w", build.FP16, 1, 32) })
	asked := model(t, d, ane.Source{Program: inputs})
	_, err = weights.Request(t.Context(), d, asked, f, func(input string) string {
		return map[string]string{"w": "lin.w"}[input]
	})
	require.ErrorIs(t, err, safetensors.ErrRange)
	require.ErrorContains(t, err, counted)
}
