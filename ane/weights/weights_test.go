package weights_test

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

const rows, cols = 64, 128

// numbers are those of a weight: element i is (i%7-3)*factor.
func numbers(factor float32) []float32 {
	all := make([]float32, rows*cols)
	for i := range all {
		all[i] = float32(i%7-3) * factor
	}
	return all
}

// save writes the weights as F16, F32 and BF16, and a small tensor before each.
func save(t *testing.T, factor float32, opts ...safetensors.Option) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	w, err := safetensors.Create(path, nil, opts...)
	require.NoError(t, err)
	half := make([]fp16.Bits, rows*cols)
	fp16.Encode(half, numbers(factor))
	var f16, f32, bf16 []byte
	for i, v := range numbers(factor) {
		f16 = append(f16, byte(half[i]), byte(half[i]>>8))
		u := math.Float32bits(v)
		f32 = append(f32, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
		bf16 = append(bf16, byte(u>>16), byte(u>>24))
	}
	add := func(name string, d safetensors.DType, data []byte) {
		require.NoError(t, w.Add("before "+name, safetensors.U8, []int{3}, []byte{1, 2, 3}))
		require.NoError(t, w.Add(name, d, []int{rows, cols}, data))
	}
	add("w", safetensors.F16, f16)
	add("w32", safetensors.F32, f32)
	add("wb", safetensors.BF16, bf16)
	require.NoError(t, w.Close())
	return path
}

// product is a program whose weight is an input: y = x * w.
func product(t *testing.T) *build.Program {
	t.Helper()
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, rows)
	f.Output("y", f.Matmul(x, f.Input("w", build.FP16, rows, cols)))
	p, err := b.Program()
	require.NoError(t, err)
	return p
}

func device(t *testing.T, name string, opts ...engine.Option) *ane.Device {
	t.Helper()
	d, err := engine.Open(t.Context(), name, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func model(t *testing.T, d *ane.Device, s ane.Source) *ane.Model {
	t.Helper()
	m, err := d.Compile(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) }) // the test's context has ended
	return m
}

// run evaluates with x[3] = 1 and compares y with row 3 of the weights.
func run(t *testing.T, r *ane.Request, factor float32) {
	t.Helper()
	require.NoError(t, r.Input("x").Set(1, 0, 3))
	_, err := r.Evaluate(t.Context())
	require.NoError(t, err)
	got, err := r.Output("y").Float32s()
	require.NoError(t, err)
	require.Equal(t, numbers(factor)[3*cols:4*cols], got)
}

func TestInputsLieWhereTheEngineAllows(t *testing.T) {
	for name, c := range map[string]struct {
		align   int
		engine  string
		offsets bool
		tensor  string
		how     weights.Binding
		why     string
	}{
		"offsets":            {64, engine.Soft, true, "w", weights.Bound, ""},
		"offsets, unaligned": {1, engine.Soft, true, "w", weights.Copied, "it starts at byte"},
		"byte 0":             {unimem.PageSize, engine.Soft, false, "w", weights.Bound, ""},
		"no offsets":         {64, engine.Soft, false, "w", weights.Copied, "reads from byte 0"},
		"fp32":               {64, engine.Soft, true, "w32", weights.Copied, "F32 becomes fp16"},
		"bf16":               {64, engine.Soft, true, "wb", weights.Copied, "BF16 becomes fp16"},
		"another process":    {unimem.PageSize, engine.Broker, false, "w", weights.Copied, "the engine refuses files"},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []engine.Option
			if c.offsets {
				opts = append(opts, engine.AllowOffsets())
			}
			if c.engine == engine.Broker {
				brokertest.Need(t)
			}
			if c.how == weights.Bound && host.Windows {
				t.Skip("the system maps no files")
			}
			f, err := safetensors.Open(save(t, 2, safetensors.Align(c.align)))
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			d := device(t, c.engine, opts...)
			m := model(t, d, ane.Source{Program: product(t)})
			names := func(input string) string {
				if input == "w" {
					return c.tensor
				}
				return ""
			}
			r, err := weights.Request(t.Context(), d, m, f, names)
			require.NoError(t, err)
			defer func() { require.NoError(t, r.Close()) }()
			run(t, r.Request, 2)
			p := r.Placements()
			require.Equal(t, []string{"x", "w"}, []string{p[0].Input, p[1].Input})
			require.Equal(t, weights.Open, p[0].Binding)
			require.Equal(t, c.how, p[1].Binding, p[1].Why)
			require.Contains(t, p[1].Why, c.why)
			if c.how == weights.Bound {
				require.Zero(t, r.Moved())
				require.ErrorIs(t, r.Input("w").Set(1, 0, 0), ane.ErrReadOnly)
			} else {
				require.EqualValues(t, 2*rows*cols, r.Moved())
			}
			if c.offsets && c.how == weights.Bound {
				require.ErrorIs(t, f.Close(), unimem.ErrInUse)
			}
		})
	}
}

