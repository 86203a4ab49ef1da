package soft

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// roomy is a kernel whose elementwise runner needs some float32s of workspace.
func roomy(work int) step {
	return step{kernel: func(*step) (runner, int) { return &caster{}, work }, joined: true}
}

// TestWorkspacesWithinTheBound: the workspaces of all workers and the intermediate values together have maxScratch
// bytes at most. The workspace of a joined step begins behind that of the first of its group.
func TestWorkspacesWithinTheBound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const row, half = ane.RowAlign, maxScratch / 2
	for name, c := range map[string]struct {
		scratch int
		works   []int // float32s of each step of a group
		want    int   // bytes of the workspace of a worker
		need    int   // bytes that are too many; 0 if they fit
	}{
		"little":               {row, []int{1}, row, 0},
		"rows":                 {row, []int{row / 4, row/4 + 1}, 3 * row, 0},
		"the largest":          {row, []int{1, row, 1}, align(4 * (row + 1)), 0},
		"all":                  {0, []int{half / 4}, half, 0},
		"all with values":      {2 * row, []int{(half - row) / 4}, half - row, 0},
		"too much with values": {2 * row, []int{(half-row)/4 + 1}, 0, maxScratch + 2*row},
		"too much":             {0, []int{half/4 + 1}, 0, 2 * maxScratch},
		"twice too much":       {0, []int{maxScratch / 4}, 0, 2 * maxScratch},
		"far too much":         {0, []int{math.MaxInt / 2}, 0, 2 * maxScratch},
		"all of a group":       {0, []int{row, half/4 - row}, half, 0},
		"too much of a group":  {0, []int{row, half/4 - row + 1}, 0, 2 * maxScratch},
	} {
		p := &planner{}
		p.workers, p.scratch = 2, c.scratch
		for _, n := range c.works {
			p.steps = append(p.steps, roomy(n))
		}
		p.steps[0].joined = false
		err := p.prepare(t.Context(), nil)
		if c.need != 0 {
			require.ErrorContains(t, err, fmt.Sprintf("need %d bytes", c.need), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, p.work, name)
	}
}

// TestHeapMergesGaps frees four ranges in every order: gaps stay sorted and apart, and have the bytes that are free.
func TestHeapMergesGaps(t *testing.T) {
	sizes := []int{3, 5, 7, 11}
	var orders func(rest, order []int)
	orders = func(rest, order []int) {
		for i, k := range rest {
			orders(slices.Delete(slices.Clone(rest), i, i+1), append(slices.Clone(order), k))
		}
		if len(rest) > 0 {
			return
		}
		h, at, freed := &heap{}, []int{}, make([]bool, 26)
		for _, n := range sizes {
			at = append(at, h.take(n))
		}
		for _, k := range order {
			h.give(at[k], sizes[k])
			for i := range sizes[k] {
				freed[at[k]+i] = true
			}
			var want []gap
			for i, free := range freed {
				switch {
				case free && (i == 0 || !freed[i-1]):
					want = append(want, gap{i, 1})
				case free:
					want[len(want)-1].bytes++
				}
			}
			require.Equal(t, want, h.gaps, "%v", order)
		}
	}
	orders([]int{0, 1, 2, 3}, nil)
}

// TestPiecesOfWork: each piece has the grain of work at least, and no more pieces than workers and items.
func TestPiecesOfWork(t *testing.T) {
	for _, c := range []struct{ n, cost, extra, want int }{
		{4, 1, 0, 1}, {100, grain/50 - 1, 0, 1}, {100, grain / 50, 0, 1}, {2, grain, 0, 2}, {4, grain / 2, 0, 2},
		{4, grain/2 - 1, 1, 2}, {4, grain/2 - 1, 0, 1}, {2, 8 * grain, 0, 2}, {100, grain, 0, 3}, {1, math.MaxInt, 0, 1},
		{7, math.MaxInt, 0, 3}, {0, grain, 0, 1},
	} {
		require.Equal(t, c.want, (&call{workers: 3, extra: c.extra}).pieces(c.n, c.cost), "%+v", c)
	}
}

// TestSharesOfDeal: the shares of the workers follow each other, differ by one item at most and are all items.
func TestSharesOfDeal(t *testing.T) {
	for _, n := range []int{3, 7, 16, 100} {
		c := &call{run: &visits{}, workers: 3}
		c.deal(n, grain)
		require.Equal(t, 3, c.dealt)
		next := 0
		for w := range c.dealt {
			left := c.shares[w].left.Load()
			lo, hi := int(left>>32), int(left&math.MaxUint32)
			require.Equal(t, next, lo, "%d items", n)
			require.InDelta(t, float64(n)/3, float64(hi-lo), 1, "%d items", n)
			next = hi
		}
		require.Equal(t, n, next)
	}
}

