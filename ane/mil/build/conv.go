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
// or both without H. For a bias, use Add with [1, outputs, 1, 1]: engines are reported
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