// A mapped file that becomes shorter ends an evaluation with an error, and the model stays
// usable.
func TestAnEvaluationWhoseFileBecomesShorter(t *testing.T) {
	leaktest.NeedsFaultAddress(t)
	path := save(t, 2, safetensors.Align(64))
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	if f.Report().Access != safetensors.Mapped {
		require.NoError(t, f.Close())
		t.Skip("the system maps no files")
	}
	d := device(t, engine.Soft, engine.AllowOffsets())
	m := model(t, d, ane.Source{Program: product(t)})
	r, err := weights.Request(t.Context(), d, m, f, nil)
	require.NoError(t, err)
	run(t, r.Request, 2)
	require.NoError(t, os.Truncate(path, 0))
	for range 3 {
		_, err = r.Evaluate(t.Context())
		require.ErrorIs(t, err, unimem.ErrChanged)
		out := <-r.EvaluateAsync(t.Context())
		require.ErrorIs(t, out.Err, unimem.ErrChanged)
	}
	require.NoError(t, r.Close())
	require.NoError(t, f.Close())
	f, err = safetensors.Open(save(t, 3, safetensors.Align(64)))
	require.NoError(t, err)
	r, err = weights.Request(t.Context(), d, m, f, nil)
	require.NoError(t, err)
	run(t, r.Request, 3)
	require.NoError(t, r.Close())
	require.NoError(t, f.Close())
}

func TestRequestRefuses(t *testing.T) {
	f, err := safetensors.Open(save(t, 1))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	d := device(t, engine.Soft)
	m := model(t, d, ane.Source{Program: product(t)})
	for as, want := range map[string]error{
		"nothing": safetensors.ErrName, "before w": ane.ErrMismatch,
	} {
		_, err := weights.Request(t.Context(), d, m, f, func(string) string { return as })
		require.ErrorIs(t, err, want)
	}
}

// constant is a program whose weight is a constant.
func constant(t *testing.T) *build.Program {
	t.Helper()
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, rows)
	f.Output("y", f.Matmul(x, f.Weight("w", numbers(1), rows, cols)))
	p, err := b.Program()
	require.NoError(t, err)
	return p
}

func TestConstantsAreReplacedWithoutCompiling(t *testing.T) {
	p := constant(t)
	first := model(t, device(t, engine.Soft), ane.Source{Program: p})
	for _, tensor := range []string{"w", "w32", "wb"} {
		f, err := safetensors.Open(save(t, 2))
		require.NoError(t, err)
		files, err := weights.Of(p.Tree(), f, func(string) string { return tensor })
		require.NoError(t, err)
		m, err := first.WithWeights(t.Context(), files)
		require.NoError(t, err)
		require.EqualValues(t, 2*rows*cols, files.Moved())
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		run(t, r, 2)
		require.NoError(t, r.Close())
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, f.Close())
	}
}

func TestConstantsAsWeightFiles(t *testing.T) {
	p := constant(t)
	f, err := safetensors.Open(save(t, 5))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	files, err := weights.Of(p.Tree(), f, func(string) string { return "w32" })
	require.NoError(t, err)
	// Engines with memory of their own read files.
	m := model(t, device(t, engine.Soft), ane.Source{Program: p.Tree(), Weights: struct{ ane.Weights }{files}})
	require.EqualValues(t, 2*rows*cols, files.Moved())
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	run(t, r, 5)
	require.NoError(t, r.Close())
	_, err = files.ReadFile("@model_path/other.bin")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = weights.Of(p.Tree(), f, func(string) string { return "" })
	require.ErrorIs(t, err, safetensors.ErrName)
	_, err = weights.Of(p.Tree(), f, func(string) string { return "before w" })
	require.ErrorIs(t, err, ane.ErrMismatch)
	none, err := weights.Of(&mil.Program{}, f, nil)
	require.NoError(t, err)
	require.Empty(t, none.Blocks())
}

// TestRestOfAFile: some constants of a weight file are added, the others are those of the rest, whichever way an engine
// asks for them.
func TestRestOfAFile(t *testing.T) {
	b := build.New()
	main := b.Func("main")
	x := main.Input("x", build.FP16, 1, 32)
	x = main.Add(x, main.Weight("first", slices.Repeat([]float32{1}, 32), 1, 32))
	x = main.Add(x, main.Weight("second", slices.Repeat([]float32{10}, 32), 1, 32))
	main.Output("y", main.Add(x, main.Weight("third", slices.Repeat([]float32{100}, 32), 1, 32)))
	p, err := b.Program()
	require.NoError(t, err)
	for i, want := range []float32{2 + 10 + 100, 1 + 20 + 100, 1 + 10 + 200} {
		v := p.Tree().Weights()[i]
		path, offset, err := v.Blob().Entry()
		require.NoError(t, err)
		elements := rowOf(t, safetensors.F16, []float32{2, 20, 200}[i], 1)
		files := weights.New(nil, p)
		require.NoError(t, files.Add(path, offset, v.Type, bytes.Repeat(elements, 32)))
		for _, given := range []ane.Weights{files, struct{ ane.Weights }{files}} {
			m := model(t, device(t, engine.Soft), ane.Source{Program: p.Tree(), Weights: given})
			require.Equal(t, want, added(t, m))
		}
		_, err = files.ReadFile("@model_path/other.bin")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	broken := weights.New(nil, blob.Files{"@model_path/w.bin": []byte("no weight file")})
	require.NoError(t, broken.Add("@model_path/w.bin", 64, mil.TensorOf(mil.FP16, 1), []byte{1, 2}))
	_, err = broken.ReadFile("@model_path/w.bin")
	require.ErrorIs(t, err, blob.ErrFormat)
}
