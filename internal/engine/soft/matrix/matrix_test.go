package matrix

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// useStrips skips a test where the processor lacks the kernels of strips.
func useStrips(t *testing.T) {
	if !slices.Contains(simd.Levels(), simd.AVX2) {
		t.Skip("the kernels of strips need AVX2")
	}
}

// numbers returns a tensor whose elements tell their places, of halves or of float32s.
func numbers(n int, halves bool) run.Vec {
	v := run.Vec{DType: mil.FP32, Single: make([]float32, n), Raw: make([]byte, 4*n)}
	for i := range v.Single {
		v.Single[i] = float32(1 + i%2039)
	}
	if halves {
		v.DType, v.Half, v.Raw = mil.FP16, make([]fp16.Bits, n), v.Raw[:2*n]
		for i, f := range v.Single {
			v.Half[i] = fp16.FromFloat32(f)
		}
		v.Single = nil
	}
	return v
}

func value(v *run.Vec, i int) float32 {
	if v.Half != nil {
		return v.Half[i].Float32()
	}
	return v.Single[i]
}

// unpack returns a matrix in strips as rows.
func unpack(strips []float32, pitch, k, n int) []float32 {
	rows := make([]float32, k*n)
	for i := range rows {
		rows[i] = strips[(i%n/gemm.Strip*pitch+i/n)*gemm.Strip+i%n%gemm.Strip]
	}
	return rows
}

// TestOperand reads matrices, dense, exchanged and scattered, in strips and as rows.
func TestOperand(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		rows, cols, flip := 1+r.IntN(40), 1+r.IntN(70), r.IntN(2) == 0
		if r.IntN(20) == 0 {
			rows += Depth
		}
		x := numbers(2*rows*cols, r.IntN(2) == 0)
		c := &run.Call{In: []run.Vec{x}}
		o := Operand{Rows: rows, Cols: cols, Flip: flip, InStrips: true}
		at := func(matrix, row, col int) int {
			if flip {
				return matrix*rows*cols + col*rows + row
			}
			return matrix*rows*cols + row*cols + col
		}
		if r.IntN(3) == 0 { // rows and columns of two, of which each second element is the matrix
			rows, cols = (rows+1)/2, (cols+1)/2
			axis := func(n, by int) Path { return Path{Dims: []int{n}, By: []int{by}} }
			by, step := o.Cols, 1
			if flip {
				by, step = 1, o.Rows
			}
			size := o.Rows * o.Cols
			o = Scattered(0, [3]Path{axis(2, size), axis(rows, 2*by), axis(cols, 2*step)})
			at = func(matrix, row, col int) int { return matrix*size + row*2*by + col*2*step }
		}
		room := make([]float32, max(rows, cols, o.Room(rows))+gemm.Strip)
		c0 := r.IntN(cols) / gemm.Strip * gemm.Strip
		c1, m := c0+1+r.IntN(cols-c0), r.IntN(2)
		n := c1 - c0
		r0 := r.IntN(rows)
		r1 := r0 + 1 + r.IntN(rows-r0)
		packed, pitch := o.Strips(&x, make([]float32, gemm.InStrips(r1-r0, n)), room, m, r0, r1, c0, c1)
		strips := unpack(packed, pitch, r1-r0, n)
		block := o.Block(c, make([]float32, (r1-r0)*n), room, m, r0, r1, c0, c1)
		part, stride := o.Part(c, make([]float32, PartRoom(r1-r0, n)), room, m, r0, r1, c0, c1)
		for i := range r1 - r0 {
			for j := range n {
				want := value(&x, at(m, r0+i, c0+j))
				require.Equal(t, want, strips[i*n+j], "row %d, column %d of %+v", r0+i, c0+j, o)
				require.Equal(t, want, block[i*n+j])
				require.Equal(t, want, part[i*stride+j])
			}
		}
	}
}
