package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// pick returns the rows of a picked matrix, depth columns each.
func pick(x []float32, p *Picks) []float32 {
	var rows []float32
	for _, i := range p.at {
		for _, j := range p.by {
			rows = append(rows, x[i+j])
		}
	}
	return rows
}

// places returns numbers below most.
func places(r *rand.Rand, n, most int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(r.IntN(most))
	}
	return list
}

// everyBit is sameBits with the bits of NaN.
func everyBit(t *testing.T, want, got []float32, format string, args ...any) {
	t.Helper()
	for i := range want {
		if w, g := math.Float32bits(want[i]), math.Float32bits(got[i]); w != g {
			t.Fatalf("element %d: want %#x, got %#x; %s", i, w, g, fmt.Sprintf(format, args...))
		}
	}
}

// TestPicked requires the bits of Mul with the operands exchanged, those of NaN included: of two NaNs it takes the one
// of its first operand, which here is the strip.
func TestPicked(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(51, 52))
	odd := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 0x1p-149,
		math.Float32frombits(0x7fc01234), math.Float32frombits(0xffc00abc)}
	for _, k := range []int{1, 3, 4, 5, 11, 300} {
		for _, m := range []int{1, 2, 5, 6, 7, 12, 13, 49} {
			for _, n := range []int{1, 8, 9, 16} {
				p := NewPicks(places(r, m, 40), places(r, k, 90))
				x, weights := normals(r, p.size), normals(r, n*k)
				for range 4 {
					x[r.IntN(len(x))], weights[r.IntN(len(weights))] = odd[r.IntN(len(odd))], odd[r.IntN(len(odd))]
				}
				rows, right, strip := pick(x, p), make([]float32, k*m), make([]float32, k*Strip)
				for j := range k {
					for i := range m {
						right[j*m+i] = rows[i*k+j]
					}
					for i := range n {
						strip[j*Strip+i] = weights[i*k+j]
					}
				}
				want, width := make([]float32, n*m), 16+r.IntN(9)
				Mul(want, weights, right, n, k, m)
				c := normals(r, m*width)
				for d := 0; d < k; {
					depth := min(1+r.IntN(2*k), k-d)
					MulPicked(c, width, x, p, m, d, depth, strip[d*Strip:], n, d > 0)
					d += depth
				}
				got := make([]float32, n*m)
				for i := range got {
					got[i] = c[i%m*width+i/m]
				}
				everyBit(t, want, got, "%dx%dx%d", m, k, n)
			}
		}
	}
	require.Nil(t, NewPicks([]int32{0, -1}, []int32{2}))
	require.Nil(t, NewPicks([]int32{math.MaxInt32}, []int32{1}))
}

// TestSixes has the elements of rows in the places of tiles, of halves and of float32s, for all rows and for fewer.
func TestSixes(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(53, 54))
	for range 300 {
		most, depth := 1+r.IntN(60), 1+r.IntN(40)
		n, count := 1+r.IntN(most), 1+r.IntN(depth)
		p, stride := Sixes(most, depth), n+r.IntN(9)
		x := make([]half, (count-1)*stride+n+r.IntN(9))
		floats := make([]float32, len(x))
		for i := range x {
			x[i] = half(r.Uint32())
			floats[i] = x[i].Float32()
		}
		of, got := normals(r, p.size+2), normals(r, p.size+2)
		PackSixes(of, p, Rows[float32]{floats, count, n, stride})
		PackSixes(got, p, Rows[half]{x, count, n, stride})
		for i := range n {
			for j := range count {
				at, want := p.at[i]+p.by[j], floats[j*stride+i]
				everyBit(t, []float32{want, want}, []float32{of[at], got[at]}, "row %d, column %d", i, j)
			}
		}
	}
}

// TestDecodeLines is of DecodeLines and Turn.
func TestDecodeLines(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(55, 56))
	for range 300 {
		rows := Rows[half]{Count: 1 + r.IntN(12), N: 1 + r.IntN(40)}
		rows.Stride = r.IntN(60)
		rows.Elements = make([]half, (rows.Count-1)*rows.Stride+rows.N+r.IntN(3))
		for i := range rows.Elements {
			rows.Elements[i] = half(r.Uint32())
		}
		stride := rows.N + r.IntN(12)
		got := normals(r, (rows.Count-1)*stride+max(rows.N, 8)+1)
		want := slices.Clone(got)
		DecodeLines(got, stride, rows)
		for i := range rows.Count {
			clear(want[i*stride+rows.N : i*stride+max(rows.N, 8)])
			for j := range rows.N {
				want[i*stride+j] = rows.Elements[i*rows.Stride+j].Float32()
			}
		}
		sameBits(t, want, got, "%d rows of %d", rows.Count, rows.N)

	}
}

