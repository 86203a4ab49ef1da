package build

// MatmulOption is TransposeX or TransposeY.
type MatmulOption interface{ matmul(*product) }

// TransposeX swaps the last two axes of x.
type TransposeX bool

// TransposeY swaps the last two axes of y.
type TransposeY bool

func (t TransposeX) matmul(p *product) { p.x = t }
func (t TransposeY) matmul(p *product) { p.y = t }

type product struct {
	x TransposeX
	y TransposeY
}

// Matmul multiplies the matrices in the last two axes; the axes before broadcast. A vector x is one row, a vector y one
// column; the result has no axis for it.
func (f *Func) Matmul(x, y Value, options ...MatmulOption) Value {
	var p product
	for _, o := range given(options) {
		o.matmul(&p)
	}
	return f.call("matmul").value("x", x).value("y", y).bool("transpose_x", bool(p.x)).bool("transpose_y",
		bool(p.y)).one()
}

// LinearOption is Bias.
type LinearOption interface{ linear(*linear) }

// Bias is added by Linear and ConvTranspose, one number for each output.
type Bias Value

func (b Bias) linear(l *linear) { l.bias = &b }

type linear struct{ bias *Bias }

// Linear returns x multiplied by the transposed weight [outputs, inputs], along the
// last axis of x.
func (f *Func) Linear(x, weight Value, options ...LinearOption) Value {
	var l linear
	for _, o := range given(options) {
		o.linear(&l)
	}
	c := f.call("linear").value("x", x).value("weight", weight)
	if l.bias != nil {
		c.value("bias", Value(*l.bias))
	}
	return c.one()
}

// Einsum sums products of the elements of x and y as the equation says: "nchw,nwhu->nchu" names the axes of x, of y and
// of the result by letters, and sums over letters that the result does not have. Only that equation, and the same
// without n, are known to run on Apple's engine.
func (f *Func) Einsum(equation string, x, y Value) Value {
	return f.call("einsum").values("values", []Value{x, y}).word("equation", equation).one()
}

// AttentionOption is AttnMask.
type AttentionOption interface{ attention(*attention) }

// AttnMask is added to the scores [.., L, S], to which it broadcasts; a mask of bool excludes elements that are false.
// Apple's engine is reported to ignore it.
type AttnMask Value

func (m AttnMask) attention(a *attention) { a.mask = &m }

type attention struct{ mask *AttnMask }

// ScaledDotProductAttention returns softmax(query x transposed key / sqrt(E)) x value for query [.., L, E],
// key [.., S, E] and value [.., S, EV].
func (f *Func) ScaledDotProductAttention(query, key, value Value, options ...AttentionOption) Value {
	var a attention
	for _, o := range given(options) {
		o.attention(&a)
	}
	c := f.call("scaled_dot_product_attention").value("query", query).value("key", key).value("value", value)
	if a.mask != nil {
		c.value("attn_mask", Value(*a.mask))
	}
	return c.one()
}
