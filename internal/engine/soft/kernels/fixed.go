package kernels

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// fixed is a product with the sums of a chip: in units of 2^-16, starting from the bias. Sums of integers are
// exact in any order until the magnitudes reach the range of the register. An element that may reach it is
// summed again in the order of the hardware: kernel row, kernel column, input channel fastest.
type fixed struct {
	product
	rules   numerics.Rules
	float   bool // the rules lack ProductRounding: sums in float32, element by element, for comparisons
	how     int  // of gemm.Fixed
	multi   multiplier
	starter starter
	scales  scales // of a product of integers; else nil
	only    int    // element to compute, counted from 1; 0 for all
}

// starter are panels that have a bias: start writes the one of rows m0 to m1, or of columns n0 to n1, and
// reports which; n is 0 if there is none. Their store must not add it if fixedPoint.
type starter interface {
	start(c *run.Call, dst []float32, batch, m0, m1, n0, n1 int) (n int, rows bool)
}

// multiplier are panels of a product that some chips compute elementwise.
type multiplier interface{ elementwise() bool }

// fixedPoint reports whether the results of a product already contain the bias.
func fixedPoint(c *run.Call) bool {
	_, ok := c.Run.(*fixed)
	return ok
}

// sumRules are the rules of products and sums.
const sumRules = numerics.ProductRounding | numerics.ProductDropped | numerics.Range | numerics.Fours |
	numerics.BiasLast

// newFixed makes the runner of a product under rules that have some of sumRules.
func newFixed(p *product, r numerics.Rules) (*fixed, int) {
	f := &fixed{product: *p, rules: r, float: !r.Has(numerics.ProductRounding), how: gemm.Exact}
	if r.Has(numerics.Fours) {
		f.how = gemm.Fours
	}
	f.starter, _ = p.panels.(starter)
	f.multi, _ = p.panels.(multiplier)
	rows := f.padded()
	// float32s: C, A, A scaled, sizes, biases, spare, B; int32s: the least exponents, sums
	return f, f.rows*f.cols + f.rows*f.k + 2*(rows*f.k+rows*f.cols) + max(f.rows, f.cols) + f.spare + f.k*f.cols
}

// padded is the rows of a tile, up to a multiple of gemm.FixedRows.
func (r *fixed) padded() int { return (r.rows + gemm.FixedRows - 1) / gemm.FixedRows * gemm.FixedRows }

func (r *fixed) Run(c *run.Call) {
	down, across := r.tiles()
	if tile, _, ok := r.single(); ok {
		c.Run.Span(c, tile, tile+1, 0)
		return
	}
	c.Spread(r.batch*down*across, r.rows*r.cols*r.k)
}

// single returns the tile of the element that only names, and the element's place in it. ok is false if the result is
// not the matrices one after another, in rows.
func (r *fixed) single() (tile, place int, ok bool) {
	if r.only == 0 || !r.rowMajor() {
		return 0, 0, false
	}
	down, across := r.tiles()
	i := r.only - 1
	batch, m, n := i/r.n/r.m, i/r.n%r.m, i%r.n
	width := min(r.cols, r.n-n/r.cols*r.cols)
	return (batch*across+n/r.cols)*down + m/r.rows, m%r.rows*width + n%r.cols, true
}

// tileOf is the memory for one tile.
type tileOf struct {
	out, a, scaled, sizes, bias, spare, b []float32
	least, sums                           []int32
}

func (r *fixed) memory(c *run.Call, worker int) (t tileOf) {
	rows, floats, ints := r.padded(), c.Work[worker], c.Words[worker]
	take := func(n int) (f []float32) {
		f, floats, ints = floats[:n:n], floats[n:], ints[n:]
		return f
	}
	count := func(n int) (i []int32) {
		i, floats, ints = ints[:n:n], floats[n:], ints[n:]
		return i
	}
	t.out, t.a, t.scaled, t.sizes = take(r.rows*r.cols), take(r.rows*r.k), take(rows*r.k), take(rows*r.cols)
	t.bias, t.spare = take(max(r.rows, r.cols)), take(r.spare)
	t.least, t.sums = count(rows*r.k), count(rows*r.cols)
	t.b = take(r.k * r.cols)
	return t
}

