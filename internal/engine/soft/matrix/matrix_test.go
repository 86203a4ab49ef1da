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
	"github.com/anekit/anekit/internal/ops"
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

// TestPlan compares the columns of windows of all kinds with their definition. The workspace is no larger than asked
// for and has other numbers.
func TestPlan(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(1, 2))
	planned := 0
	for range 1500 {
		size := func(most int) []int { return []int{1, 1 + r.IntN(most), 1 + r.IntN(most)} }
		w := ops.Window{In: size(24), Kernel: size(5), Strides: size(3), Dilations: size(3), Groups: 1,
			Before: []int{0, r.IntN(5), r.IntN(5)}, After: []int{0, r.IntN(5), r.IntN(5)}, Out: []int{1, 0, 0}}
		if r.IntN(2) == 0 { // as many outputs as inputs
			w.Strides = []int{1, 1, 1}
			for i := 1; i < 3; i++ {
				w.Before[i] = r.IntN((w.Kernel[i]-1)*w.Dilations[i] + 1)
				w.After[i] = (w.Kernel[i]-1)*w.Dilations[i] - w.Before[i]
			}
		}
		for i := 1; i < 3; i++ {
			w.Out[i] = (w.In[i]+w.Before[i]+w.After[i]-(w.Kernel[i]-1)*w.Dilations[i]-1)/w.Strides[i] + 1
		}
		if w.Out[1] < 1 || w.Out[2] < 1 {
			continue
		}
		positions, most := w.Out[1]*w.Out[2], 1+r.IntN(300)
		p := New(&w, most)
		require.NotNil(t, p)
		planned++
		const planes = 3
		channels, x := 1+r.IntN(2), numbers(planes*w.In[1]*w.In[2], r.IntN(2) == 0)
		plane, n0 := r.IntN(planes-channels+1), r.IntN(positions)
		n1 := min(n0+1+r.IntN(most), positions)
		k := channels * w.Kernel[1] * w.Kernel[2]
		dst, room := make([]float32, gemm.InStrips(k, n1-n0)), make([]float32, p.Room())
		for i := range room {
			room[i] = -7
		}
		p.Fill(dst, &x, room, plane, channels, n0, n1)
		for i, got := range unpack(dst, gemm.Pitch(k), k, n1-n0) {
			row, at := i/(n1-n0), n0+i%(n1-n0)
			kernel := row % (w.Kernel[1] * w.Kernel[2])
			y := at/w.Out[2]*w.Strides[1] + kernel/w.Kernel[2]*w.Dilations[1] - w.Before[1]
			xx := at%w.Out[2]*w.Strides[2] + kernel%w.Kernel[2]*w.Dilations[2] - w.Before[2]
			want := float32(0)
			if y >= 0 && y < w.In[1] && xx >= 0 && xx < w.In[2] {
				want = value(&x, ((plane+row/w.Kernel[1]/w.Kernel[2])*w.In[1]+y)*w.In[2]+xx)
			}
			require.Equal(t, want, got, "%+v, row %d, position %d of %d to %d", w, row, at, n0, n1)
		}
	}
	require.Greater(t, planned, 700)
}

// TestPlanRefuses has windows over three axes, and those whose workspace would be too large.
func TestPlanRefuses(t *testing.T) {
	one := []int{1, 1, 1}
	for _, w := range []ops.Window{
		{In: []int{2, 4, 4}, Out: []int{2, 4, 4}, Kernel: one, Strides: one, Dilations: one, Before: []int{0, 0, 0}},
		{In: []int{1, 9, 1 << 20}, Out: []int{1, 7, 1 << 20}, Kernel: []int{1, 3, 1}, Strides: one, Dilations: one,
			Before: []int{0, 0, 0}},
		{In: []int{1, 1, 1 << 40}, Out: []int{1, 1, 3}, Kernel: []int{1, 1, 2}, Strides: one,
			Dilations: []int{1, 1, 1 << 39}, Before: []int{0, 0, 0}},
		{In: []int{1, 1, 1 << 40}, Out: []int{1, 1, 1 << 10}, Kernel: one, Strides: []int{1, 1, 1 << 30},
			Dilations: one, Before: []int{0, 0, 0}},
	} {
		require.Nil(t, New(&w, 256), "%+v", w)
	}
	var none *Plan
	require.Zero(t, none.Room())
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
