package decoder

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/buildinfo"
)

// Names of inputs and outputs. Surfaces bind in the order of their names' bytes. This list has that order: inputs cos,
// k00.., mask, sin, sum, used, v00.., x; outputs k00new.., v00new.., y. A program of a part of a layer has the sum of x
// and the parts before as an input. In the form Compact used is 1 for columns that have a token, and 0 for the others.
// Their state is 0 then, and the software engine does not multiply it.
const (
	inputCos, inputSin, inputMask, inputX = "cos", "sin", "mask", "x"
	inputSum, inputUsed                   = "sum", "used"
	outputY                               = "y"
)

func inputK(i int) string  { return fmt.Sprintf("k%04d", i) }
func inputV(i int) string  { return fmt.Sprintf("v%04d", i) }
func outputK(i int) string { return inputK(i) + "new" }
func outputV(i int) string { return inputV(i) + "new" }

// masked is subtracted from the scores of masked tokens: larger than any score, and within fp16 also
// where the greatest score is subtracted. Infinity is a number on some chips.
const masked = -30000

// graph builds one program.
type graph struct {
	*build.Func
	c       Config
	form    Form
	columns int
	piece   piece
	parts   grouping
	wants   map[string]want // by the path of the weight file
	dense   map[string]bool // modules whose groups cannot be written in fp16
}

// state is the shape of the hidden state, or of any other tensor with n elements for each token.
func (g *graph) state(n int) []int {
	if g.form != Compact {
		return []int{1, n, 1, g.columns}
	}
	return []int{g.columns, n}
}

// constant is a weight of the program, in a file of its own.
func (g *graph) constant(name string, r request, d mil.DType, shape ...int) build.Value {
	name += "_" + string(r.kind)
	path := blob.ModelPath + "weights/" + name + ".bin"
	t := mil.TensorOf(d, shape...)
	g.wants[path] = want{r, t}
	return g.Blob(name, t, path, blob.First)
}

// vector is a factor or summand for each of n elements of a state.
func (g *graph) vector(name string, r request, n int) build.Value {
	shape := []int{1, n}
	if g.form != Compact {
		shape = []int{1, n, 1, 1}
	}
	return g.constant(name, r, mil.FP16, shape...)
}

// matrix multiplies the state of every token by rows and columns of the weight of a module.
func (g *graph) matrix(name string, w *weight, x build.Value, rows, columns extent) build.Value {
	rows, columns = rows.of(w.out), columns.of(w.in)
	r := request{module: w.name, kind: halves, rows: rows, columns: columns}
	part := func(k kind, d mil.DType, shape ...int) build.Value {
		r.kind = k
		return g.constant(name, r, d, shape...)
	}
	n, in := rows.len(), columns.len()
	var y build.Value
	switch {
	case g.form == EngineInt8:
		y = g.Conv(x, g.ConstexprAffineDequantize(part(bytes8, mil.Int8, n, in, 1, 1), part(steps8, mil.FP16, n),
			g.Const(name+"_zero", mil.IntScalar(mil.Int8, 0)), 0))
	case g.form == Engine:
		y = g.Conv(x, part(halves, mil.FP16, n, in, 1, 1))
	case w.bits > 0 && !g.dense[w.name]:
		groups := w.in / w.group
		m := g.ConstexprBlockwiseShiftScale(part(ints, w.dtype(), n, w.in), part(scales, mil.FP16, n, groups),
			build.Offset(part(offsets, mil.FP16, n, groups)))
		y = g.Linear(x, m)
	default:
		y = g.Linear(x, part(halves, mil.FP16, n, in))
	}
	if w.bias != nil {
		// a sum of parts has the bias once
		y = g.Add(y, g.vector(name, request{module: w.name, kind: bias, rows: rows, none: columns.from > 0}, n))
	}
	return y
}

// The factor of a state of zeros, such as one of the columns beyond a text, is 1/sqrt(epsilon): beyond fp16 for an
// epsilon below 1/65504^2. Smaller ones than leastEpsilon multiply the quotients instead, whose factor is at most 4096.
const (
	leastEpsilon = 1e-9
	leastHalf    = 1.0 / (1 << 24)
)

