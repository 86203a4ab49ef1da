package weights_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// rowOf is a row of n numbers, from first on, as bytes of a format.
func rowOf(t *testing.T, format safetensors.DType, first float32, n int) (b []byte) {
	for i := range n {
		f := first + float32(i)
		switch format {
		case safetensors.F16:
			b = binary.LittleEndian.AppendUint16(b, uint16(fp16.FromFloat32(f)))
		case safetensors.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(f)>>16))
		case safetensors.F32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		default:
			t.Fatal(format)
		}
	}
	return b
}

// addRow is a program that adds the tensor called name to x.
func addRow(t *testing.T, f *safetensors.File, name string) (*build.Program, error) {
	w, err := f.Tensor(name)
	require.NoError(t, err)
	b := build.New()
	main := b.Func("main")
	main.Output("y", main.Add(main.Input("x", build.FP16, 1, 32), main.WeightOf(w)))
	return b.Program()
}

// TestWeightOf: a tensor of a file is a weight of a program that is built in Go, by every way to its elements.
func TestWeightOf(t *testing.T) {
	for _, format := range []safetensors.DType{safetensors.F16, safetensors.BF16, safetensors.F32} {
		for _, odd := range []int{0, 1} {
			path := filepath.Join(t.TempDir(), "w.safetensors")
			w, err := safetensors.Create(path, nil)
			require.NoError(t, err)
			require.NoError(t, w.Add("a", safetensors.U8, []int{64 + odd}, make([]byte, 64+odd)))
			require.NoError(t, w.Add("layers.0/bias", format, []int{1, 32}, rowOf(t, format, 1, 32)))
			require.NoError(t, w.Close())
			f, err := safetensors.Open(path)
			require.NoError(t, err)
			p, err := addRow(t, f, "layers.0/bias")
			require.NoError(t, err)
			require.Contains(t, string(p.Text()), "@model_path/weights/layers_0_bias.bin")

			lent := format == safetensors.F16 && odd == 0
			m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p})
			require.NoError(t, err)
			if lent {
				require.ErrorIs(t, f.Close(), unimem.ErrInUse, "the model reads the file")
			}
			require.Equal(t, float32(1+7), added(t, m))
			require.NoError(t, m.Close(t.Context()))

			dir := t.TempDir()
			require.NoError(t, p.WriteDir(dir))
			m, err = device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p, Weights: blob.Dir(dir)})
			require.NoError(t, err)
			require.NoError(t, f.Close(), "weights of a folder do not hold the file")
			require.Equal(t, float32(1+7), added(t, m))
			require.NoError(t, m.Close(t.Context()))
		}
	}
}

// added is element 7 of the program's result for an x of zeros.
func added(t *testing.T, m *ane.Model) float32 {
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	y, err := r.Output("y").At(0, 7)
	require.NoError(t, err)
	return y
}

// TestWeightOfInstance: the program of another file gives its tensors to WithWeights, in place.
func TestWeightOfInstance(t *testing.T) {
	files := [2]*safetensors.File{}
	programs := [2]*build.Program{}
	for i := range files {
		path := filepath.Join(t.TempDir(), "w.safetensors")
		w, err := safetensors.Create(path, nil)
		require.NoError(t, err)
		require.NoError(t, w.Add("row", safetensors.F16, []int{1, 32}, rowOf(t, safetensors.F16, float32(10*i), 32)))
		require.NoError(t, w.Close())
		files[i], err = safetensors.Open(path)
		require.NoError(t, err)
		programs[i], err = addRow(t, files[i], "row")
		require.NoError(t, err)
	}
	m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: programs[0]})
	require.NoError(t, err)
	other, err := m.WithWeights(t.Context(), programs[1])
	require.NoError(t, err)
	require.ErrorIs(t, files[1].Close(), unimem.ErrInUse)
	require.Equal(t, float32(7), added(t, m))
	require.Equal(t, float32(17), added(t, other))
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, other.Close(t.Context()))
	require.NoError(t, files[0].Close())
	require.NoError(t, files[1].Close())
}

