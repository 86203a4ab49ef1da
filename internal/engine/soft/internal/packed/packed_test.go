package packed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
)

func TestElements(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(1, 2))
	eachKernel(t, func(t *testing.T) {
		for i := range effort.Rounds(8, 4) {
			for _, k := range kinds() {
				high := 1 + i%3
				rows, cols, wide := high*(1+r.IntN(4)), 64*(1+r.IntN(5)), 64
				if i%2 == 0 {
					cols = 1 + r.IntN(150)
					wide = 1 + r.IntN(cols)
					for cols%wide != 0 {
						wide--
					}
				}
				w := random(r, k, rows, cols, high, wide, i%4 == 3)
				for row := range rows {
					for range 4 {
						from := r.IntN(cols)
						length := 1 + r.IntN(cols-from)
						if cols%16 == 0 && r.IntN(3) > 0 { // what kernels take
							from = from / 16 * 16
							length = (cols - from) / 16 * 16
						}
						got := make([]fp16.Bits, length)
						floats := make([]float32, len(got))
						w.Halves(got, row, from)
						w.Floats(floats, row, from)
						for j := range got {
							want := w.value(row, from+j)
							if want.Float32() != want.Float32() {
								require.True(t, got[j].Float32() != got[j].Float32())
								require.True(t, floats[j] != floats[j])
								continue
							}
							require.Equal(t, want, got[j], "%v: row %d column %d", k, row, from+j)
							require.Equal(t, want.Float32(), floats[j], "%v: row %d column %d", k, row, from+j)
						}
					}
				}
			}
		}
	})
}

// An offset of float32 may decide which of two halves is nearer, far below the bits of a float64.
func TestTinyOffsetsDecide(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(17, 18))
	eachKernel(t, func(t *testing.T) {
		for _, bits := range []int{2, 3, 4, 6, 8} {
			for i := range 40 {
				w := random(r, kind{bits, 0, i%2 == 0, 3}, 3, 128, 1, 32, false)
				for b := range w.Scale { // products of three and of seven are halfway between halves
					w.Scale[b] = fp16.FromFloat64(float64(1025+2*r.IntN(500)) / 65536)
					w.OffsetSingle[b] = float32(math.Ldexp(r.Float64()-0.5, -60+r.IntN(40)))
				}
				for row := range w.Rows {
					got, floats := make([]fp16.Bits, w.Cols), make([]float32, w.Cols)
					w.Halves(got, row, 0)
					w.Floats(floats, row, 0)
					for col := range got {
						want := w.value(row, col)
						require.Equal(t, want.Float32(), got[col].Float32(), "%d bits, row %d column %d", bits, row, col)
						require.Equal(t, want.Float32(), floats[col], "%d bits, row %d column %d", bits, row, col)
					}
				}
			}
		}
	})
}

// steepHalves returns halves with some that are far greater than all others.
func steepHalves(r *rand.Rand, n int) []float32 {
	x := halvesOf(r, n)
	for i := range x {
		x[i] = fp16.FromFloat64(math.Ldexp(float64(x[i]), -4-r.IntN(8))).Float32()
	}
	for range 1 + r.IntN(n/32) {
		x[r.IntN(n)] = fp16.FromFloat64(r.Float64() * 60000).Float32()
	}
	return x
}

// Vectors just within and just beyond what is steep: 15, 16 or 17 of 32 columns at the bound or below it.
func TestSteepAtItsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	eachKernel(t, func(t *testing.T) {
		for _, wide := range []int{32, 64, 192} {
			const cols = 192
			w := random(r, kind{4, 0, true, 2}, 1, cols, 1, wide, false)
			for from := 0; from < cols; from += 32 {
				for _, small := range []int{15, 16, 17} {
					for _, f := range []float32{0x1p-5, 0x1.ffcp-6} { // beside 128: 2^-12 of it, and less
						x := make([]float32, cols)
						for i := range x {
							x[i] = 128 + float32(r.IntN(64))
						}
						for _, i := range r.Perm(32)[:small] {
							x[from+i] = f
						}
						v := arranged(w, x)
						require.Equal(t, small < 16 || f == 0x1p-5, v.finite, "blocks of %d, %d times %v from %d on",
							wide, small, f, from)
						require.Equal(t, !steep(x, min(wide, 128), 12), v.finite)
					}
				}
			}
			x := make([]float32, cols) // each group has its own bound
			for i := range x {
				x[i] = 128 + float32(r.IntN(64))
				if i/min(wide, 128)%2 == 1 {
					x[i] /= 1 << 14
				}
			}
			require.True(t, arranged(w, x).finite, "blocks of %d, small groups between great ones", wide)
		}
	})
}