// rms is RMSNorm along an axis of n elements, which gamma multiplies. The sum of squares of a state can be beyond fp16,
// so x is divided by its largest element for it; floor keeps the quotient of the epsilon small.
func (g *graph) rms(x build.Value, axis, n int, gamma build.Value) build.Value {
	const floor = 1.0 / 256
	most := g.Maximum(g.ReduceMax(g.Abs(x), []int{axis}, build.KeepDims(true)), g.Scalar(floor))
	small := g.RealDiv(x, most)
	mean := g.Mul(g.ReduceSum(g.Mul(small, small), []int{axis}, build.KeepDims(true)), g.Scalar(1/float64(n)))
	root := g.RealDiv(g.Scalar(math.Sqrt(g.c.Epsilon)), most)
	mean = g.Add(mean, g.Mul(root, root))
	if g.c.Epsilon < leastEpsilon {
		mean = g.Maximum(mean, g.Scalar(leastHalf))
		return g.Mul(g.Mul(small, g.Pow(mean, g.Scalar(-0.5))), gamma)
	}
	factor := g.RealDiv(g.Pow(mean, g.Scalar(-0.5)), most)
	return g.Mul(g.Mul(x, factor), gamma)
}

// norm is rms of the state of each token.
func (g *graph) norm(name, module string, x build.Value) build.Value {
	return g.rms(x, 1, g.c.Hidden, g.vector(name, request{module: module, kind: halves}, g.c.Hidden))
}

// heads gives a state of n heads an axis for the heads: [1, n, HeadDim, columns] in the form Engine, and
// [1, columns, n, HeadDim] in the form Compact.
func (g *graph) heads(x build.Value, n int) build.Value {
	if g.form != Compact {
		return g.Reshape(x, 1, n, g.c.HeadDim, g.columns)
	}
	return g.Reshape(x, 1, g.columns, n, g.c.HeadDim)
}

// rotate rotates the pairs of each head by the position of the token. cos and sin have the pairs of a head.
func (g *graph) rotate(x, cos, sin build.Value) build.Value {
	axis := 3
	if g.form != Compact {
		axis = 2 // a slice of the last axis loses range on M1 and M2
	}
	half := g.c.HeadDim / 2
	begin, end := make([]int, 4), x.Shape()
	if len(end) != 4 {
		return build.Value{} // x is faulty
	}
	end[axis] = half
	first := g.SliceByIndex(x, begin, end)
	begin[axis], end[axis] = half, 2*half
	second := g.SliceByIndex(x, begin, end)
	return g.Concat(axis, g.Sub(g.Mul(first, cos), g.Mul(second, sin)), g.Add(g.Mul(second, cos), g.Mul(first, sin)))
}

// rotations is the shape of the inputs cos and sin.
func (g *graph) rotations() []int {
	if g.form != Compact {
		return []int{1, 1, g.c.HeadDim / 2, g.columns}
	}
	return []int{1, g.columns, 1, g.c.HeadDim / 2}
}

// queries makes [1, KVHeads, queries of them, HeadDim] of heads: the queries of one key-value head are neighbors.
func (g *graph) queries(x build.Value) build.Value {
	return g.Reshape(g.swap(x), 1, g.c.KVHeads, g.c.Heads/g.c.KVHeads*g.columns, g.c.HeadDim)
}

// join makes a state of the results of attention, [1, KVHeads, queries of them, HeadDim].
func (g *graph) join(x build.Value) build.Value {
	x = g.swap(g.Reshape(x, 1, g.c.Heads, g.columns, g.c.HeadDim))
	return g.Reshape(x, g.state(g.c.Heads*g.c.HeadDim)...)
}

// swap makes [1, n, columns, HeadDim] of n heads, or n heads of that. In the form Compact one column has the same
// elements in both.
func (g *graph) swap(x build.Value) build.Value {
	switch {
	case g.form != Compact:
		return g.Transpose(x, 0, 1, 3, 2)
	case g.columns > 1:
		return g.Transpose(x, 0, 2, 1, 3)
	}
	return x
}

// tokens makes [1, columns, KVHeads, HeadDim] of heads: the order in which a cache takes them.
func (g *graph) tokens(x build.Value) build.Value {
	if g.form != Compact {
		return g.Transpose(x, 0, 3, 1, 2)
	}
	return x
}

// perHead makes the operand of a product with queries from heads. Its shape is [1, KVHeads, HeadDim, columns] in the
// form Engine, [1, KVHeads, columns, HeadDim] in the form Compact.
func (g *graph) perHead(x build.Value) build.Value {
	switch {
	case g.form != Compact:
		return x
	case g.columns == 1:
		return g.Reshape(x, 1, g.c.KVHeads, 1, g.c.HeadDim)
	}
	return g.swap(x)
}

// causal is the mask between the tokens of a pass.
func (g *graph) causal() build.Value {
	n := g.columns
	values := make([]float32, n*n)
	for row := range n {
		for column := row + 1; column < n; column++ {
			values[row*n+column] = masked
		}
	}
	return g.Weight("causal", values, 1, 1, n, n)
}