// TestWeightOfRefusals: numbers that fp16 does not hold, formats without a type, a tensor added twice, and a file that
// has become shorter.
func TestWeightOfRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	large := rowOf(t, safetensors.F32, 0, 32)
	binary.LittleEndian.PutUint32(large[4*5:], math.Float32bits(1e9))
	require.NoError(t, w.Add("large", safetensors.F32, []int{1, 32}, large))
	require.NoError(t, w.Add("wide", safetensors.F64, []int{1, 32}, make([]byte, 256)))
	require.NoError(t, w.Add("row", safetensors.F16, []int{1, 32}, rowOf(t, safetensors.F16, 0, 32)))
	require.NoError(t, w.Close())
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()

	p, err := addRow(t, f, "large")
	require.NoError(t, err)
	_, err = device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p})
	require.ErrorContains(t, err, `tensor "large" at byte`)
	_, err = addRow(t, f, "wide")
	require.ErrorContains(t, err, "F64")
	require.ErrorAs(t, err, new(mil.ErrorList))

	row, err := f.Tensor("row")
	require.NoError(t, err)
	b := build.New()
	main := b.Func("main")
	x := main.Input("x", build.FP16, 1, 32)
	main.Output("y", main.Add(main.Add(x, main.WeightOf(row)), main.WeightOf(row)))
	_, err = b.Program()
	require.ErrorContains(t, err, `"row" is defined twice`)

	if blk, _, err := row.Block(); err != nil || blk.Backing() != "file" {
		t.Skip("files are not mapped here")
	}
	p, err = addRow(t, f, "row")
	require.NoError(t, err)
	m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p})
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 0))
	_, err = r.Evaluate(t.Context())
	require.ErrorIs(t, err, unimem.ErrChanged)
	require.NoError(t, r.Close())
	require.NoError(t, m.Close(t.Context()))
}

// TestWeightOfAnotherType: an instance refuses a tensor of another type, as Compile does.
func TestWeightOfAnotherType(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("row", safetensors.F16, []int{1, 32}, rowOf(t, safetensors.F16, 0, 32)))
	require.NoError(t, w.Close())
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	p, err := addRow(t, f, "row")
	require.NoError(t, err)
	m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p})
	require.NoError(t, err)

	w, err = safetensors.Create(path+"2", nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("row", safetensors.I16, []int{1, 32}, make([]byte, 64)))
	require.NoError(t, w.Close())
	other, err := safetensors.Open(path + "2")
	require.NoError(t, err)
	row, err := other.Tensor("row")
	require.NoError(t, err)
	b := build.New()
	main := b.Func("main")
	main.Output("y", main.Cast(main.WeightOf(row), build.FP16))
	integers, err := b.Program()
	require.NoError(t, err)
	_, err = m.WithWeights(t.Context(), integers)
	require.ErrorContains(t, err, "int16")
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, f.Close())
	require.NoError(t, other.Close())
}

// TestWeightOfBesideBlob: a weight of a tensor gets a file that no Blob names.
func TestWeightOfBesideBlob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("w", safetensors.F16, []int{1, 32}, rowOf(t, safetensors.F16, 0, 32)))
	require.NoError(t, w.Close())
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	tensor, err := f.Tensor("w")
	require.NoError(t, err)
	b := build.New()
	main := b.Func("main")
	q := main.Blob("q", mil.TensorOf(mil.FP16, 1, 32), blob.ModelPath+"weights/w.bin", blob.First)
	main.Output("y", main.Add(main.Mul(main.Input("x", build.FP16, 1, 32), q), main.WeightOf(tensor)))
	p, err := b.Program()
	require.NoError(t, err)
	_, err = device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p})
	require.ErrorContains(t, err, "weights/w.bin")
	require.Contains(t, string(p.Text()), "weights/w_0.bin")
}

// TestFilesThatCannotBe: elements at an offset beyond any file, and a zero Files.
func TestFilesThatCannotBe(t *testing.T) {
	var files weights.Files
	require.NoError(t, files.Add("@model_path/w.bin", 1<<62, mil.TensorOf(mil.FP16, 2), make([]byte, 4)))
	_, err := files.ReadFile("@model_path/w.bin")
	require.ErrorIs(t, err, blob.ErrSize)
	require.ErrorIs(t, files.Add("@model_path/w.bin", 64, mil.TensorOf(mil.FP16, 2), make([]byte, 3)), ane.ErrLength)
}

// TestNilProgram: a nil program beside a text brings no weights.
func TestNilProgram(t *testing.T) {
	var p *build.Program
	text := []byte("program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1, 32]> x) {\n" +
		"tensor<fp16, [1, 32]> y = add(x = x, y = x);\n} -> (y);\n}\n")
	m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Text: text, Program: p})
	require.NoError(t, err)
	require.NoError(t, m.Close(t.Context()))
}
