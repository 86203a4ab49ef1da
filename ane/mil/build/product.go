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

// Matmul multiplies the matrices in the last two axes; the axes before broadcast.
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