// scoreBytes bounds the scores of attention that exist at once in the form Compact.
const scoreBytes = 2 << 20

// scores is attention, a few heads at a time if the scores of all exceed scoreBytes.
func (g *graph) scores(q, oldK, oldV, mask, k, v, causal build.Value) build.Value {
	heads, group := g.c.KVHeads, g.c.Heads/g.c.KVHeads
	n := heads // of a part
	for g.form == Compact && n > 1 && (2*n*group*g.columns*max(oldK.Dim(2), g.columns) > scoreBytes || heads%n != 0) {
		n--
	}
	if n == heads {
		return g.attention(n, q, oldK, oldV, mask, k, v, causal)
	}
	var all []build.Value
	for at := 0; at < heads; at += n {
		part := func(x build.Value) build.Value {
			end := x.Shape()
			if len(end) != 4 {
				return build.Value{} // x is faulty
			}
			end[1] = at + n
			return g.SliceByIndex(x, []int{0, at, 0, 0}, end)
		}
		all = append(all, g.attention(n, part(q), part(oldK), part(oldV), mask, part(k), part(v), causal))
	}
	return g.Concat(1, all...)
}

// attention is softmax(q k^T) v of some key-value heads, over the unmasked tokens of the cache, if any are shown, and
// those of the pass. The two parts of a row have one maximum and one sum; no part of the cache is copied.
func (g *graph) attention(heads int, q, oldK, oldV, mask, k, v, causal build.Value) build.Value {
	group := g.c.Heads / g.c.KVHeads
	single := g.form == Compact && g.columns == 1
	if single {
		// one query at a time: the software engine reads the cache as it is for a product with a vector
		each := func(x build.Value, queries int) build.Value {
			return g.Reshape(x, heads, queries, x.Dim(1)*x.Dim(2)/heads/queries, g.c.HeadDim)
		}
		q, oldK, oldV, k, v = each(q, group), each(oldK, 1), each(oldV, 1), each(k, 1), each(v, 1)
	}
	now := g.Matmul(q, k, build.TransposeY(g.form == Compact))
	if g.columns > 1 {
		now = g.Add(g.Reshape(now, 1, heads*group, g.columns, g.columns), causal)
		now = g.Reshape(now, 1, heads, group*g.columns, g.columns)
	}
	last, keep := []int{3}, build.KeepDims(true)
	if mask == (build.Value{}) { // no token of the cache is shown
		now = g.Exp(g.Sub(now, g.ReduceMax(now, last, keep)))
		return g.Matmul(g.RealDiv(now, g.ReduceSum(now, last, keep)), v)
	}
	past := g.Add(g.Matmul(q, oldK, build.TransposeY(true)), mask)
	top := g.Maximum(g.ReduceMax(past, last, keep), g.ReduceMax(now, last, keep))
	past, now = g.Exp(g.Sub(past, top)), g.Exp(g.Sub(now, top))
	sum := g.Add(g.ReduceSum(past, last, keep), g.ReduceSum(now, last, keep))
	y := g.Add(g.Matmul(g.RealDiv(past, sum), oldV),
		g.Matmul(g.RealDiv(now, sum), v, build.TransposeY(g.form != Compact)))
	if single {
		return g.Reshape(y, 1, heads, group, g.c.HeadDim)
	}
	return y
}

// outputLogits is the output of a program of the head.
const outputLogits = "logits"

// head builds the program of rows of the logits, for columns tokens.
func (f *Folder) head(form Form, columns int, rows extent, dense map[string]bool) (
	*build.Program, map[string]want, error,
) {
	b := build.New(build.FilePerWeight())
	g := &graph{Func: b.Func("main"), c: f.config, form: form, columns: columns, dense: dense, wants: map[string]want{}}
	x := g.norm("norm", finalNorm, g.Input(inputX, build.FP16, g.state(f.config.Hidden)...))
	g.Output(outputLogits, g.matrix("head", f.weights[f.config.head()], x, rows, extent{}))
	p, err := g.program(b)
	return p, g.wants, err
}

// program ends b. The software engine may round activations of the form Compact to words of 16 bits.
func (g *graph) program(b *build.Builder) (*build.Program, error) {
	p, err := b.Program()
	if err == nil && g.form == Compact {
		buildinfo.Add(p.Program, buildinfo.Products, buildinfo.Words)
	}
	return p, err
}

// head is the module of the logits' matrix.
func (c Config) head() string {
	if c.Tied {
		return embedding
	}
	return head
}
