package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// useStrips skips a test where the processor lacks the kernels of strips.
func useStrips(tb testing.TB) {
	if !slices.Contains(simd.Levels(), simd.AVX2) {
		tb.Skip("the kernels of strips need AVX2")
	}
	use(tb, simd.AVX2)
}

// inStrips returns a matrix in strips, with NaN beyond its columns.
func inStrips(b []float32, k, n int) []float32 {
	to := make([]float32, InStrips(k, n))
	for i := range to {
		to[i] = float32(math.NaN())
	}
	for i := range k {
		for j := range n {
			to[(j/Strip*Pitch(k)+i)*Strip+j%Strip] = b[i*n+j]
		}
	}
	return to
}

// TestStrips requires the bits of Mul, those of NaN included, for the whole depth and for parts of it, with rows of A
// that lie apart.
func TestStrips(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(41, 42))
	odd := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 0x1p-149,
		math.Float32frombits(0x7fc01234), math.Float32frombits(0xffc00abc)}
	for _, k := range []int{1, 3, 4, 5, 11, 300, 600} {
		for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 19, 50} {
			for _, n := range []int{1, 7, 8, 9, 15, 16, 17, 24, 25, 31, 49, 64} {
				stride := k + r.IntN(3)
				a, b := normals(r, m*k), normals(r, k*n)
				for range 3 {
					a[r.IntN(len(a))], b[r.IntN(len(b))] = odd[r.IntN(len(odd))], odd[r.IntN(len(odd))]
				}
				want, got, apart := make([]float32, m*n), normals(r, m*n+3), normals(r, m*stride)
				for i := range m {
					copy(apart[i*stride:], a[i*k:][:k])
				}
				Mul(want, a, b, m, k, n)
				strips := inStrips(b, k, n)
				beyond := slices.Clone(got[m*n:])
				for d := 0; d < k; {
					depth := min(1+r.IntN(2*k), k-d)
					MulStrips(got[:m*n], apart[d:], stride, strips[d*Strip:], Pitch(k), m, n, depth, d > 0)
					d += depth
				}
				for i, f := range want {
					require.Equal(t, math.Float32bits(f), math.Float32bits(got[i]), "%dx%dx%d, element %d", m, k, n, i)
				}
				require.Equal(t, beyond, got[m*n:])
			}
		}
	}
}

// TestPackStrips puts rows of every distance at every place.
func TestPackStrips(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(43, 44))
	for range 2000 {
		count, n, step := 1+r.IntN(40), 1+r.IntN(70), 1+r.IntN(3)
		at, stride := r.IntN(4), r.IntN(90)
		k := Pitch(at + (count-1)*step + 1 + r.IntN(3))
		x := make([]half, (count-1)*stride+n+r.IntN(40))
		floats := make([]float32, len(x))
		for i := range x {
			x[i] = half(r.Uint32())
			floats[i] = x[i].Float32()
		}
		from := normals(r, InStrips(k, n))
		of, got := slices.Clone(from), slices.Clone(from)
		PackStrips(of, k, at, step, Rows[float32]{floats, count, n, stride})
		PackStrips(got, k, at, step, Rows[half]{x, count, n, stride})
		for row := range count {
			for j := range n {
				place := (j/Strip*k+at+row*step)*Strip + j%Strip
				from[place] = floats[row*stride+j]
			}
			for j := n; j < (n+Strip-1)/Strip*Strip; j++ { // any numbers
				place := (j/Strip*k+at+row*step)*Strip + j%Strip
				from[place], of[place], got[place] = 0, 0, 0
			}
		}
		everyBit(t, from, of, "%d rows of %d float32s", count, n)
		everyBit(t, from, got, "%d rows of %d halves", count, n)
	}
}

func TestStripsAllocateNothing(t *testing.T) {
	useStrips(t)
	c, a, b := make([]float32, 9*49), make([]float32, 9*70), make([]float32, InStrips(70, 49))
	require.Zero(t, testing.AllocsPerRun(10, func() { MulStrips(c, a, 70, b, 71, 9, 49, 70, false) }))
}

// TestRowsOfHalves is of TurnStrip and DecodeRows.
func TestRowsOfHalves(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(45, 46))
	for range 300 {
		rows := Rows[half]{Count: 1 + r.IntN(Strip), N: r.IntN(120), Stride: r.IntN(200)}
		if r.IntN(2) == 0 {
			rows.Count = Strip
		}
		rows.Elements = make([]half, (rows.Count-1)*rows.Stride+rows.N)
		for i := range rows.Elements {
			rows.Elements[i] = half(r.Uint32())
		}
		stride := rows.N + r.IntN(20)
		from := normals(r, max(rows.Count*stride, rows.N*Strip)+1)
		turned, decoded := slices.Clone(from), slices.Clone(from)
		wantTurned, wantDecoded := slices.Clone(from), slices.Clone(from)
		TurnStrip(turned, rows)
		DecodeRows(decoded, stride, rows)
		for i := range rows.Count {
			for j := range rows.N {
				f := rows.Elements[i*rows.Stride+j].Float32()
				wantTurned[j*Strip+i], wantDecoded[i*stride+j] = f, f
			}
		}
		sameBits(t, wantTurned, turned, "turned: %d rows of %d", rows.Count, rows.N)
		sameBits(t, wantDecoded, decoded, "decoded: %d rows of %d", rows.Count, rows.N)
	}
	require.Panics(t, func() { TurnStrip(make([]float32, 16*16-1), Rows[half]{make([]half, 256), 16, 16, 16}) })
	require.Panics(t, func() { TurnStrip(make([]float32, 256), Rows[half]{make([]half, 255), 16, 16, 16}) })
	require.Panics(t, func() { DecodeRows(make([]float32, 255), 16, Rows[half]{make([]half, 256), 16, 16, 16}) })
	require.Panics(t, func() { DecodeRows(make([]float32, 256), 16, Rows[half]{make([]half, 255), 16, 16, 16}) })
}

