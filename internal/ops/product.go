package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// products multiply matrices. Attrs of matmul is a Matmul, of linear nil, of einsum an
// Einsum, of scaled_dot_product_attention an Attention.
var products = []*Def{
	{Name: "einsum", Params: []*Param{tensor("values", floats...).variadic(), word("equation")}, infer: inferEinsum},
	{Name: "scaled_dot_product_attention", Since: 18, Params: []*Param{tensor("query", floats...).ranks(3, MaxRank,
		"give it as [batch, .., length, features]", "shape %v"), tensor("key"), tensor("value"),
		tensor("attn_mask", mil.Bool, mil.FP16, mil.FP32).optional()}, infer: inferAttention},
	{Name: "matmul", limits: matmulLimits, Params: []*Param{matrixOf("x"), matrixOf("y"),
		boolean("transpose_x").or(false).spelled(), boolean("transpose_y").or(false).spelled()}, infer: inferMatmul},
	{Name: "linear", limits: productLimits, infer: inferLinear, Params: []*Param{
		tensor("x", numerics...).ranks(1, MaxRank, "give it at least one axis", "a scalar has no features"),
		tensor("weight").ranks(2, 2, "give it as [outputs, inputs]", "shape %v"), tensor("bias").optional()}},
}

func matrixOf(name string) *Param {
	return tensor(name, numerics...).ranks(1, MaxRank, "multiply by a scalar with mul", "a scalar is no matrix")
}

// Matmul holds the settings of a matrix product. Sums run over the inner axis of length K; batch axes broadcast.
type Matmul struct {
	TransposeX, TransposeY bool
	M, K, N                int
	Batch                  []int // of the result
	BatchX, BatchY         []int // of the operands, padded with ones to the same rank
}

// inferMatmul takes a vector x as one row and a vector y as one column; the result has
// no axis for either. Transposing does not change a vector.
func inferMatmul(c *Call, x *Value) {
	y := c.Value("y")
	c.sameType("x", "y")
	for _, name := range []string{"x", "y"} {
		if c.Value(name).Rank() == MaxRank {
			c.note(name + " has rank 5; Apple's compiler reports: depth > 1 is not supported for MatMult")
		}
	}
	a := Matmul{TransposeX: c.boolean("transpose_x"), TransposeY: c.boolean("transpose_y")}
	xs, ys := x.Shape, y.Shape
	if len(xs) == 1 {
		xs, a.TransposeX = []int{1, xs[0]}, false
	}
	if len(ys) == 1 {
		ys, a.TransposeY = []int{ys[0], 1}, false
	}
	var ky int
	a.BatchX, a.M, a.K = matrix(xs, a.TransposeX)
	a.BatchY, ky, a.N = matrix(ys, a.TransposeY)
	c.refuseIf(a.K != ky, "y", "transpose one, or make them equal", "inner axes differ: %d of x%v and %d of y%v", a.K,
		x.Shape, ky, y.Shape)
	var ok bool
	if a.Batch, ok = Broadcast(a.BatchX, a.BatchY); !ok {
		c.refuse("y", "make the batch axes equal or 1", "batch axes %v do not broadcast with %v", a.BatchY, a.BatchX)
	}
	a.BatchX, a.BatchY = lead(a.BatchX, len(a.Batch)), lead(a.BatchY, len(a.Batch))
	shape := slices.Clone(a.Batch)
	if x.Rank() > 1 {
		shape = append(shape, a.M)
	}
	if y.Rank() > 1 {
		shape = append(shape, a.N)
	}
	c.gives(a, x.DType, shape)
}

// matrix splits a shape into batch axes, rows and columns.
func matrix(shape []int, transposed bool) (batch []int, rows, cols int) {
	n := len(shape)
	rows, cols = shape[n-2], shape[n-1]
	if transposed {
		rows, cols = cols, rows
	}
	return shape[: n-2 : n-2], rows, cols
}

// lead pads a shape with leading ones.
func lead(shape []int, rank int) []int {
	return append(slices.Repeat([]int{1}, rank-len(shape)), shape...)
}

func inferLinear(c *Call, x *Value) {
	w := c.Value("weight")
	last := x.Rank() - 1
	c.refuseIf(x.Shape[last] != w.Shape[1], "weight", "give it as [outputs, inputs]", "takes %d inputs, x%v has %d",
		w.Shape[1], x.Shape, x.Shape[last])
	c.shaped("bias", w.Shape[:1], "give one number for each output", "shape %v for %d outputs", w.Shape[0])
	c.gives(nil, x.DType, with(x.Shape, last, w.Shape[0]))
}

// Attention holds the sizes of scaled_dot_product_attention, softmax(query x key^T / sqrt(E) + mask) x value. query is
// [.., L, E], key [.., S, E] and value [.., S, EV].
type Attention struct {
	L, S, E, EV                      int
	Batch                            []int // of the result
	BatchQuery, BatchKey, BatchValue []int
}

func inferAttention(c *Call, q *Value) {
	k, v, mask := c.Value("key"), c.Value("value"), c.Value("attn_mask")
	r := q.Rank()
	for _, name := range []string{"key", "value"} {
		t := c.Value(name)
		c.refuseIf(t.Rank() != r, name, "reshape it", "rank %d, query has rank %d", t.Rank(), r)
	}
	a := Attention{L: q.Shape[r-2], S: k.Shape[r-2], E: q.Shape[r-1], EV: v.Shape[r-1], BatchQuery: q.Shape[:r-2],
		BatchKey: k.Shape[:r-2], BatchValue: v.Shape[:r-2]}
	c.refuseIf(k.Shape[r-1] != a.E, "key", "give both the same number of features", "%d features, query has %d",
		k.Shape[r-1], a.E)
	c.refuseIf(v.Shape[r-2] != a.S, "value", "give both the same length", "length %d, key has %d", v.Shape[r-2], a.S)
	batch, ok := Broadcast(a.BatchQuery, a.BatchKey, a.BatchValue)
	c.refuseIf(!ok, "key", "make the batch axes equal", "batch axes %v and %v of value do not fit %v of query",
		a.BatchKey, a.BatchValue, a.BatchQuery)
	if !slices.Equal(a.BatchQuery, a.BatchKey) || !slices.Equal(a.BatchQuery, a.BatchValue) {
		c.note("coremltools refuses batch axes that differ; repeat them with tile")
	}
	a.Batch = batch
	if mask != nil {
		full := append(slices.Clone(batch), a.L, a.S)
		if shape, fits := Broadcast(full, mask.Shape); !fits || !slices.Equal(shape, full) {
			c.refuse("attn_mask", "make its axes equal or 1", "shape %v does not broadcast to %v", mask.Shape, full)
		}
		if mask.DType != mil.Bool {
			c.sameType("query", "attn_mask")
		}
		c.note("Apple's engine is reported to ignore the mask, or to take the wrong one; write matmul, add, softmax " +
			"and matmul")
	}
	c.gives(a, q.DType, append(slices.Clone(batch), a.L, a.EV))
}