// A row whose elements are 0 where those of a vector are far greater than all others is the sum of the small ones.
func TestSmallElementsCount(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	eachKernel(t, func(t *testing.T) {
		for _, wide := range []int{32, 64, 128, 192, 256} {
			for _, signed := range []bool{false, true} {
				rows, cols := 5, 1536
				w := random(r, kind{4, 0, signed, 1}, rows, cols, 1, wide, false)
				x := halvesOf(r, cols)
				for k := range x {
					if x[k] = fp16.FromFloat64(float64(x[k]) / 128).Float32(); k%(wide/2) == 5 {
						x[k] = 60000
						for row := range rows {
							at := row*cols + k
							w.Data[at/2] &^= 15 << (at % 2 * 4)
							w.Data[at/2] |= w.OffsetByte[w.block(row, k)] & 15 << (at % 2 * 4)
						}
					}
				}
				v, sums := arranged(w, x), make([]float32, rows)
				w.Dots(sums, &v, make([]float32, w.Room(rows)), 0)
				for row, got := range sums {
					var exact, magnitude float64
					for k, f := range x {
						e := float64(f) * float64(w.value(row, k).Float32())
						exact += e
						magnitude += math.Abs(e)
					}
					require.InDelta(t, exact, float64(got), math.Ldexp(magnitude, -20), "blocks of %d, row %d", wide, row)
				}
			}
		}
	})
}

func TestDots(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	eachKernel(t, func(t *testing.T) {
		for i := range effort.Rounds(12, 2) {
			for _, k := range kinds() {
				rows, wide := 1+r.IntN(40), []int{64, 64, 128, 32, 192, 20, 32, 64, 256}[i%9]
				cols := wide * (1 + r.IntN(4+i))
				if i%6 == 4 {
					cols = wide
				}
				w := random(r, k, rows, cols, 1, wide, i%4 == 3)
				x := halvesOf(r, cols)
				switch i % 5 {
				case 2:
					x = steepHalves(r, cols)
				case 3:
					x = anyHalves(r, cols)
				}
				v := arranged(w, x)
				from := r.IntN(rows)
				sums := make([]float32, rows-from)
				room := make([]float32, w.Room(rows))
				wants := make([]float32, rows)
				for row := range wants {
					wants[row] = reference(w, x, row)
				}
				check := func(what string, sums []float32, from int) {
					w.Dots(sums, &v, room, from)
					for j, got := range sums {
						want := wants[from+j]
						require.True(t, same(want, got), "%v, %dx%d blocks of %d, %s: row %d is %v, not %v", k, rows,
							cols, wide, what, from+j, got, want)
					}
				}
				check("once", sums, from)
				w.Remember()
				check("first", make([]float32, rows), 0)
				check("again", make([]float32, rows), 0)
				check("a part", sums, from)
			}
		}
	})
}