// Span computes tiles lo to hi as product.span does.
func (r *fixed) Span(c *run.Call, lo, hi, worker int) {
	down, across := r.tiles()
	t := r.memory(c, worker)
	var b []float32
	filled, far := -1, distance{}
	for i := lo; i < hi && !c.Pause(worker); i++ {
		m0 := i % down * r.rows
		m1 := min(m0+r.rows, r.m)
		batch, n0 := i/down/across, i/down%across*r.cols
		n1 := min(n0+r.cols, r.n)
		if filled != i/down {
			b = r.panels.right(c, t.b[:r.k*(n1-n0)], t.spare, batch, n0, n1)
			filled = i / down
			far.fresh()
		}
		a := r.panels.left(c, t.a[:(m1-m0)*r.k], t.spare, batch, m0, m1)
		n, byRow := 0, false
		if r.starter != nil {
			n, byRow = r.starter.start(c, t.bias, batch, m0, m1, n0, n1)
		}
		e := elements{fixed: r, a: a, b: b, n: n1 - n0, bias: t.bias[:n], byRow: byRow}
		out := t.out[:(m1-m0)*(n1-n0)]
		switch {
		case r.scales != nil:
			r.sum(&t, a, b, m1-m0, n1-n0, true)
			e.t = &t
			for j := range out {
				out[j] = e.integer(j, r.scales.scaleOf(c, batch, m0+j/e.n))
			}
		case r.float || r.multi != nil && r.multi.elementwise():
			if _, j, ok := r.single(); ok {
				out[j] = e.value(j)
				break
			}
			for j := range out {
				out[j] = e.value(j)
			}
		default:
			e.t = &t
			far.tile(&e, out, m1-m0)
		}
		r.panels.store(c, out, t.spare, batch, m0, m1, n0, n1)
		c.Complete((batch*r.m+m0)*r.n, (batch*r.m+m1)*r.n, worker)
	}
}

// scale is the inverse of numerics.Unit.
const scale = 1 / numerics.Unit

// sum prepares the tile for gemm, and lets it sum unless all elements are to be walked.
func (r *fixed) sum(t *tileOf, a, b []float32, m, n int, sum bool) {
	rows := (m + gemm.FixedRows - 1) / gemm.FixedRows * gemm.FixedRows
	unit, how := float32(scale), r.how
	if r.scales != nil {
		unit, how = 1, gemm.Exact
	}
	for i, f := range a {
		t.scaled[i], t.least[i] = f*unit, r.leastFor(f)
		if r.scales != nil {
			t.least[i] = 0
		}
	}
	clear(t.scaled[len(a) : rows*r.k])
	clear(t.least[len(a) : rows*r.k])
	if sum {
		gemm.Fixed(t.sums, t.sizes, t.scaled, t.least, b, rows, r.k, n, how)
	}
}

// leastFor is the exponent that an element of b must exceed for its product with f to count: exponents that
// add to -17 or less do not.
func (r *fixed) leastFor(f float32) int32 {
	if r.rules.Has(numerics.ProductDropped) {
		return (2*127-16)<<23 - gemm.Exponent(f) - 1
	}
	return 0
}

// elements turns the sums of a tile into values to be stored.
type elements struct {
	*fixed
	t     *tileOf // nil if each element is summed here
	a, b  []float32
	n     int
	bias  []float32 // of each row with byRow, else of each column; empty without a bias
	byRow bool
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
	return gemm.Bound(e.t.sizes[j], e.k)+math.Abs(units) >= inRange
}