// TestPartsOfLanes loads and stores lanes in parts, and compares each element with its place by its axes.
func TestPartsOfLanes(t *testing.T) {
	for _, c := range []struct{ shape, axes []int }{
		{[]int{7, 3}, []int{0}}, {[]int{7, 3}, []int{1}}, {[]int{2, 6, 5}, []int{1}}, {[]int{3, 4, 2}, []int{0, 2}},
		{[]int{4, 3, 5, 2}, []int{0, 2}}, {[]int{6, 70}, []int{0}},
	} {
		n := 1
		for _, d := range c.shape {
			n *= d
		}
		from, to := vec{single: make([]float32, n)}, vec{single: make([]float32, n)}
		for i := range from.single {
			from.single[i] = float32(i + 1)
		}
		l := newLanes(c.shape, c.axes)
		m := make([]float32, l.length*l.tile)
		for g := range l.groups {
			base, width, lane := l.group(g)
			for lo := 0; lo < l.length; lo += 2 {
				hi := min(lo+2, l.length)
				l.load(&from, m, base, width, lo, hi)
				for j := lo; j < hi; j++ {
					for k := range width {
						require.Equal(t, elementOfLane(c.shape, c.axes, lane+k, j), int(m[(j-lo)*width+k])-1, "%+v", c)
					}
				}
				l.store(&to, m, base, width, lo, hi)
			}
		}
		require.Equal(t, from.single, to.single, "%+v", c)
	}
}

// elementOfLane is the offset of element j of a lane along axes.
func elementOfLane(shape, axes []int, lane, j int) int {
	at, stride := 0, 1
	for d := len(shape) - 1; d >= 0; d-- {
		i := &lane
		if slices.Contains(axes, d) {
			i = &j
		}
		at += *i % shape[d] * stride
		*i /= shape[d]
		stride *= shape[d]
	}
	return at
}

// TestFoldingWithinTheBudget: compiling computes a constant if its bytes and the workspaces for it fit the budget.
func TestFoldingWithinTheBudget(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range []struct{ elements, workers, budget, steps int }{
		{2048, 1, 8192, 0}, {2048, 1, 8191, 1}, // 8,192 bytes of result
		{512, 1, 4 * chunk, 0}, {512, 1, 4*chunk - 1, 1}, // a chunk of float32s of workspace
		{512, 2, 8 * chunk, 0}, {512, 2, 8*chunk - 1, 1},
	} {
		e := New(Workers(c.workers)).(*engine)
		b := limits.among(c.workers)
		b.folded = c.budget
		text := fmt.Sprintf("program(1.3)\n{ func main<ios18>() {\ntensor<fp32, [%[1]d]> c = const()[val = "+
			"tensor<fp32, [%[1]d]>([%[2]s1])];\ntensor<fp32, [%[1]d]> y = tanh(x = c);\n} -> (y); }", c.elements,
			strings.Repeat("1, ", c.elements-1))
		x, err := e.compile(t.Context(), ane.Source{Text: []byte(text)}, b, e.rules)
		require.NoError(t, err)
		steps := slices.DeleteFunc(x.(*executable).plan.steps, func(s step) bool { return s.op == "" })
		require.Len(t, steps, c.steps, "%+v", c)
		require.NoError(t, e.Close())
	}
}

// TestRangeOfInt8Sums: sums of integers are exact up to 2^31, which they reach as an infinity.
func TestRangeOfInt8Sums(t *testing.T) {
	const most = 1 << 17
	for _, c := range []struct {
		x, w, last float32
		k          int
		want       float32
	}{
		{-128, -128, -128, most - 1, (1<<31 - 1<<14) * 0x1p-20}, {-128, -128, -128, most, float32(math.Inf(1))},
		{-128, -128, -127, most, (1<<31 - 128) * 0x1p-20}, {-128, 127, 8, 132105, float32(math.Inf(-1))},
		{-128, 127, 7, 132105, -(1<<31 - 128) * 0x1p-20},
	} {
		e := &elements{fixed: &fixed{rules: numerics.Int8Sums}, n: 1, t: &tileOf{sums: []int32{12345},
			sizes: []float32{1 << 31}}}
		e.k = c.k
		e.a, e.b = slices.Repeat([]float32{c.x}, c.k), slices.Repeat([]float32{c.w}, c.k)
		e.b[c.k-1] = c.last
		require.Equal(t, c.want, e.integer(0, 0x1p-20), "%+v", c)
		e.t.sizes[0] = 20000
		require.Equal(t, toOdd(12345*0x1p-20), e.integer(0, 0x1p-20), "a sum that cannot reach 2^31 is not added again")
	}
}