// Rows become columns, and what lies beside and beyond them stays.
func TestTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	eachKernel(t, func(t *testing.T) {
		for range 300 {
			rows, columns, from := 1+r.IntN(40), 1+r.IntN(40), 40
			to := rows + r.IntN(3)*r.IntN(20)
			src, got := normals(r, rows*from), normals(r, columns*to+3)
			want := slices.Clone(got)
			for i := range rows * columns {
				want[i%columns*to+i/columns] = src[i/columns*from+i%columns]
			}
			Turn(got[:(columns-1)*to+rows], to, src, rows, columns, from)
			sameBits(t, want, got, "%d rows of %d, %d apart", rows, columns, to)
		}
	})
}

// BenchmarkTurn is a panel of 256 columns of eight rows at a time, beside copying as many elements.
func BenchmarkTurn(b *testing.B) {
	const n, width = 2048, 256
	dst, src := make([]float32, n*width), make([]float32, n*Turned)
	b.Run("panel", func(b *testing.B) {
		b.SetBytes(4 * n * width)
		for b.Loop() {
			for at := 0; at < width; at += Turned {
				Turn(dst[at:], width, src, Turned, n, n)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(4 * n * width)
		for b.Loop() {
			for at := 0; at < width; at += Turned {
				copy(dst[at*n:], src)
			}
		}
	})
}

func TestPickedRefuses(t *testing.T) {
	useStrips(t)
	p := NewPicks([]int32{0, 1, 2}, []int32{0, 3, 6, 9})
	x, c, b, h := make([]float32, 12), make([]float32, 3*16), make([]float32, 4*16), make([]half, 12)
	for _, s := range []struct{ x, c, b, width, m, from, depth, n int }{
		{11, 48, 64, 16, 3, 0, 4, 16}, {12, 47, 64, 16, 3, 0, 4, 16}, {12, 48, 63, 16, 3, 0, 4, 16},
		{12, 48, 64, 15, 3, 0, 4, 16}, {12, 48, 64, 16, 4, 0, 4, 16}, {12, 48, 64, 16, 3, 1, 4, 16},
		{12, 48, 64, 16, 3, -1, 4, 16}, {12, 48, 64, 16, 3, 0, 4, 17}, {12, 48, 64, 16, 3, 0, 4, 0},
		{12, 48, 64, 7, 3, 0, 4, 8}, {12, 48, 64, 16, 0, 0, 4, 8}, {12, 48, 64, 16, 3, 0, 0, 8},
	} {
		require.Panics(t, func() {
			MulPicked(c[:s.c], s.width, x[:s.x], p, s.m, s.from, s.depth, b[:s.b], s.n, false)
		}, "%+v", s)
	}
	sixes := Sixes(3, 4)
	require.Panics(t, func() { PackSixes(make([]float32, 25), sixes, Rows[half]{h, 4, 3, 3}) }, "short tiles")
	require.Panics(t, func() { PackSixes(make([]float32, 26), sixes, Rows[half]{h[:11], 4, 3, 3}) }, "a short row")
	require.Panics(t, func() { PackSixes(make([]float32, 26), sixes, Rows[half]{h, 5, 3, 2}) }, "a row too many")
	require.Panics(t, func() { DecodeLines(make([]float32, 13), 3, Rows[half]{h, 3, 3, 3}) })
	require.Panics(t, func() { DecodeLines(make([]float32, 14), 3, Rows[half]{h[:8], 3, 3, 3}) })
	require.Panics(t, func() { Turn(x, 3, c, 3, 5, 5) })
	require.Panics(t, func() { Turn(x, 3, c[:11], 3, 4, 4) })
	require.Panics(t, func() { Turn(x, 2, c, 3, 4, 4) }, "columns that overlap")
}

// BenchmarkPicked is of convolutions of networks, without what packs and turns: the floor is a bare tile of C in the
// first-level cache, 99 GFLOP/s on a Zen 3 at 3.4 GHz, where whole convolutions of ONNX Runtime reach 63 to 95.
func BenchmarkPicked(b *testing.B) {
	useStrips(b)
	for _, s := range []struct{ m, k, n int }{{224, 576, 64}, {49, 4608, 512}, {49, 2048, 512}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s.m, s.k, s.n), func(b *testing.B) {
			p := Sixes(s.m, s.k)
			c, x, strips := make([]float32, s.m*s.n), make([]float32, p.size), make([]float32, InStrips(s.k, s.n))
			b.ReportAllocs()
			for b.Loop() {
				for j := 0; j < s.n; j += Strip {
					MulPicked(c[j:], s.n, x, p, s.m, 0, s.k, strips[j*Pitch(s.k):], Strip, false)
				}
			}
			b.ReportMetric(2*float64(s.m*s.k*s.n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
