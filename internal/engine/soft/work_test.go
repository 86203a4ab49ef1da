package soft

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/unimem"
)

// asked is a context that counts how often a run asks for its error. After end times, unless that is 0, it has ended.
type asked struct {
	context.Context
	count, end int
}

func (a *asked) Err() error {
	if a.count++; a.end > 0 && a.count > a.end {
		return context.Canceled
	}
	return nil
}

// spent is what one run of a program takes.
type spent struct {
	work    int      // in the units of spread
	checks  int      // of the context
	room    int      // float32s of workspace
	runners []string // types
}

// parted is a runner that computes each piece in three parts, and finds what each of them writes. Together they write
// what the whole piece does.
type parted struct {
	run.Runner
	t    *testing.T
	some bool // another runner of its sequence writes what it leaves out
}

// Span implements runner. The parts of a piece may run on several goroutines.
func (p *parted) Span(c *run.Call, lo, hi, worker int) {
	written := func(lo, hi int) (all [][]bool) {
		for range c.Out {
			all = append(all, nil)
		}
		for _, unwritten := range []byte{0x5a, 0xa5} {
			for i := range c.Out {
				for k := range c.Out[i].Raw {
					c.Out[i].Raw[k] = unwritten
				}
			}
			p.Runner.Span(c, lo, hi, worker)
			for i := range c.Out {
				if all[i] == nil {
					all[i] = make([]bool, len(c.Out[i].Raw))
				}
				for k, b := range c.Out[i].Raw {
					all[i][k] = all[i][k] || b != unwritten
				}
			}
		}
		return all
	}
	made := func(cuts ...int) (all [][]byte) {
		for i := range c.Out {
			for k := range c.Out[i].Raw {
				c.Out[i].Raw[k] = 0x33
			}
		}
		for k := range cuts[1:] {
			p.Runner.Span(c, cuts[k], cuts[k+1], worker)
		}
		for i := range c.Out {
			all = append(all, slices.Clone(c.Out[i].Raw))
		}
		return all
	}
	cuts := slices.Compact([]int{lo, lo + (hi-lo)/3, lo + (hi-lo+1)*2/3, hi})
	for i, whole := range made(lo, hi) {
		require.True(p.t, slices.Equal(whole, made(cuts...)[i]), "result %d of %T in pieces %d", i, p.Runner, cuts)
	}
	for i := range c.Out {
		writers := make([]int, len(c.Out[i].Raw))
		for k := range cuts[1:] {
			for at, wrote := range written(cuts[k], cuts[k+1])[i] {
				if wrote {
					writers[at]++
				}
			}
		}
		for at, n := range writers {
			if n != 1 && !(p.some && n == 0) {
				p.t.Fatalf("items %d of %T: %d of the pieces write byte %d of result %d", cuts, p.Runner, n, at, i)
			}
		}
	}
}

// idle is a runner that tells its work and computes nothing.
type idle struct{ run.Runner }

// Span implements runner.
func (idle) Span(*run.Call, int, int, int) {}

