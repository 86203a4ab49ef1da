package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// sums is the arithmetic of a product. That of a chip is in units of 2^-16, starting from the bias. Sums of integers
// are exact in any order until the magnitudes reach the range of the register. An element that may reach it is
// summed again in the order of the hardware: kernel row, kernel column, input channel fastest.
type sums struct {
	rules       numerics.Rules // 0: sums in float32
	float       bool           // the rules lack ProductRounding: sums in float32, element by element, for comparisons
	how         int            // of gemm.Fixed
	elementwise bool           // some chips compute the product elementwise
	integers    *windows       // of a product of integers; else nil
}

// sumRules are the rules of products and sums.
const sumRules = numerics.ProductRounding | numerics.ProductDropped | numerics.Range | numerics.Fours |
	numerics.BiasLast

func newSums(r numerics.Rules) sums {
	s := sums{rules: r, float: !r.Has(numerics.ProductRounding), how: gemm.Exact}
	if r.Has(numerics.Fours) {
		s.how = gemm.Fours
	}
	return s
}

// isElementwise reports whether some chips compute a product elementwise. A convolution of one input channel and one
// kernel position passes 32768 on the M1, so it is no sum.
func isElementwise(p panels) bool {
	w, ok := p.(*windows)
	return ok && w.channels*w.win.Groups*len(w.offsets) == 1
}

// imitate makes p a product under rules that have some of sumRules, or of integers.
func (p *product) imitate(r numerics.Rules, integers bool) *product {
	p.sums = newSums(r)
	p.sums.elementwise = isElementwise(p.panels)
	if integers {
		p.sums.integers, p.sums.how = p.panels.(*windows), gemm.Exact
	}
	return p
}

// padded is rows up to a multiple of gemm.FixedRows.
func padded(rows int) int { return (rows + gemm.FixedRows - 1) / gemm.FixedRows * gemm.FixedRows }

// room is the float32s of workspace for the sums of a tile: half of them are integers.
func (s *sums) room(m, k, n int) int {
	if s.rules == 0 {
		return 0
	}
	return 2 * padded(m) * (k + n)
}

// room is the workspace of a worker: float32s, and int32s in the same memory.
type room struct {
	floats []float32
	ints   []int32
}

func roomOf(c *run.Call, worker int) room { return room{c.Work[worker], c.Words[worker]} }

// take returns n float32s that are no longer part of r.
func (r *room) take(n int) []float32 {
	taken := r.floats[:n:n]
	r.floats, r.ints = r.floats[n:], r.ints[n:]
	return taken
}

// count is take for int32s.
func (r *room) count(n int) []int32 {
	taken := r.ints[:n:n]
	r.take(n)
	return taken
}

// elements turns the sums of a tile into values to be stored.
type elements struct {
	*sums
	a, b          []float32
	k, n          int
	bias          []float32 // of each row with byRow, else of each column; empty without a bias
	byRow         bool
	scaled, sizes []float32
	least, totals []int32
}

// elements are those of a, some rows of k, times b, n columns.
func (s *sums) elements(w room, a, b []float32, k, n int) elements {
	m := padded(len(a) / k)
	return elements{sums: s, a: a, b: b, k: k, n: n,
		scaled: w.take(m * k), sizes: w.take(m * n), least: w.count(m * k), totals: w.count(m * n)}
}

// mul sets out to a times b, a product inside of an operator. With the rules of a chip it begins with bias, a row or
// nil, and its numbers are halves.
func (s *sums) mul(out, a, b, bias []float32, k, n int, w room) {
	if s.rules == 0 {
		gemm.Mul(out, a, b, len(a)/k, k, n)
		return
	}
	e := s.elements(w, a, b, k, n)
	e.bias = bias
	e.compute(out, &distance{})
	for j, f := range out {
		out[j] = float32(s.round(float64(f)))
	}
}

// round returns the number that the next step of an operator reads: on a chip f rounded to fp16.
func (s *sums) round(f float64) float64 {
	if s.rules == 0 {
		return f
	}
	return s.half(f)
}

func (s *sums) half(f float64) float64 { return float64(s.rules.Value(s.rules.Round(f))) }

// apart reports whether each element is summed by value.
func (s *sums) apart() bool { return s.float || s.elementwise }

