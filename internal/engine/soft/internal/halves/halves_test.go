package halves

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// inGo runs f with the Go code.
func inGo(f func()) {
	kernel := machine
	machine = simd.Portable
	defer func() { machine = kernel }()
	f()
}

// edges are halves at which decisions change.
var edges = []fp16.Bits{0, 1, 2, 0x3ff, 0x400, 0x401, 0x3bff, 0x3c00, 0x3c01, 0x4000, 0x4600, 0x7bfe, 0x7bff, 0x7c00,
	0x7c01, 0x7dff, 0x7e00, 0x7fff}

// values returns n halves, every pair of edges with both signs among them if n is large enough.
func values(r *rand.Rand, n int) (x, y []fp16.Bits) {
	for _, a := range edges {
		for _, b := range edges {
			x = append(x, a, a|sign, a, a|sign)
			y = append(y, b, b, b|sign, b|sign)
		}
	}
	for len(x) < n {
		x, y = append(x, fp16.Bits(r.Uint32())), append(y, fp16.Bits(r.Uint32()))
	}
	r.Shuffle(len(x), func(i, j int) { x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i] })
	return x[:n], y[:n]
}

// same compares halves; all NaNs are alike.
func same(t *testing.T, want, got []fp16.Bits, what string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, w := range want {
		if w != got[i] && !(w.IsNaN() && got[i].IsNaN()) {
			require.Equal(t, w, got[i], "%s: element %d of %d", what, i, len(want))
		}
	}
}

var lengths = []int{0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 47, 64, 65, 255, 257, 1296, 3000, most + 3*block + 5, 2*most + 5}

// exact is the operation in float64, where every result but that of a division is exact.
func exact(op Op, x, y float64) float64 {
	switch op {
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Max:
		return max(x, y)
	}
	return min(x, y)
}

// each runs f on every kernel that the processor has.
func each(t *testing.T, f func(t *testing.T)) {
	kernel := machine
	defer func() { machine = kernel }()
	for _, k := range simd.Levels() {
		machine = k
		t.Run(fmt.Sprint(k), f)
	}
}

func TestBinary(t *testing.T) {
	each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for op := Add; op <= Min; op++ {
			for _, n := range lengths {
				x, y := values(r, n)
				one, _ := values(r, 2)
				for _, scalar := range []string{"", "x", "y", "xy"} {
					a, b := x, y
					if scalar == "x" || scalar == "xy" {
						a = one[:1]
					}
					if scalar == "y" || scalar == "xy" {
						b = one[1:]
					}
					want, got := make([]fp16.Bits, n), make([]fp16.Bits, n+1, n+1+2*most)
					for i := range want {
						want[i] = fp16.FromFloat64(exact(op, float64(a[i%len(a)].Float32()),
							float64(b[i%len(b)].Float32())))
					}
					got[n] = 0x1234
					Binary(op, got[:n], a, b, 0)
					same(t, want, got[:n], fmt.Sprint(op, scalar))
					require.Equal(t, fp16.Bits(0x1234), got[n])
					if len(a) == n { // in place
						copy(got, a)
						Binary(op, got[:n], got[:n], b, 0)
						same(t, want, got[:n], "in place")
					}
				}
			}
		}
	})
}

func TestClampAndAbs(t *testing.T) {
	all := make([]fp16.Bits, 1<<16+7)
	for i := range all {
		all[i] = fp16.Bits(i)
	}
	each(t, func(t *testing.T) {
		got := make([]fp16.Bits, len(all))
		Abs(got, all)
		for i, b := range all {
			want := fp16.FromFloat32(float32(math.Abs(float64(b.Float32()))))
			if want != got[i] {
				t.Fatalf("%#x: %#x, not %#x", b, got[i], want)
			}
		}
		for _, ends := range [][2]fp16.Bits{{0, 0x7c00}, {0x8000, 0x7c00}, {0, 0x4600}, {0xbc00, 0x3c00},
			{0x3c00, 0xbc00},
			{0xfc00, 0x7c00}, {0x8000, 0x8000}, {0x0001, 0x03ff}} {
			low, high := ends[0].Float32(), ends[1].Float32()
			Clamp(got, all, ends[0], ends[1], true)
			for i, b := range all {
				want := fp16.FromFloat32(min(max(b.Float32(), low), high))
				if b.IsNaN() {
					want = b | quiet
				}
				if want != got[i] {
					t.Fatalf("%#x in %v: %#x, not %#x", b, ends, got[i], want)
				}
			}
			Clamp(got, all, ends[0], ends[1], false)
			require.Equal(t, fp16.Bits(quiet|sign), got[0xfd01])
			require.Equal(t, fp16.Bits(quiet), got[0x7fff])
		}
	})
}

