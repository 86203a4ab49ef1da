package build

// TransposeX swaps the last two axes of x.
type TransposeX bool

// TransposeY swaps the last two axes of y.
type TransposeY bool

func (t TransposeX) set(c *call) { c.put("transpose_x", bool(t)) }
func (t TransposeY) set(c *call) { c.put("transpose_y", bool(t)) }

// Matmul multiplies the matrices in the last two axes; the axes before broadcast. A vector x is one row, a vector y one
// column; the result has no axis for it.
func (f *Func) Matmul(x, y Value, options ...Optional) Value {
	return f.plain("matmul", x, y, options)
}

// Bias is added by Linear and ConvTranspose, one number for each output.
type Bias Value

func (b Bias) set(c *call) { c.put("bias", Value(b)) }

// Linear returns x multiplied by the transposed weight [outputs, inputs], along the last axis of x.
func (f *Func) Linear(x, weight Value, options ...Optional) Value {
	return f.plain("linear", x, weight, options)
}

// Einsum sums products of the elements of x and y as the equation says: "nchw,nwhu->nchu" names the axes of x, of y and
// of the result by letters, and sums over letters that the result does not have. Only that equation, and the same
// without n, are known to run on Apple's engine.
func (f *Func) Einsum(equation string, x, y Value) Value {
	return f.plain("einsum", []Value{x, y}, equation)
}

// AttnMask is added to the scores [.., L, S], to which it broadcasts; a mask of bool excludes elements that are false.
// Apple's engine is reported to ignore it.
type AttnMask Value

func (m AttnMask) set(c *call) { c.put("attn_mask", Value(m)) }

// ScaledDotProductAttention returns softmax(query x transposed key / sqrt(E)) x value for query [.., L, E],
// key [.., S, E] and value [.., S, EV].
func (f *Func) ScaledDotProductAttention(query, key, value Value, options ...Optional) Value {
	return f.plain("scaled_dot_product_attention", query, key, value, options)
}