// compute sets out to the elements.
func (e *elements) compute(out []float32, far *distance) {
	if !e.apart() {
		far.tile(e, out)
		return
	}
	for j := range out {
		out[j] = e.value(j)
	}
}

// scale is the inverse of numerics.Unit.
const scale = 1 / numerics.Unit

// sum prepares the tile for gemm, and lets it sum unless all elements are to be walked.
func (e *elements) sum(sum bool) {
	unit := float32(scale)
	if e.integers != nil {
		unit = 1
	}
	for i, f := range e.a {
		e.scaled[i], e.least[i] = f*unit, e.leastFor(f)
	}
	clear(e.scaled[len(e.a):])
	clear(e.least[len(e.a):])
	if sum {
		gemm.Fixed(e.totals, e.sizes, e.scaled, e.least, e.b, len(e.scaled)/e.k, e.k, e.n, e.how)
	}
}

// leastFor is the exponent that an element of b must exceed for its product with f to count: exponents that
// add to -17 or less do not.
func (s *sums) leastFor(f float32) int32 {
	if s.rules.Has(numerics.ProductDropped) && s.integers == nil {
		return (2*127-16)<<23 - gemm.Exponent(f) - 1
	}
	return 0
}

// inRange is the first magnitude, in units, that no sum may reach.
const inRange = 1 << 31

// start is the bias of element j.
func (e *elements) start(j int) float64 {
	switch {
	case len(e.bias) == 0:
		return 0
	case e.byRow:
		return float64(e.bias[j/e.n])
	}
	return float64(e.bias[j%e.n])
}

// units is the bias of element j as the sum begins with it.
func (e *elements) units(j int) float64 {
	if e.rules.Has(numerics.BiasLast) {
		return 0
	}
	return math.Round(e.start(j) * scale)
}

// near reports whether the sum of element j may reach the range.
func (e *elements) near(j int, units float64) bool {
	return gemm.Bound(e.sizes[j], e.k)+math.Abs(units) >= inRange
}

// finish returns element j, whose sum is total, as vec.store takes it.
func (e *elements) finish(j int, total float64) float32 {
	if bias := e.start(j); bias != 0 && (e.elementwise || e.rules.Has(numerics.BiasLast)) {
		total = e.round(total) + bias
	}
	return halves.ToOdd(total)
}

// value returns element j of a tile that gemm has not summed.
func (e *elements) value(j int) float32 {
	switch {
	case e.elementwise:
		return e.finish(j, float64(e.a[j/e.n])*float64(e.b[j%e.n]))
	case e.rules.Has(numerics.BiasLast):
		return e.finish(j, e.walkFloat(0, j))
	}
	return e.finish(j, e.walkFloat(e.start(j), j))
}

// walk sums element j in order, and stops where the sum leaves the range.
func (e *elements) walk(units int64, j int) float64 {
	a, least := e.scaled[j/e.n*e.k:][:e.k], e.least[j/e.n*e.k:][:e.k]
	var group [4]int64
	sum := e.rules.Accumulate(units, nil)
	for d := 0; d < e.k && !math.IsInf(sum, 0); {
		taken := min(len(group), e.k-d)
		for g := range taken {
			group[g] = 0
			if f := e.b[(d+g)*e.n+j%e.n]; gemm.Exponent(f) > least[d+g] {
				group[g] = int64(math.Round(float64(a[d+g]) * float64(f)))
			}
		}
		sum = e.rules.Accumulate(int64(sum*scale), group[:taken])
		d += taken
	}
	return sum
}

// walkFloat sums element j in float32, as the reference does, with the other rules.
func (e *elements) walkFloat(start float64, j int) float64 {
	var sum float32
	a := e.a[j/e.n*e.k:][:e.k]
	for d := 0; d <= e.k; d++ {
		if d == e.k {
			sum += float32(start)
		} else if g := e.b[d*e.n+j%e.n]; gemm.Exponent(g) > e.leastFor(a[d]) {
			sum += a[d] * g
		}
		if e.rules.Has(numerics.Range) && !(sum < 32768 && sum > -32768) {
			return math.Inf(int(math.Copysign(1, float64(sum))))
		}
	}
	return float64(sum)
}