// TestAddBias requires the bits of the sums one by one, those of NaN besides.
func TestAddBias(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	eachKernel(t, func(t *testing.T) {
		for n := 1; n < 40; n++ {
			for _, byRow := range []bool{false, true} {
				const rows = 3
				c, bias := normals(r, rows*n+1), normals(r, max(n, rows))
				c[r.IntN(rows*n)], bias[0] = float32(math.NaN()), float32(math.Inf(-1))
				want := slices.Clone(c)
				if bias = bias[:n]; byRow {
					bias = normals(r, rows)
				}
				for i := range rows * n {
					b := bias[i%n%len(bias)]
					if byRow {
						b = bias[i/n]
					}
					want[i] += b
				}
				AddBias(c[:rows*n], bias, byRow)
				sameBits(t, want, c, "%d columns", n)
			}
		}
		AddBias(make([]float32, 3), nil, true)
	})
}

// BenchmarkBias adds a number to each row of a tile, beside copying as much.
func BenchmarkBias(b *testing.B) {
	c, from, bias := make([]float32, 48*256), make([]float32, 48*256), make([]float32, 48)
	b.Run("rows", func(b *testing.B) {
		b.SetBytes(4 * int64(len(c)))
		for b.Loop() {
			AddBias(c, bias, true)
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(4 * int64(len(c)))
		for b.Loop() {
			copy(c, from)
		}
	})
}

// BenchmarkTurnStrip makes strips of a weight of a convolution, 256 rows at a time, beside decoding it as it lies.
func BenchmarkTurnStrip(b *testing.B) {
	useStrips(b)
	const outputs, k, high = 512, 2048, 256
	x, strip := make([]half, outputs*k), make([]float32, high*Strip)
	b.Run("strips", func(b *testing.B) {
		b.SetBytes(2 * outputs * k)
		for b.Loop() {
			for at := 0; at < len(x); at += Strip * k {
				for i := 0; i < k; i += high {
					TurnStrip(strip, Rows[half]{Elements: x[at+i:], Count: Strip, N: high, Stride: k})
				}
			}
		}
	})
	b.Run("rows", func(b *testing.B) {
		b.SetBytes(2 * outputs * k)
		for b.Loop() {
			for at := 0; at < len(x); at += high {
				DecodeRows(strip, high, Rows[half]{Elements: x[at:], Count: 1, N: high, Stride: high})
			}
		}
	})
}

func TestStripsRefuse(t *testing.T) {
	useStrips(t)
	c, a, b := make([]float32, 6*16), make([]float32, 6*8), make([]float32, 8*16)
	for _, s := range []struct{ c, a, b, stride, pitch, m, n, depth int }{
		{95, 48, 128, 8, 8, 6, 16, 8}, {96, 47, 128, 8, 8, 6, 16, 8}, {96, 48, 127, 8, 8, 6, 16, 8},
		{96, 48, 128, 7, 8, 6, 16, 8}, {96, 48, 128, 8, 7, 6, 16, 8}, {96, 48, 128, 8, 8, 0, 16, 8},
		{96, 48, 128, 8, 8, 6, -1, 8}, {96, 48, 128, 8, 8, 6, 16, 0}, {96, 48, 128, math.MaxInt / 4, 8, 6, 16, 8},
	} {
		require.Panics(t, func() {
			MulStrips(c[:s.c], a[:s.a], s.stride, b[:s.b], s.pitch, s.m, s.n, s.depth, false)
		}, "%+v", s)
	}
	require.Panics(t, func() { PackStrips(b, 8, 0, 1, Rows[float32]{a[:31], 2, 16, 16}) }, "a short row")
	require.Panics(t, func() { PackStrips(b, 8, 7, 1, Rows[float32]{a, 2, 16, 16}) }, "a row too many")
	require.Panics(t, func() { PackStrips(b[:31], 8, 0, 1, Rows[float32]{a, 2, 16, 16}) }, "a short matrix")
}

// BenchmarkStrips is of tiles of the engine. The floor is what the kernel reaches on one strip in the first-level cache.
// OpenBLAS reaches 76 to 91 GFLOP/s on a Zen 3 at 3.4 GHz for 512 to 2048 rows and columns, and a bare tile of C 99.
func BenchmarkStrips(b *testing.B) {
	useStrips(b)
	for _, s := range []struct{ m, k, n int }{{48, 256, 16}, {48, 576, 256}, {48, 1024, 256}, {48, 4608, 49}, {16, 2048, 256}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s.m, s.k, s.n), func(b *testing.B) {
			c, left, right := make([]float32, s.m*s.n), make([]float32, s.m*s.k), make([]float32, InStrips(s.k, s.n))
			b.ReportAllocs()
			for b.Loop() {
				MulStrips(c, left, s.k, right, Pitch(s.k), s.m, s.n, s.k, false)
			}
			b.ReportMetric(2*float64(s.m*s.k*s.n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}

// TestFetch: rows that are not there are no fault.
func TestFetch(t *testing.T) {
	x := make([]half, 100)
	for _, r := range []Rows[half]{{}, {Count: 1}, {Count: 3, N: 33, Stride: 40}, {Count: 2, N: 100, Stride: 0},
		{Count: 1, N: 101, Stride: 200}, {Count: -1, N: 5, Stride: 5}} {
		Fetch(x, r)
		Fetch(nil, r)
	}
}