// finish returns element j, whose sum is total, as vec.store takes it.
func (e *elements) finish(j int, total float64) float32 {
	if bias := e.start(j); bias != 0 && e.rules.Has(numerics.BiasLast) {
		total = float64(e.rules.Value(e.rules.Round(total))) + bias
	}
	return toOdd(total)
}

// value returns element j of a tile that gemm has not summed.
func (e *elements) value(j int) float32 {
	if e.multi != nil && e.multi.elementwise() {
		r := e.rules
		total, bias := float64(e.a[j/e.n])*float64(e.b[j%e.n]), e.start(j)
		if bias != 0 {
			total = float64(r.Value(r.Round(total))) + bias
		}
		return toOdd(total)
	}
	start := e.start(j)
	if e.rules.Has(numerics.BiasLast) {
		start = 0
	}
	return e.finish(j, e.walkFloat(start, j))
}

// walk sums element j in order, and stops where the sum leaves the range.
func (e *elements) walk(units int64, j int) float64 {
	a, least := e.t.scaled[j/e.n*e.k:][:e.k], e.t.least[j/e.n*e.k:][:e.k]
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
	for d, f := range a {
		g := e.b[d*e.n+j%e.n]
		if gemm.Exponent(g) > e.leastFor(f) {
			sum += f * g
		}
		if e.rules.Has(numerics.Range) && !(sum < 32768 && sum > -32768) {
			return math.Inf(int(math.Copysign(1, float64(sum))))
		}
	}
	sum += float32(start)
	if e.rules.Has(numerics.Range) && !(sum < 32768 && sum > -32768) {
		return math.Inf(int(math.Copysign(1, float64(sum))))
	}
	return float64(sum)
}

// distance tells how near to the range the tiles of a product are. Sums in any order are pointless where most
// elements are walked all the same.
type distance struct {
	near   bool    // most pieces of the last tile that was summed were walked
	before int     // tiles since then
	most   float32 // the largest magnitude of the panel on the right, once it is looked for
	looked bool
}

// fresh says that the panel on the right is another one.
func (d *distance) fresh() { d.looked = false }

// again is after how many tiles that were only walked one is summed, to see whether it is near too.
const again = 16

// tile sums the elements of a tile of m rows: in any order, and those that may reach the range once more in the order
// of the hardware, with their neighbors.
func (d *distance) tile(e *elements, out []float32, m int) {
	inOrder := e.rules.Has(numerics.Range)
	walkAll := inOrder && d.near && d.before < again
	d.before++
	e.sum(e.t, e.a, e.b, m, e.n, !walkAll)
	pieces, walked := 0, 0
	inside, looked := false, e.how != gemm.Fours
	for i := 0; i < m; i += gemm.WalkRows {
		var columns int
		for j := 0; j < e.n; j += columns {
			rows := min(gemm.WalkRows, m-i)
			columns = min(gemm.WalkColumns, e.n-j)
			pieces++
			if inOrder && (walkAll || e.anyNear(i, j, rows, columns)) {
				if !looked {
					inside, looked = gemm.InsideGroup(gemm.Most(e.t.scaled[:len(e.a)]), d.right(e.b)), true
				}
				columns = e.walkPiece(out, i, j, rows, columns, inside)
				walked++
				continue
			}
			for r := range rows {
				for at := (i+r)*e.n + j; at < (i+r)*e.n+j+columns; at++ {
					units := e.units(at)
					total := (units + float64(e.t.sums[at])) * numerics.Unit
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
	columns = gemm.Walk(&sums, e.t.scaled, e.t.least, e.b, i, j, e.k, e.n, e.how, inside)
	for r := range rows {
		for c := range columns {
			at := (i+r)*e.n + j + c
			out[at] = e.finish(at, sums[r*gemm.WalkColumns+c]*numerics.Unit)
		}
	}
	return columns
}

// right returns the largest magnitude of the panel on the right.
func (d *distance) right(b []float32) float32 {
	if !d.looked {
		d.most, d.looked = gemm.Most(b), true
	}
	return d.most
}
