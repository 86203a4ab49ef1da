package ops

import "slices"

// products multiply matrices. Attrs of matmul is a Matmul, of linear nil.
var products = []Def{
	{Name: "matmul", Params: []Param{tensor("x"), tensor("y"), option("transpose_x"), option("transpose_y")},
		infer: inferMatmul},
	{Name: "linear", Params: []Param{tensor("x"), tensor("weight"), perhaps("bias")}, infer: inferLinear},
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

func inferMatmul(c *Call) {
	x, y := c.tensor("x"), c.tensor("y")
	c.needs("x", floats...)
	c.needs("y", floats...)
	c.sameType("x", "y")
	c.fp32(x.DType)
	for _, name := range []string{"x", "y"} {
		if r := c.tensor(name).Rank(); r < 2 || r > matmulRank {
			c.fail(name, "reshape it", "rank %d, supported are 2 to %d", r, matmulRank)
		}
	}
	a := Matmul{TransposeX: c.boolean("transpose_x", false), TransposeY: c.boolean("transpose_y", false)}
	if c.failed() {
		return
	}
	var ky int
	a.BatchX, a.M, a.K = matrix(x.Shape, a.TransposeX)
	a.BatchY, ky, a.N = matrix(y.Shape, a.TransposeY)
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
	c.gives(x.DType, append(slices.Clone(a.Batch), a.M, a.N))
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
	c.needs("x", floats...)
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