// spentBy runs a program with one worker. It counts the steps of operators, not those that copy surfaces. If part is
// not nil, what it returns takes the place of each step's runner, and of each runner of a sequence: of the first or
// later ones.
func spentBy(t *testing.T, text string, unfolded bool, part func(r run.Runner, later bool) run.Runner, opts ...Option) (e spent) {
	t.Helper()
	soft := New(append(opts, Workers(1), Unfused())...).(*engine)
	defer func() { require.NoError(t, soft.Close()) }()
	room := int64(math.MaxInt64)
	if unfolded {
		room = 0
	}
	compiled, err := soft.compile(t.Context(), ane.Source{Text: []byte(text)}, plan.Limits(room, 1), soft.rules)
	require.NoError(t, err, text)
	x := compiled.(*executable)
	require.NoError(t, x.Load(t.Context()))
	defer func() { require.NoError(t, x.Unload(t.Context())) }()
	var numbers []byte // halves of 1 and more
	for i := 0; i < 256; i += 2 {
		numbers = append(numbers, byte(i), 0x3c)
	}
	tensors := func(layouts []ane.Layout) (all []*ane.Tensor) {
		for _, l := range layouts {
			b, err := unimem.Open(l.Bytes())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, b.Close()) })
			tensor, err := ane.OnBlock(b, l)
			require.NoError(t, err)
			if l.DType == mil.FP16 {
				copy(b.Bytes(), bytes.Repeat(numbers, len(b.Bytes())/len(numbers)+1))
			}
			all = append(all, tensor)
		}
		return all
	}
	made, err := x.Prepare(tensors(x.Inputs()), tensors(x.Outputs()))
	require.NoError(t, err)
	v := made.(*invocation)
	defer func() { require.NoError(t, v.Close()) }()
	const most = 1 << 50
	for i := range v.calls {
		s, c, left, ctx := &x.plan.Steps[i], &v.calls[i], most, &asked{Context: t.Context()}
		if s.Op != "" && part != nil {
			if all, ok := c.Run.(*run.Sequence); ok {
				parts := make(run.Sequence, len(*all))
				for k, r := range *all {
					parts[k] = part(r, k > 0)
				}
				c.Run = &parts
			} else {
				c.Run = part(c.Run, false)
			}
		}
		c.Begin(ctx, 0, 1)
		c.Budget = &left
		c.Run.Run(c)
		require.Nil(t, c.Fault.Load())
		if s.Op != "" {
			e.work, e.checks, e.room = e.work+most-left, e.checks+ctx.count, max(e.room, s.Work)
			kind := fmt.Sprintf("%T", s.Run)
			e.runners = append(e.runners, kind[strings.Index(kind, ".")+1:])
		}
	}
	return e
}

// TestWorkOfOperators: the work that a step tells, which decides how many goroutines share it and whether compiling
// computes it, grows as the operator does; the checks of the context are neither rare nor a cost; and the workspace
// grows no faster than the operator. A plain run computes one operator of four, and counts the work of the others
// alone.
func TestWorkOfOperators(t *testing.T) {
	effort.SkipShort(t)
	for nth, name := range slices.Sorted(maps.Keys(sizedOperators)) {
		var part func(r run.Runner, later bool) run.Runner
		if nth%4 != 0 && !effort.Full() {
			part = func(r run.Runner, _ bool) run.Runner { return idle{r} }
		}
		o := sizedOperators[name]
		for mode, opts := range [][]Option{nil, {Numerics(numerics.M1)}} {
			t.Run(fmt.Sprint(name, "/", mode), func(t *testing.T) {
				var base spent
				var per float64
				for i := -1; i < len(o.sizes); i++ {
					d := slices.Clone(o.sizes)
					if i >= 0 {
						d[i] *= 2
					}
					units := 1
					for _, n := range d {
						units *= n
					}
					if o.units != nil {
						units = o.units(d)
					}
					e := spentBy(t, o.text(d), o.unfolded, part, opts...)
					if i < 0 {
						base, per = e, float64(e.work)/float64(units)
						t.Logf("%.2f for each, %d work, %d checks, room of %d, %v", per, e.work, e.checks, e.room,
							e.runners)
						require.GreaterOrEqual(t, per, 0.25)
						require.LessOrEqual(t, per, 64.0)
						require.LessOrEqual(t, e.room, max(32<<10, e.work/3))
					}
					require.InEpsilon(t, per, float64(e.work)/float64(units), 0.1, "%v", d)
					require.LessOrEqual(t, e.room, 3*base.room, "%v", d)
					require.Equal(t, base.runners, e.runners, "%v", d)
					if part != nil {
						continue
					}
					require.GreaterOrEqual(t, e.checks, 1+e.work>>22, "%v", d)
					if !o.often {
						require.LessOrEqual(t, e.checks, e.work/100, "%v", d)
					}
				}
			})
		}
	}
}

// TestPiecesAreApart: two pieces of a step never write the same element, and together they write all. A plain run has
// smaller sizes for three operators of four.
func TestPiecesAreApart(t *testing.T) {
	effort.SkipShort(t)
	for nth, name := range slices.Sorted(maps.Keys(sizedOperators)) {
		o := sizedOperators[name]
		sizes := slices.Clone(o.sizes)
		for i, n := range sizes {
			if !effort.Full() && n >= 512 && nth%4 != 0 {
				sizes[i] = n / 4
			}
		}
		for mode, opts := range [][]Option{nil, {Numerics(numerics.M1)}} {
			t.Run(fmt.Sprint(name, "/", mode), func(t *testing.T) {
				spentBy(t, o.text(sizes), o.unfolded, func(r run.Runner, later bool) run.Runner {
					return &parted{Runner: r, t: t, some: later}
				}, opts...)
			})
		}
	}
}

