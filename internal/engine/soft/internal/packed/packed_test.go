package packed

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/budget"
	"github.com/anekit/anekit/internal/require"
)

// kernels lists the kernels that this processor has.
func kernels() []string {
	if detect() == portable {
		return []string{portable}
	}
	all := []string{portable, detect()}
	if detect() == "avx512" {
		all = append(all, "avx2")
	}
	return all
}

func eachKernel(t *testing.T, test func(t *testing.T)) {
	had := machine.kernel
	defer func() { machine.kernel = had }()
	for _, k := range kernels() {
		machine.kernel = k
		t.Run(k, test)
	}
}

// kind is a kind of Weights.
type kind struct {
	bits   int
	width  int
	signed bool
	offset int // 0 none, 1 integers, 2 halves, 3 float32
}

func (k kind) String() string {
	return fmt.Sprintf("bits %d width %d signed %v offset %d", k.bits, k.width, k.signed, k.offset)
}

func kinds() (all []kind) {
	for _, bits := range []int{2, 3, 4, 6, 8} {
		for _, signed := range []bool{false, true} {
			for offset := range 4 {
				all = append(all, kind{bits, 0, signed, offset}, kind{bits, 8, signed, offset})
			}
		}
	}
	return all
}

// random returns Weights of a kind. extreme ones have scales and offsets of every magnitude.
func random(r *rand.Rand, k kind, rows, cols, high, wide int, extreme bool) *Weights {
	w := &Weights{Bits: k.bits, Width: k.width, Signed: k.signed, Rows: rows, Cols: cols, High: high, Wide: wide}
	w.Data = make([]byte, (rows*cols*w.width()+7)/8)
	for i := 0; i < len(w.Data); i += 8 {
		for j, n := i, r.Uint64(); j < min(i+8, len(w.Data)); j++ {
			w.Data[j] = byte(n)
			n >>= 8
		}
	}
	if k.width == 8 { // integers in bytes of their own
		for i, b := range w.Data {
			w.Data[i] = b & (1<<k.bits - 1)
			if k.signed {
				w.Data[i] = byte(int8(b<<(8-k.bits)) >> (8 - k.bits))
			}
		}
	}
	integer := func() byte {
		b := byte(r.Uint32())
		if k.signed {
			return byte(int8(b) >> (8 - k.bits))
		}
		return b >> (8 - k.bits)
	}
	for range rows / high * (cols / wide) {
		s, o := fp16.FromFloat64((0.5+r.Float64())/64), r.Float64()*float64(int(1)<<k.bits)
		if extreme {
			s, o = fp16.Bits(r.Uint32()), math.Ldexp(r.Float64()-0.5, r.IntN(70)-40)
			if r.IntN(3) == 0 {
				s = s & 0x3fff // of a magnitude that kernels take
				o = math.Trunc(o)
			}
		}
		w.Scale = append(w.Scale, s)
		switch k.offset {
		case 1:
			w.OffsetByte = append(w.OffsetByte, integer())
		case 2:
			w.OffsetHalf = append(w.OffsetHalf, fp16.FromFloat64(o))
		case 3:
			w.OffsetSingle = append(w.OffsetSingle, float32(o))
		}
	}
	return w
}

// value is an element by the definition.
func (w *Weights) value(row, col int) fp16.Bits {
	i := row*w.Cols + col
	n := 0
	for b := range w.Bits {
		at := i*w.width() + b
		n |= int(w.Data[at/8]) >> (at % 8) & 1 << b
	}
	if w.Signed && n >= 1<<(w.Bits-1) {
		n -= 1 << w.Bits
	}
	block := row/w.High*(w.Cols/w.Wide) + col/w.Wide
	o := 0.0
	switch {
	case w.OffsetHalf != nil:
		o = float64(w.OffsetHalf[block].Float32())
	case w.OffsetSingle != nil:
		o = float64(w.OffsetSingle[block])
	case w.OffsetByte != nil && w.Signed:
		o = float64(int8(w.OffsetByte[block]))
	case w.OffsetByte != nil:
		o = float64(w.OffsetByte[block])
	}
	scale := float64(w.Scale[block].Float32())
	if finite := scale - scale + o - o; finite != 0 {
		return fp16.FromFloat64(scale * (float64(n) - o))
	}
	exact := big.NewFloat(o).SetPrec(600)
	exact.Mul(big.NewFloat(scale), exact.Sub(big.NewFloat(float64(n)).SetPrec(600), exact))
	return half(exact)
}