// distance tells how close a tile's sums come to overflow. Where most elements of a tile are walked, summing them in
// any order first is wasted work.
type distance struct {
	near   bool    // most pieces of the last tile that was summed were walked
	before int     // tiles since then
	most   float32 // the largest magnitude of the panel on the right, once it is looked for
	looked bool
}

// again is after how many tiles that were only walked one is summed, to see whether it is near too.
const again = 16

// tile sums the elements of a tile: in any order, and those that may reach the range once more in the order
// of the hardware, with their neighbors.
func (d *distance) tile(e *elements, out []float32) {
	m := len(e.a) / e.k
	inOrder := e.rules.Has(numerics.Range)
	walkAll := inOrder && d.near && d.before < again
	d.before++
	e.sum(!walkAll)
	pieces, walked := 0, 0
	inside, looked := false, e.how != gemm.Fours
	for i := 0; i < m; i += gemm.WalkRows {
		var columns int
		for j := 0; j < e.n; j += columns {
			rows := min(gemm.WalkRows, m-i)
			columns = min(gemm.WalkColumns, e.n-j)
			pieces++
			if inOrder && (walkAll || e.anyNear(i, j, rows, columns)) {
				if !d.looked && !looked {
					d.most, d.looked = gemm.Most(e.b), true
				}
				if !looked {
					inside, looked = gemm.InsideGroup(gemm.Most(e.scaled[:len(e.a)]), d.most), true
				}
				columns = e.walkPiece(out, i, j, rows, columns, inside)
				walked++
				continue
			}
			for r := range rows {
				for at := (i+r)*e.n + j; at < (i+r)*e.n+j+columns; at++ {
					units := e.units(at)
					total := (units + float64(e.totals[at])) * numerics.Unit
					if !inOrder && e.near(at, units) {
						total = e.walk(int64(units), at)
					}
					out[at] = e.finish(at, total)
				}
			}
		}
	}
	if !walkAll {
		d.near, d.before = 2*walked > pieces, 0
	}
}

func (e *elements) anyNear(i, j, rows, columns int) bool {
	for r := range rows {
		for at := (i+r)*e.n + j; at < (i+r)*e.n+j+columns; at++ {
			if e.near(at, e.units(at)) {
				return true
			}
		}
	}
	return false
}

// walkPiece sums a piece of at most columns in order, and returns how many it had. inside is that of gemm.Walk.
func (e *elements) walkPiece(out []float32, i, j, rows, columns int, inside bool) int {
	var sums [gemm.WalkRows * gemm.WalkColumns]float64
	for r := range rows {
		for c := range columns {
			sums[r*gemm.WalkColumns+c] = e.units((i+r)*e.n + j + c)
		}
	}
	columns = gemm.Walk(&sums, e.scaled, e.least, e.b, i, j, e.k, e.n, e.how, inside)
	for r := range rows {
		for c := range columns {
			at := (i+r)*e.n + j + c
			out[at] = e.finish(at, sums[r*gemm.WalkColumns+c]*numerics.Unit)
		}
	}
	return columns
}

// function returns a function of a half as a chip has it, or exactly if the rules lack tables.
func (s sums) function(op string, exact func(x float64) float64) func(x float64) float64 {
	if s.rules == 0 {
		return exact
	}
	return func(x float64) float64 {
		// x is a half, or 65536 and more, which is infinite
		if h, ok := s.rules.Unary(op, fp16.FromFloat32(float32(x)), 0); ok {
			return float64(s.rules.Value(h))
		}
		return s.half(exact(x))
	}
}

// computeIntegers sets out to the elements of a tile of integers from row m0 on.
func (e *elements) computeIntegers(c *run.Call, out []float32, batch, m0 int) {
	e.sum(true)
	for j := range out {
		out[j] = e.integer(j, e.integers.scale(c, batch, m0+j/e.n))
	}
}

// integer returns element j of a tile of integers, as vec.store takes it.
func (e *elements) integer(j int, scale float64) float32 {
	sum := int64(e.totals[j])
	if gemm.Bound(e.sizes[j], e.k) >= inRange {
		sum = 0
		for d, f := range e.a[j/e.n*e.k:][:e.k] {
			sum += int64(f) * int64(e.b[d*e.n+j%e.n])
		}
	}
	return halves.ToOdd(e.rules.ScaleInt8(sum, scale) + e.start(j))
}