// finite replaces NaNs and infinities.
func finite(x []fp16.Bits) []fp16.Bits {
	for i, b := range x {
		if b&infinity == infinity {
			x[i] = b &^ 0x4000
		}
	}
	return x
}

func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range lengths {
		x, _ := values(r, n)
		for w := Value; w <= Square; w++ {
			var got, want Sums
			run := func(x []fp16.Bits, s *Sums) {
				s.Add(w, x[:n/3])
				s.Add(w, x[n/3:])
			}
			run(x, &got)
			inGo(func() { run(x, &want) })
			if math.IsNaN(want.Total()) {
				require.True(t, math.IsNaN(got.Total()))
			} else {
				require.Equal(t, want.Total(), got.Total())
			}
			got, want = Sums{}, Sums{}
			x = finite(x)
			run(x, &got)
			inGo(func() { run(x, &want) })
			require.Equal(t, want, got, "%d %d", w, n)
			total := 0.0
			for _, b := range x {
				f := float64(b.Float32())
				total += [3]float64{f, math.Abs(f), f * f}[w]
			}
			require.InEpsilon(t, 1+math.Abs(total), 1+math.Abs(got.Total()), 1e-12)

			for rows := range 18 {
				if rows%5 != n%5 && !effort.Full() {
					continue
				}
				stride := n + rows%3
				x, _ := values(r, rows*stride+1)
				x = finite(x)
				one, two, want := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
				AddTo(w, one[:n], x, rows, stride)
				inGo(func() { AddTo(w, two[:n], x, rows, stride) })
				for row := range rows {
					for i := range n {
						f := float64(x[row*stride+i].Float32())
						want[i] += [3]float64{f, math.Abs(f), f * f}[w]
					}
				}
				require.Equal(t, want, one)
				require.Equal(t, want, two)
			}
		}
	}
}