// half rounds an exact number once.
func half(exact *big.Float) fp16.Bits {
	near, accuracy := exact.Float64()
	if bits := math.Float64bits(near); accuracy != big.Exact && bits&1 == 0 && !math.IsInf(near, 0) {
		if (accuracy == big.Below) == (near > 0) { // near is odd: rounding it again rounds the exact number
			near = math.Float64frombits(bits + 1)
		} else {
			near = math.Float64frombits(bits - 1)
		}
	}
	return fp16.FromFloat64(near)
}

// same compares bits; all NaN are alike.
func same(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }

func halves(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = fp16.FromFloat64(r.NormFloat64()).Float32()
	}
	return x
}

// anyHalves returns halves of every magnitude, at times with one that is infinite.
func anyHalves(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		b := fp16.Bits(r.Uint32())
		if b&0x7c00 == 0x7c00 {
			b &^= 0x4000
		}
		x[i] = b.Float32()
	}
	if r.IntN(4) == 0 {
		x[r.IntN(n)] = float32(math.Inf(1))
	}
	return x
}

// arranged is Arrange in memory whose earlier contents must not matter.
func arranged(w *Weights, x []float32) Vector {
	room := make([]float32, w.VectorRoom())
	for i := range room {
		room[i] = float32(math.NaN())
	}
	return w.Arrange(x, room)
}

// rounds is all, or few under the race detector, which finds nothing here, in the emulator and in a plain go test.
func rounds(all, few int) int {
	if budget.Whole() {
		return all
	}
	return few
}

