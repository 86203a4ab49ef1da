package ops

import "slices"

// products multiply matrices. Attrs of matmul is a Matmul, of linear nil, of einsum an
// Einsum, of scaled_dot_product_attention an Attention.
var products = []Def{
	{Name: "einsum", Params: []Param{variadic("values"), setting("equation")}, infer: inferEinsum},
	{Name: "scaled_dot_product_attention", Since: 18, Params: []Param{tensor("query"), tensor("key"), tensor("value"),
		perhaps("attn_mask")}, infer: inferAttention},
	{Name: "matmul", limits: matmulLimits,
		Params: []Param{tensor("x"), tensor("y"), option("transpose_x"), option("transpose_y")},
		infer:  inferMatmul},
	{Name: "linear", limits: productLimits,
		Params: []Param{tensor("x"), tensor("weight"), perhaps("bias")}, infer: inferLinear},
}

// Matmul holds the settings of a matrix product. Sums run over the inner axis
// of length K; batch axes broadcast.
type Matmul struct {
	TransposeX, TransposeY bool
	M, K, N                int
	Batch                  []int // of the result
	BatchX, BatchY         []int // of the operands, padded with ones to the same rank
}

// matmulRank is the largest rank of operands of matmul. For a larger one Apple's
// compiler reports "depth > 1 is not supported for MatMult".
const matmulRank = 4

// inferMatmul takes a vector x as one row and a vector y as one column; the result has
// no axis for either. Transposing does not change a vector.
func inferMatmul(c *Call) {
	x, y := c.tensor("x"), c.tensor("y")
	c.needs("x", numerics...)
	c.needs("y", numerics...)
	c.sameType("x", "y")
	c.fp32(x.DType)
	for _, name := range []string{"x", "y"} {
		if r := c.tensor(name).Rank(); r < 1 {
			c.fail(name, "multiply by a scalar with mul", "a scalar is no matrix")
		} else if r > matmulRank {
			c.notes = append(c.notes, name+" has rank 5; Apple's compiler reports: "+
				"depth > 1 is not supported for MatMult")
		}
	}
	a := Matmul{TransposeX: c.boolean("transpose_x", false), TransposeY: c.boolean("transpose_y", false)}
	if c.failed() {
		return
	}
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
	if a.K != ky {
		c.fail("y", "transpose one, or make them equal", "inner axes differ: %d of x%v and %d of y%v", a.K, x.Shape,
			ky, y.Shape)
	}
	var ok bool
	if a.Batch, ok = Broadcast(a.BatchX, a.BatchY); !ok {
		c.fail("y", "make the batch axes equal or 1", "batch axes %v do not broadcast with %v", a.BatchY, a.BatchX)
	}
	if c.failed() {
		return
	}
	a.BatchX, a.BatchY = lead(a.BatchX, len(a.Batch)), lead(a.BatchY, len(a.Batch))
	c.attrs = a
	shape := slices.Clone(a.Batch)
	if x.Rank() > 1 {
		shape = append(shape, a.M)
	}
	if y.Rank() > 1 {
		shape = append(shape, a.N)
	}
	c.gives(x.DType, shape)
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

func inferLinear(c *Call) {
	x, w, b := c.tensor("x"), c.tensor("weight"), c.tensor("bias")
	c.needs("x", numerics...)
	c.sameType("x", "weight")
	c.fp32(x.DType)
	if x.Rank() < 1 {
		c.fail("x", "give it at least one axis", "a scalar has no features")
	}
	if w.Rank() != 2 {
		c.fail("weight", "give it as [outputs, inputs]", "shape %v", w.Shape)
	}
	if c.failed() {
		return
	}
	last := x.Rank() - 1
	if x.Shape[last] != w.Shape[1] {
		c.fail("weight", "give it as [outputs, inputs]", "takes %d inputs, x%v has %d", w.Shape[1], x.Shape,
			x.Shape[last])
	}
	if b != nil {
		c.sameType("x", "bias")
		if !slices.Equal(b.Shape, w.Shape[:1]) {
			c.fail("bias", "give one number for each output", "shape %v for %d outputs", b.Shape, w.Shape[0])
		}
	}
	shape := slices.Clone(x.Shape)
	shape[last] = w.Shape[0]
	c.gives(x.DType, shape)
}
