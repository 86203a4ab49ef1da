package build

// ConvOption is Strides, Padding, a PadType, Dilations or Groups.
type ConvOption interface{ conv(*window) }

// Dilations are the distances of the kernel's elements in x along each spatial axis.
// The default is 1.
type Dilations []int

// Groups is the number of groups of channels that are convolved separately. The
// default is 1.
type Groups int

func (d Dilations) conv(w *window) { w.dilations = d }
func (g Groups) conv(w *window)    { w.groups = g }

// Conv slides the kernels weight [outputs, inputs/groups, H, W] over x [N, inputs, H, W],
// or both without H, or with a depth before it. For a bias, use Add with [1, outputs, 1, 1]: engines are reported
// to refuse the operator's own bias.
func (f *Func) Conv(x, weight Value, options ...ConvOption) Value {
	w := window{groups: 1}
	for _, o := range given(options) {
		o.conv(&w)
	}
	n := spatial(x)
	return f.call("conv").value("x", x).value("weight", weight).
		ints("dilations", or(w.dilations, 1, n)).int("groups", int(w.groups)).slide(w, n).one()
}

// ConvTransposeOption is a ConvOption, OutputShape or Bias.
type ConvTransposeOption interface{ convTranspose(*window) }

// OutputShape is the shape of the result of ConvTranspose, where the settings permit
// several. The default is the smallest, for Same and SameLower strides times x.
type OutputShape []int

func (o OutputShape) convTranspose(w *window) { w.shape = o }
func (s Strides) convTranspose(w *window)     { w.strides = s }
func (p Padding) convTranspose(w *window)     { p.conv(w) }
func (p PadType) convTranspose(w *window)     { p.conv(w) }
func (d Dilations) convTranspose(w *window)   { w.dilations = d }
func (g Groups) convTranspose(w *window)      { w.groups = g }
func (b Bias) convTranspose(w *window)        { w.bias = &b }

// ConvTranspose adds the kernels weight [inputs, outputs/groups, H, W], times each element of x [N, inputs, H, W], to
// the result at the strides times the place of the element: the gradient of Conv. Padding removes
// elements from the result. H may be absent, and a depth may precede it.
func (f *Func) ConvTranspose(x, weight Value, options ...ConvTransposeOption) Value {
	w := window{groups: 1}
	for _, o := range given(options) {
		o.convTranspose(&w)
	}
	n := spatial(x)
	c := f.call("conv_transpose").value("x", x).value("weight", weight).
		ints("dilations", or(w.dilations, 1, n)).int("groups", int(w.groups)).slide(w, n)
	if w.bias != nil {
		c.value("bias", Value(*w.bias))
	}
	if w.shape == nil {
		w.shape = c.shape()
	}
	if w.shape != nil {
		c.ints("output_shape", w.shape)
	}
	return c.one()
}