// TestChecksOfLongLines: a step whose only item is long checks its context within it, and not at each element.
func TestChecksOfLongLines(t *testing.T) {
	const n = 1 << 13
	wide := []int{1 << 17} // nothing is computed ahead
	ones := strings.Repeat("1, ", n-1) + "1"
	mask := "tensor<uint1, [{a}]> m = const()[val = tensor<uint1, [{a}]>([" + ones + "])];\n"
	data := strings.ReplaceAll(strings.Replace(mask, " m ", " d ", 1), "uint1", "fp16")
	integers, indices := strings.ReplaceAll(data, "fp16", "int8"), strings.Replace(mask, " m ", " d ", 1)
	for name, o := range map[string]sized{
		"resize": {params: "tensor<fp16, [1, 1, 1, 32]> x", body: "tensor<fp16, [1, 1, 1, {a}]> y = resize_bilinear(x = x, " +
			"target_size_height = int32(1), target_size_width = int32({a}));"},
		"resize nearest": {params: "tensor<fp16, [1, 1, 1, 32]> x", body: "tensor<fp16, [1, 1, 1, {a}]> y = " +
			"resize_nearest_neighbor(x = x, target_size_height = int32(1), target_size_width = int32({a}));",
			sizes: wide},
		"crop_resize": {params: "tensor<fp16, [1, 1, 4, 4]> x, tensor<fp16, [1, 4]> b", body: "tensor<fp16, " +
			"[1, 1, 1, {a}]> y = crop_resize(x = x, boxes = b, target_height = int32(1), target_width = int32({a}));"},
		"cumsum": {params: "tensor<fp16, [1, {a}]> x", body: "tensor<fp16, [1, {a}]> y = cumsum(x = x, axis = int32(1));"},
		"constexpr_sparse_to_dense": {params: "tensor<fp16, [32]> x", unfolded: true, body: mask + data +
			"tensor<fp16, [{a}]> y = constexpr_sparse_to_dense(nonzero_data = d, mask = m);"},
		"constexpr_sparse_blockwise_shift_scale": {params: "tensor<fp16, [32]> x", unfolded: true, body: mask + integers +
			"tensor<uint1, [{a}]> z, tensor<fp16, [{a}]> y = constexpr_sparse_blockwise_shift_scale(data_mask = m, " +
			"nonzero_data = d, scale = tensor<fp16, [1]>([2]));"},
		"constexpr_lut_to_sparse": {params: "tensor<fp16, [32]> x", unfolded: true, body: mask + indices +
			"tensor<uint1, [{a}]> z, tensor<fp16, [{a}]> y = constexpr_lut_to_sparse(indices_mask = m, " +
			"indices_nonzero_data = d, lut = tensor<fp16, [1, 2, 1]>([2, 3]));"},
	} {
		t.Run(name, func(t *testing.T) {
			sizes := append(o.sizes, n)
			e := spentBy(t, o.text(sizes), o.unfolded, nil)
			require.Greater(t, e.checks, sizes[0]/run.Chunk/4)
			require.Less(t, e.checks, sizes[0]/64)
			require.GreaterOrEqual(t, e.work, sizes[0])
		})
	}
}

// TestChecksOfChunks: a step of twice as many chunks checks its context twice as often.
func TestChecksOfChunks(t *testing.T) {
	for _, name := range []string{"tanh", "tanh 32", "abs int", "add 32", "cast", "logical_not", "greater",
		"greater int",
		"select", "fill_like", "range_1d", "quantize", "dequantize", "random_uniform", "clip", "prelu"} {
		o := sizedOperators[name]
		sizes := slices.Clone(o.sizes)
		once := spentBy(t, o.text(sizes), o.unfolded, nil)
		sizes[0] *= 2
		twice := spentBy(t, o.text(sizes), o.unfolded, nil)
		require.NotZero(t, once.checks, name)
		require.Equal(t, 2*once.checks, twice.checks, name)
	}
}