// The products of integers are those of the exact elements, within the bound of the package's comment and the
// roundings of a sum in float32. Without the rest of the digits of an element the first row would be far from it.
func TestIntegersAreNearExact(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(13, 14))
	eachKernel(t, func(t *testing.T) {
		for _, wide := range []int{32, 64, 128, 256} {
			for offset := range 4 {
				const rows, cols = 9, 1024
				w := random(r, kind{4, 0, offset%2 == 1, offset}, rows, cols, 1, wide, false)
				x := halvesOf(r, cols)
				for i := 5; i < cols; i += 200 {
					x[i] *= 500 // as some activations of language models are; a steep vector has products of elements
				}
				v, sums := arranged(w, x), make([]float32, rows)
				w.Dots(sums, &v, make([]float32, w.Room(rows)), 0)
				for row, got := range sums {
					var exact, moved, magnitude float64
					for k, f := range x {
						scale, offset := w.rescale(w.block(row, k))
						number := w.number(w.integer(row*cols + k))
						exact += float64(f) * scale * (number - offset)
						most := 0.0
						for from, i := k/min(wide, 128)*min(wide, 128), 0; i < min(wide, 128); i++ {
							most = max(most, math.Abs(float64(x[from+i])))
						}
						if math.Abs(float64(f)) < most/2048 {
							moved += math.Ldexp(most*math.Abs(scale*(number-offset)), -22)
						}
						magnitude += math.Abs(float64(f)) * scale * (24 + math.Abs(offset))
					}
					roundings := float64(cols/128 + cols/wide + 12)
					require.InDelta(t, exact, float64(got), moved+math.Ldexp(roundings*magnitude, -24),
						"blocks of %d, offset %d, row %d", wide, offset, row)
				}
			}
		}
	})
}

// A vector with one infinite element has the products of elements, wherever it is; one of the least halves does not.
func TestVectorsAtTheLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	eachKernel(t, func(t *testing.T) {
		for _, wide := range []int{32, 64, 192} {
			const rows, cols = 3, 192
			w := random(r, kind{4, 0, true, 2}, rows, cols, 1, wide, false)
			check := func(x []float32, finite bool, what string) {
				v, sums := arranged(w, x), make([]float32, rows)
				require.Equal(t, finite, v.finite, "blocks of %d, %s", wide, what)
				w.Dots(sums, &v, make([]float32, w.Room(rows)), 0)
				for row, got := range sums {
					require.True(t, same(reference(w, x, row), got), "blocks of %d, %s, row %d", wide, what, row)
				}
			}
			for at := 3; at < cols; at += 31 {
				for _, odd := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
					x := halvesOf(r, cols)
					x[at] = float32(odd)
					check(x, false, fmt.Sprint(odd, " at ", at))
				}
			}
			x := make([]float32, cols)
			check(x, true, "zeros")
			for i := range x {
				x[i] = float32(math.Inf(1 - i%2*2))
			}
			check(x, false, "infinities")
			for i := range x {
				x[i] = float32(r.IntN(9)-4) * 0x1p-24
			}
			check(x, true, "the least halves")
		}
	})
}

// What Dots remembers of one batch of rows is not what it knows of the next.
func TestRemembersEachBatch(t *testing.T) {
	const cols, wide = 128, 64
	w := random(rand.New(rand.NewPCG(9, 10)), kind{4, 0, false, 2}, 5*batch/2, cols, 1, wide, false)
	for i := range w.OffsetHalf {
		switch i / (batch * cols / wide) {
		case 0:
			w.OffsetHalf[i] = fp16.FromFloat64(7.5)
		case 1:
			w.OffsetHalf[i] = fp16.FromFloat64(0.3)
		default:
			w.Scale[i] = fp16.FromFloat64(60000)
		}
	}
	x := halvesOf(rand.New(rand.NewPCG(11, 12)), cols)
	eachKernel(t, func(t *testing.T) {
		w.Remember()
		v := arranged(w, x)
		sums := make([]float32, w.Rows)
		for range 2 {
			w.Dots(sums, &v, make([]float32, w.Room(w.Rows)), 0)
			for row, got := range sums {
				require.True(t, same(reference(w, x, row), got), "row %d", row)
			}
		}
	})
}

func TestAllocatesNothing(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, k := range kinds() {
			w := random(rand.New(rand.NewPCG(7, 8)), k, 8, 128, 1, 64, false)
			x, sums, room := make([]float32, 128), make([]float32, 8), make([]float32, w.Room(8))
			memory := make([]float32, w.VectorRoom())
			require.Zero(t, testing.AllocsPerRun(5, func() {
				v := w.Arrange(x, memory)
				w.Dots(sums, &v, room, 0)
				w.Floats(x, 3, 0)
			}), "%v", k)
		}
	})
}