func TestSpan(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	each(t, func(t *testing.T) {
		for _, n := range lengths {
			x, _ := values(r, n)
			x = finite(x)
			low, high := float32(math.Inf(1)), float32(math.Inf(-1))
			for _, b := range x {
				low, high = min(low, b.Float32()), max(high, b.Float32())
			}
			s := NewSpan()
			s.Add(x[:n/3])
			s.Add(x[n/3:])
			l, h := s.Ends()
			require.Equal(t, fp16.FromFloat32(low), l)
			require.Equal(t, fp16.FromFloat32(high), h)
			if n > 0 {
				x[n/2] = infinity
				s.Add(x)
				_, h = s.Ends()
				require.Equal(t, fp16.Bits(infinity), h)
				x[n/2] = 0xfc01
				s.Add(x)
				l, h = s.Ends()
				require.True(t, l.IsNaN() && h.IsNaN())
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	each(t, func(t *testing.T) {
		for _, s := range [][2]int{{1, 1}, {3, 5}, {8, 8}, {31, 33}, {32, 32}, {33, 64}, {64, 40}, {100, 70}, {96, 1},
			{1, 96}, {3, 1200}, {1200, 3}, {128, 300}} { // the last one has whole lines
			rows, cols := s[0], s[1]
			from, to := cols+r.IntN(5), rows+r.IntN(5)*(rows%128)
			src, dst := make([]uint16, (rows-1)*from+cols), make([]uint16, (cols-1)*to+rows)
			for i := range src {
				src[i] = uint16(r.Uint32())
			}
			for _, past := range []bool{false, true} {
				clear(dst)
				if past {
					TransposePast(dst, src, src, rows, cols, to, from)
				} else {
					Transpose(dst, src, rows, cols, to, from)
				}
				wide, wideSrc := make([]uint32, len(dst)), make([]uint32, len(src))
				for i, v := range src {
					wideSrc[i] = uint32(v) << 7
				}
				Transpose(wide, wideSrc, rows, cols, to, from)
				for i := range dst {
					want := uint16(0) // between the rows
					if c, row := i/to, i%to; row < rows {
						want = src[row*from+c]
					}
					require.Equal(t, want, dst[i], "%v at %d", s, i)
					require.Equal(t, uint32(want)<<7, wide[i])
				}
			}
		}
	})
}

func TestAllocatesNothing(t *testing.T) {
	x, y, sums := make([]fp16.Bits, 999), make([]fp16.Bits, 999), make([]float64, 999)
	each(t, func(t *testing.T) {
		require.Zero(t, testing.AllocsPerRun(10, func() {
			Binary(Max, x, x, y, 0)
			Binary(Add, x, x, y[:1], 0)
			Clamp(x, x, 0, infinity, true)
			Abs(x, x)
			AddTo(Square, sums[:300], x, 3, 300)
			var s Sums
			s.Add(Value, x)
			_ = s.Total()
			n := NewSpan()
			n.Add(x)
		}))
	})
}

func TestCopyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	each(t, func(t *testing.T) {
		for _, size := range []int{0, 1, 4, 8, 16, 31, 32, 33, 64, 112, 512, 513} {
			for rows := range 4 {
				from, to := size+r.IntN(9), size+r.IntN(9)
				src, dst := make([]byte, rows*from), make([]byte, rows*to)
				for i := range src {
					src[i] = byte(r.IntN(255) + 1)
				}
				CopyRows(dst, src, rows, size, to, from)
				for i := range dst {
					want := byte(0) // between the rows
					if at := i % to; at < size {
						want = src[i/to*from+at]
					}
					require.Equal(t, want, dst[i], "%d rows of %d bytes at %d", rows, size, i)
				}
			}
		}
	})
}

func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	each(t, func(t *testing.T) {
		for _, n := range []int{1, 15, 16, 33, 200, spansMost} {
			for rows := range 19 {
				stride := n + rows%3
				x, _ := values(r, rows*stride+1)
				if rows%2 == 0 {
					x = finite(x)
				}
				for _, least := range []bool{false, true} {
					s, got := NewSpans(least), make([]fp16.Bits, n)
					s.Add(n, x, rows, stride)
					s.Result(got)
					want := make([]fp16.Bits, n)
					for i := range want {
						f := math.Inf(-1)
						if least {
							f = math.Inf(1)
						}
						for row := range rows {
							v := float64(x[row*stride+i].Float32())
							if least {
								f = min(f, v)
							} else {
								f = max(f, v)
							}
						}
						want[i] = fp16.FromFloat64(f)
					}
					same(t, want, got, "spans")
				}
			}
		}
	})
}

// TestShortMatrices: a matrix that lacks its last element is refused before anything reads it. Nothing to add is nothing
// to read.
func TestShortMatrices(t *testing.T) {
	const rows, cols, stride = 4, 2 * tile, 2*tile + 3
	length := (rows-1)*stride + cols
	each(t, func(t *testing.T) {
		for name, f := range map[string]func(n, rows int){
			"AddTo": func(n, rows int) { AddTo(Value, make([]float64, cols), make([]fp16.Bits, n), rows, stride) },
			"Spans": func(n, rows int) {
				s := NewSpans(true)
				s.Add(cols, make([]fp16.Bits, n), rows, stride)
			},
			"MulRows": func(n, rows int) {
				MulRows(make([]float32, cols), make([]float32, rows), make([]fp16.Bits, n), stride)
			},
			"MulFew": func(n, rows int) {
				MulFew(make([]float32, 4*cols), cols, make([]float32, 4*rows), rows, rows, make([]fp16.Bits, n), stride)
			},
		} {
			require.Panics(t, func() { f(length-1, rows) }, name)
			f(length, rows)
			f(0, 0)
		}
		require.Panics(t, func() {
			MulFew(make([]float32, 4*cols), cols, make([]float32, 4*rows-1), rows, rows, make([]fp16.Bits, length), stride)
		}, "vectors of MulFew")
		require.Panics(t, func() {
			var sums [dotRows]float32
			Dots(&sums, make([]float32, cols), make([]fp16.Bits, (dotRows-1)*stride+cols-1), nil, stride)
		}, "Dots")
		for _, short := range [][2]int{{1, 0}, {0, 1}} {
			require.Panics(t, func() {
				n := (tile-1)*stride + tile
				Transpose(make([]uint16, n-short[0]), make([]uint16, n-short[1]), tile, tile, stride, stride)
			}, "Transpose")
		}
	})
}
