package weighted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// halves are a tensor of random numbers.
func halves(r *rand.Rand, n int) run.Vec {
	v := run.Vec{DType: mil.FP16, Raw: make([]byte, 2*n), Half: make([]fp16.Bits, n)}
	for i := range v.Half {
		v.Half[i] = fp16.FromFloat64(r.NormFloat64())
	}
	return v
}

// compute runs r on two workers.
func compute(t *testing.T, r run.Runner, work, n int, in ...run.Vec) []fp16.Bits {
	c := &run.Call{Run: r, In: in, Out: []run.Vec{{DType: mil.FP16, Half: make([]fp16.Bits, n)}}, Workers: 2,
		Work: [][]float32{make([]float32, work), make([]float32, work)}, Ctx: t.Context()}
	for _, room := range c.Work {
		for i := range room {
			room[i] = float32(math.NaN())
		}
	}
	r.Run(c)
	return c.Out[0].Half
}

// TestDense: products are those of float64, and those of a vector of zeros are 0 or the bias.
func TestDense(t *testing.T) {
	if !gemm.Strips() {
		t.Skip("the kernels need AVX2")
	}
	r := rand.New(rand.NewPCG(61, 62))
	for _, n := range []int{2, 3, 5, 8, 13, denseMost} {
		for _, rows := range []int{piece, piece + 1, 3*piece - 1} {
			for _, cols := range []int{32, 96, 1056} {
				x, w, b, bias := halves(r, n*cols), halves(r, rows*cols), halves(r, rows), r.IntN(2) == 0
				for v := range n {
					for i := range x.Half[v*cols:][:cols] {
						if v%3 == r.IntN(2)+1 && n != 5 {
							x.Half[v*cols+i] &= 1 << 15
						}
					}
				}
				p, work := Dense(n, rows, cols, bias)
				require.NotNil(t, p)
				for i, got := range compute(t, p, work, n*rows, x, w, b) {
					want, size := 0., 0.
					for k := range cols {
						e := float64(x.Half[i/rows*cols+k].Float32()) * float64(w.Half[i%rows*cols+k].Float32())
						want, size = want+e, size+math.Abs(e)
					}
					if bias {
						want += float64(b.Half[i%rows].Float32())
					}
					require.InDelta(t, want, float64(got.Float32()), math.Abs(want)*0x1p-11+size*float64(cols)*0x1p-26+0x1p-24,
						"%d vectors, %dx%d, product %d", n, rows, cols, i)
				}
			}
		}
	}
	for _, s := range [][3]int{{1, 64, 64}, {denseMost + 1, 64, 64}, {2, piece - 1, 64}, {2, 64, 65}, {2, 64, longest + 32}} {
		p, _ := Dense(s[0], s[1], s[2], false)
		require.Nil(t, p, s)
	}
}

// Elements that are not finite show in products with zeros of the first vector.
func TestZerosShowInfinity(t *testing.T) {
	if !gemm.Strips() {
		t.Skip("the kernels need AVX2")
	}
	r := rand.New(rand.NewPCG(63, 64))
	x, w := halves(r, 3*64), halves(r, 40*64)
	clear(x.Half[:2*64])
	w.Half[7*64+5] = fp16.Inf
	p, work := Dense(3, 40, 64, false)
	out := compute(t, p, work, 3*40, x, w)
	require.True(t, out[7].IsNaN())
	require.Zero(t, out[8])
	require.Zero(t, out[40+7])
	require.True(t, out[80+7].IsInf())
}

// Vectors of zeros change no product of the others, and have the bias.
func TestPackedZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 66))
	const rows, cols = 2*piece + 5, 128
	for _, bits := range []int{4, 8} {
		w := &packed.Weights{Bits: bits, Rows: rows, Cols: cols, High: 1, Wide: 32, Data: make([]byte, rows*cols*bits/8),
			Scale: halves(r, rows*cols/32).Half}
		if !w.Tiled() {
			t.Skip("the kernels need AVX2")
		}
		for i := range w.Data {
			w.Data[i] = byte(r.Uint32())
		}
		for _, n := range []int{3, 9, packed.TileVectors + 5} {
			t.Run(fmt.Sprint(bits, "bit/", n), func(t *testing.T) {
				x, b := halves(r, n*cols), halves(r, rows)
				x.Half[cols+3] = fp16.Inf // one vector has products of elements
				all, work := Packed(w, 0, n, true)
				want := compute(t, all, work, n*rows, x, halves(r, 0), b)
				none := func(v int) bool { return v%4 == 2 || v >= packed.TileVectors+2 }
				for i := range x.Half {
					if none(i / cols) {
						x.Half[i] = 0
					}
				}
				for i, got := range compute(t, all, work, n*rows, x, halves(r, 0), b) {
					expected := want[i]
					if none(i / rows) {
						expected = b.Half[i%rows]
					}
					if !expected.IsNaN() || !got.IsNaN() {
						require.Equal(t, expected, got, "vector %d, row %d", i/rows, i%rows)
					}
				}
			})
		}
	}
}