func TestElements(t *testing.T) {
	budget.SkipRace(t)
	r := rand.New(rand.NewPCG(1, 2))
	eachKernel(t, func(t *testing.T) {
		for i := range rounds(6, 2) {
			for _, k := range kinds() {
				rows, cols, wide := 1+r.IntN(9), 64*(1+r.IntN(5)), 64
				if i%2 == 0 {
					cols = 1 + r.IntN(150)
					wide = 1 + r.IntN(cols)
					for cols%wide != 0 {
						wide--
					}
				}
				w := random(r, k, rows, cols, 1, wide, i%3 == 2)
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
	budget.SkipRace(t)
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

// reference is the sum of a row as the comment of the package defines it.
func reference(w *Weights, x []float32, row int) float32 {
	if w.Bits == 4 && w.Width == 0 && w.High == 1 && w.Cols%64 == 0 &&
		(w.Wide == 32 || w.Wide == 64 || w.Wide%128 == 0 || w.Wide == w.Cols) {
		if sum, ok := integers(w, x, row); ok {
			return sum
		}
	}
	return inOrder(w, x, row)
}

// inOrder is the sum of products of elements.
func inOrder(w *Weights, x []float32, row int) float32 {
	sums := make([]float32, Lanes)
	for k := range w.Cols {
		sums[k%Lanes] += float32(w.value(row, k).Float32() * x[k])
	}
	for len(sums) > 1 {
		var next []float32
		for i := 0; i < len(sums); i += 2 {
			next = append(next, sums[i]+sums[i+1])
		}
		sums = next
	}
	return sums[0]
}

// integers is the sum of products of integers, and false if an element may be beyond the halves or x is not finite.
func integers(w *Weights, x []float32, row int) (float32, bool) {
	blocks := w.Cols / w.Wide
	greater := 0 // what makes integers unsigned
	if w.Signed {
		greater = 8
	}
	type factor struct{ scale, product, sum float32 }
	factors := make([]factor, blocks)
	for b := range factors {
		f := &factors[b]
		f.scale = w.Scale[row*blocks+b].Float32()
		o := float32(0)
		switch {
		case w.OffsetHalf != nil:
			o = w.OffsetHalf[row*blocks+b].Float32()
		case w.OffsetSingle != nil:
			o = w.OffsetSingle[row*blocks+b]
		case w.OffsetByte != nil && w.Signed:
			o = float32(int8(w.OffsetByte[row*blocks+b]))
		case w.OffsetByte != nil:
			o = float32(w.OffsetByte[row*blocks+b])
		}
		f.product = float32(f.scale*o) + float32(float32(greater)*f.scale)
		if !(math.Abs(float64(f.product))+16*math.Abs(float64(f.scale)) <= 65504) {
			return 0, false
		}
	}
	var lanes [16]float32
	var products [][2]float32 // of each eight columns
	group := min(w.Wide, 128)
	if steep(x, group) {
		return 0, false
	}
	for from := 0; from < w.Cols; from += group {
		part := x[from:min(from+group, w.Cols)]
		most := 0.0
		for _, f := range part {
			if f != f || math.IsInf(float64(f), 0) {
				return 0, false
			}
			most = max(most, math.Abs(float64(f)))
		}
		exponent := -24
		if most >= 0x1p-24 {
			_, exponent = math.Frexp(most)
			exponent--
		}
		one := math.Ldexp(1, exponent-21)
		total := 0
		for k := 0; k < len(part); k += 8 {
			n := 0
			for i, f := range part[k:][:8] {
				whole := int(math.RoundToEven(float64(f) / one))
				at := row*w.Cols + from + k + i
				stored := int(w.Data[at/2]>>(at%2*4)) & 15
				if w.Signed {
					stored = (stored ^ 8) - 8
				}
				n += (stored + greater) * whole
				total += whole
			}
			scale := float32(factors[from/w.Wide].scale * float32(one))
			products = append(products, [2]float32{float32(n), scale})
		}
		factors[from/w.Wide].sum += float32(float32(total) * float32(one))
	}
	for b, f := range factors {
		lanes[b%16] -= float32(f.product * f.sum)
	}
	for i, p := range products {
		exact := new(big.Float).SetPrec(600).Mul(big.NewFloat(float64(p[0])), big.NewFloat(float64(p[1])))
		lanes[i%16], _ = exact.Add(exact, big.NewFloat(float64(lanes[i%16]))).Float32()
	}
	for _, n := range []int{8, 4, 2, 1} {
		for i := range n {
			lanes[i] += lanes[i+n]
		}
	}
	return lanes[0], true
}

// steep reports whether, of any 32 columns, at least half of those that are not 0 are less than 2^-12 of the power of
// two in the greatest of their group.
func steep(x []float32, group int) bool {
	for from := 0; from < len(x); from += 32 {
		start := from / group * group
		most, small, all := 0.0, 0, 0
		for _, f := range x[start:min(start+group, len(x))] {
			most = math.Max(most, math.Abs(float64(f)))
		}
		_, exponent := math.Frexp(most)
		for _, f := range x[from : from+32] {
			if f != 0 {
				all++
			}
			if f != 0 && math.Abs(float64(f)) < math.Ldexp(1, exponent-13) {
				small++
			}
		}
		if small > 0 && 2*small >= all {
			return true
		}
	}
	return false
}

// steepHalves returns halves with some that are far greater than all others.
func steepHalves(r *rand.Rand, n int) []float32 {
	x := halves(r, n)
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
						require.Equal(t, !steep(x, min(wide, 128)), v.finite)
					}
				}
			}
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
				x := halves(r, cols)
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
		for i := range rounds(12, 2) {
			for _, k := range kinds() {
				rows, wide := 1+r.IntN(40), []int{64, 64, 128, 32, 192, 20, 32, 64, 256}[i%9]
				cols := wide * (1 + r.IntN(4+i))
				if i%6 == 4 {
					cols = wide
				}
				w := random(r, k, rows, cols, 1, wide, i%4 == 3)
				x := halves(r, cols)
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
	budget.SkipRace(t)
	r := rand.New(rand.NewPCG(13, 14))
	eachKernel(t, func(t *testing.T) {
		for _, wide := range []int{32, 64, 128, 256} {
			for offset := range 4 {
				const rows, cols = 9, 1024
				w := random(r, kind{4, 0, offset%2 == 1, offset}, rows, cols, 1, wide, false)
				x := halves(r, cols)
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
					x := halves(r, cols)
					x[at] = float32(odd)
					check(x, false, fmt.Sprint(odd, " at ", at))
				}
			}
			x := make([]float32, cols)
			check(x, true, "zeros")
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
	x := halves(rand.New(rand.NewPCG(11, 12)), cols)
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