// TestScalesOfInt8: a chip's convolution adds integers if x has one scale, and the weights one or one for each output.
func TestScalesOfInt8(t *testing.T) {
	for _, c := range []struct {
		scale, ones string
		integers    bool
	}{
		{"[1, 1, 1, 1]", "2", true}, {"[2, 1, 1, 1]", "2, 4", true}, {"[1, 2, 1, 1]", "2, 4", false},
		{"[2, 2, 1, 1]", "2, 4, 2, 4", false},
	} {
		steps := stepsOf(t, "tensor<int8, [1, 2, 1, 32]> x", "tensor<fp16, [1, 2, 1, 32]> d = dequantize(input = x, "+
			"scale = fp16(0.5));\ntensor<fp16, [2, 2, 1, 1]> w = constexpr_blockwise_shift_scale(data = "+
			"tensor<int8, [2, 2, 1, 1]>([1, 2, 3, 4]), scale = tensor<fp16, "+c.scale+">(["+c.ones+"]));\n"+
			"tensor<fp16, [1, 2, 1, 32]> y = conv(x = d, weight = w);", Numerics(numerics.M4))
		_, integers := steps[len(steps)-1].attrs.(byteWindow)
		require.Equal(t, c.integers, integers, c.scale)
	}
}

// TestRangeOfTruncation: a float beyond int32 becomes the nearest int32, and NaN 0.
func TestRangeOfTruncation(t *testing.T) {
	for v, want := range map[float32]int32{0: 0, 1.75: 1, -1.75: -1, 1 << 31: math.MaxInt32, -1 << 31: math.MinInt32,
		0x1.fffffep30: 0x7fffff80, -0x1.fffffep30: -0x7fffff80, float32(math.Inf(1)): math.MaxInt32,
		float32(math.Inf(-1)): math.MinInt32} {
		require.Equal(t, want, truncated(v), "%v", v)
	}
	require.Zero(t, truncated(float32(math.NaN())))
}

// TestFoldedProductsOfChips: compiling computes a product of constants by the rules of a chip.
func TestFoldedProductsOfChips(t *testing.T) {
	x, err := New(Numerics(numerics.M1)).Compile(t.Context(), ane.Source{Text: []byte("program(1.3)\n{ func " +
		"main<ios18>() {\ntensor<fp16, [1, 32]> y = matmul(x = tensor<fp16, [1, 1]>([[3]]), y = tensor<fp16, [1, 32]>([[" +
		strings.Repeat("2, ", 31) + "2]]));\n} -> (y); }")})
	require.NoError(t, err)
	p := x.(*executable).plan
	require.Len(t, p.steps, 1, "the result is copied to its surface")
	got := vec{dtype: mil.FP16}
	for _, f := range p.steps[0].in[0].data.half {
		got.half = append(got.half, f)
		require.EqualValues(t, 6, f.Float32())
	}
	require.Len(t, got.half, 32)
}

// TestTurnsInPieces turns the two inner axes of matrices of several pieces, of elements and of runs, and compares each
// element with its place.
func TestTurnsInPieces(t *testing.T) {
	for _, c := range []struct {
		d                       mil.DType
		batch, rows, cols, unit int
	}{
		{mil.Int8, 2, 260, 270, 1}, {mil.FP16, 2, 260, 270, 1}, {mil.FP32, 1, 300, 260, 1}, {mil.FP16, 2, 9, 5000, 1},
		{mil.FP16, 2, 130, 70, 2}, {mil.FP32, 1, 70, 130, 3}, {mil.Int8, 2, 65, 66, 5},
	} {
		n := c.batch * c.rows * c.cols * c.unit
		from, err := view(c.d, make([]byte, n*c.d.Size()))
		require.NoError(t, err)
		to, err := view(c.d, make([]byte, n*c.d.Size()))
		require.NoError(t, err)
		for i := range from.raw {
			from.raw[i] = byte(i ^ i>>8*7 ^ i>>16*31)
		}
		b := box{dims: []int{c.batch, c.cols, c.rows}, src: []int{c.rows * c.cols * c.unit, c.unit, c.cols * c.unit},
			dst: []int{c.rows * c.cols * c.unit, c.rows * c.unit, c.unit}}
		if c.unit > 1 {
			b.dims, b.src, b.dst = append(b.dims, c.unit), append(b.src, 1), append(b.dst, 1)
		}
		r, _ := move(c.d.Size(), b)
		_, ok := r.(*turner)
		require.True(t, ok, "%T", r)
		r.run(&call{run: r, ctx: t.Context(), workers: 1, in: []vec{from}, out: []vec{to}})
		size, wrong := c.unit*c.d.Size(), 0
		for i := range c.batch * c.rows * c.cols {
			m, row, col := i/c.cols/c.rows, i/c.cols%c.rows, i%c.cols
			at := (m*c.cols+col)*c.rows + row
			if string(from.raw[i*size:][:size]) != string(to.raw[at*size:][:size]) {
				wrong++
			}
		}
		require.Zero(t, wrong, "%+v", c)
	}
}

