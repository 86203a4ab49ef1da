package weights_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Sizes of a matrix as MLX quantizes it.
const mlxOut, mlxIn, mlxGroup = 96, 128, 64

// mlx writes a matrix of integers of some bits, with scales and offsets: words of 32 bits that hold the integers of a
// row from the low bits up. It returns the matrix.
func mlx(t *testing.T, path string, bits int) (matrix []float32) {
	t.Helper()
	words := make([]byte, mlxOut*mlxIn*bits/8)
	var scales, offsets []byte
	half := func(to *[]byte, f float64) float32 {
		h := fp16.FromFloat64(f)
		*to = append(*to, byte(h), byte(h>>8))
		return h.Float32()
	}
	for row := range mlxOut {
		for g := range mlxIn / mlxGroup {
			scale, offset := half(&scales, 0x1p-6*float64(1+(row+g)%5)), half(&offsets, float64(row%7)/2)
			for k := range mlxGroup {
				at := row*mlxIn + g*mlxGroup + k
				n := at * 7919 % (1 << bits)
				for b := range bits {
					words[(at*bits+b)/8] |= byte(n >> b & 1 << ((at*bits + b) % 8))
				}
				matrix = append(matrix, fp16.FromFloat32(scale*(float32(n)-offset)).Float32())
			}
		}
	}
	w, err := safetensors.Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("odd", safetensors.U8, []int{2}, []byte{1, 2})) // words begin between two
	require.NoError(t, w.Add("w.weight", safetensors.U32, []int{mlxOut, mlxIn * bits / 32}, words))
	require.NoError(t, w.Add("w.scales", safetensors.F16, []int{mlxOut, mlxIn / mlxGroup}, scales))
	require.NoError(t, w.Add("w.offsets", safetensors.F16, []int{mlxOut, mlxIn / mlxGroup}, offsets))
	require.NoError(t, w.Close())
	return matrix
}

// mlxProgram multiplies a row by the matrix. The weight file of its text is none that exists.
func mlxProgram(t *testing.T, bits int) *mil.Program {
	t.Helper()
	at := uint64(64)
	constant := func(name, d string, cols, size int) string {
		s := fmt.Sprintf("tensor<%s, [%d, %d]> %s = const()[name = string(%q), val = tensor<%s, [%d, %d]>(BLOBFILE(path "+
			"= string(\"@model_path/w.bin\"), offset = uint64(%d)))];\n", d, mlxOut, cols, name, name, d, mlxOut, cols, at)
		at += uint64(64 + (mlxOut*cols*size/8+63)/64*64)
		return s
	}
	text := "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1, 128]> x) {\n" +
		constant("weight", fmt.Sprintf("uint%d", bits), mlxIn, bits) +
		constant("scales", "fp16", mlxIn/mlxGroup, 16) + constant("offsets", "fp16", mlxIn/mlxGroup, 16) +
		"tensor<fp16, [96, 128]> w = constexpr_blockwise_shift_scale(data = weight, scale = scales, offset = offsets);\n" +
		"tensor<fp16, [1, 96]> y = linear(x = x, weight = w);\n} -> (y);\n}\n"
	p, err := mil.Parse("mlx.mil", []byte(text))
	require.NoError(t, err)
	return p
}

// TestQuantizedInPlace: the software engine computes with the words of a file as MLX writes it, and copies no byte of
// them. The file is open as long as the Model. Engines that read weight files get a copy.
func TestQuantizedInPlace(t *testing.T) {
	for _, bits := range []int{2, 3, 4, 6, 8} {
		for _, lent := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d bits, lent %v", bits, lent), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "w.safetensors")
				matrix := mlx(t, path, bits)
				f, err := safetensors.Open(path)
				require.NoError(t, err)
				p := mlxProgram(t, bits)
				files, err := weights.Of(p, f, func(name string) string { return "w." + name })
				require.NoError(t, err)
				given := ane.Weights(files)
				if !lent {
					given = struct{ ane.Weights }{files} // as engines with memory of their own read it
				}
				m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p, Weights: given})
				require.NoError(t, err)
				if lent {
					require.Zero(t, files.Moved())
					require.ErrorIs(t, f.Close(), unimem.ErrInUse)
				}
				same, err := m.WithWeights(t.Context(), given)
				require.NoError(t, err)
				require.NoError(t, m.Close(t.Context()))
				if lent {
					require.ErrorIs(t, f.Close(), unimem.ErrInUse, "the instance reads it")
				}
				require.Equal(t, rowTimes(matrix), evaluateRow(t, same))
				require.NoError(t, same.Close(t.Context()))
				require.NoError(t, f.Close())
			})
		}
	}
}

// rowTimes is the product of the row that evaluateRow has with the transposed matrix. Its sums are exact.
func rowTimes(matrix []float32) []float32 {
	out := make([]float32, mlxOut)
	for i := range out {
		for k := range mlxIn {
			out[i] += float32(k%3-1) * matrix[i*mlxIn+k]
		}
		out[i] = fp16.FromFloat32(out[i]).Float32()
	}
	return out
}

func evaluateRow(t *testing.T, m *ane.Model) []float32 {
	t.Helper()
	require.NoError(t, m.Load(t.Context()))
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	x := make([]float32, mlxIn)
	for k := range x {
		x[k] = float32(k%3 - 1)
	}
	_, err = r.Input("x").WriteFloat32(x)
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	out := make([]float32, mlxOut)
	_, err = r.Output("y").ReadFloat32(out)
	require.NoError(t, err)
	return out
}

// TestFileOfConstantsChanges: evaluating with weights of a file that has become shorter returns ErrChanged.
func TestFileOfConstantsChanges(t *testing.T) {
	leaktest.NeedsFaultAddress(t)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	mlx(t, path, 4)
	f, err := safetensors.Open(path)
	require.NoError(t, err)
	tensor, err := f.Tensor("w.weight")
	require.NoError(t, err)
	if b, _, err := tensor.Block(); err != nil || b.Backing() != "file" {
		t.Skip("files are not mapped here")
	}
	p := mlxProgram(t, 4)
	files, err := weights.Of(p, f, func(name string) string { return "w." + name })
	require.NoError(t, err)
	m, err := device(t, engine.Soft).Compile(t.Context(), ane.Source{Program: p, Weights: files})
	require.NoError(t, err)
	require.NoError(t, m.Load(t.Context()))
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 0))
	_, err = r.Evaluate(t.Context())
	require.ErrorIs(t, err, unimem.ErrChanged)
	require.NoError(t, r.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, f.Close())
}