// TestSumsOfInt8AreAddedAgain: where a sum may reach 2^31, each element of a tile is added from its own row and column.
func TestSumsOfInt8AreAddedAgain(t *testing.T) {
	const rows, k, n = 2, 5, 3
	e := &elements{fixed: &fixed{rules: numerics.Int8Sums}, n: n, t: &tileOf{sums: make([]int32, rows*n),
		sizes: slices.Repeat([]float32{1 << 31}, rows*n)}}
	e.k = k
	for i := range rows * k {
		e.a = append(e.a, float32(i*i-7))
	}
	for i := range k * n {
		e.b = append(e.b, float32(5-i*3))
	}
	for j := range rows * n {
		want := float32(0)
		for d := range k {
			want += e.a[j/n*k+d] * e.b[d*n+j%n]
		}
		require.Equal(t, want, e.integer(j, 1), "element %d", j)
	}
}

// TestTilesOfChipsSharePanels: the tiles of a range of columns of one matrix share one load of these columns.
func TestTilesOfChipsSharePanels(t *testing.T) {
	p := &counted{}
	const batch, down, across = 2, 2, 2
	made, _ := newProduct(batch, down*tileRows, 8, across*tileCols, 0, p)
	r, work := newFixed(made.(*product), numerics.M1.Rules())
	c := &call{run: r, ctx: t.Context(), workers: 1, work: [][]float32{make([]float32, work)},
		words: [][]int32{make([]int32, work)}}
	r.run(c)
	require.Equal(t, batch*across, p.rights)
	require.Equal(t, batch*across*down, p.lefts)
}

// TestFusedStrips: what follows a convolution of channels computes on each strip of its lines, and changes no bit.
func TestFusedStrips(t *testing.T) {
	const text = "program(1.3)\n{ func main<ios18>(tensor<fp16, [1, 2, 80, 64]> x, tensor<fp16, [2, 1, 3, 3]> w) {\n" +
		"tensor<fp16, [1, 2, 80, 64]> c = conv(x = x, weight = w, groups = int32(2), pad_type = string(\"same\"));\n" +
		"tensor<fp16, [1, 2, 80, 64]> y = neg(x = c);\n} -> (y); }"
	var results [][]byte
	for _, opts := range [][]Option{nil, {Unfused()}} {
		e := New(opts...)
		x, err := e.Compile(t.Context(), ane.Source{Text: []byte(text)})
		require.NoError(t, err)
		joined := slices.ContainsFunc(x.(*executable).plan.steps, func(s step) bool { return s.joined })
		require.Equal(t, len(opts) == 0, joined)
		results = append(results, onesThrough(t, x))
		require.NoError(t, e.Close())
	}
	require.Equal(t, results[0], results[1])
	require.NotEqual(t, make([]byte, len(results[0])), results[0])
}

// onesThrough runs a program on halves of 1 and more, and returns its first result.
func onesThrough(t *testing.T, x ane.Executable) []byte {
	require.NoError(t, x.Load(t.Context()))
	defer func() { require.NoError(t, x.Unload(t.Context())) }()
	tensors := func(layouts []ane.Layout) (all []*ane.Tensor) {
		for _, l := range layouts {
			b, err := unimem.Open(l.Bytes())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, b.Close()) })
			for i := range b.Bytes() {
				b.Bytes()[i] = []byte{byte(i), 0x3c}[i%2]
			}
			tensor, err := ane.OnBlock(b, l)
			require.NoError(t, err)
			all = append(all, tensor)
		}
		return all
	}
	out := tensors(x.Outputs())
	v, err := x.Prepare(tensors(x.Inputs()), out)
	require.NoError(t, err)
	require.NoError(t, v.Evaluate(t.Context()))
	require.NoError(t, v.Close())
	return slices.Clone(out[0].Bytes())
}
