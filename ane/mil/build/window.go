package build

// What Conv and the pools have in common: a window that slides over the spatial axes
// of x, which are the last one to three.

// Strides are the steps of the window along each spatial axis; in SliceByIndex the
// steps along each axis. The default is 1.
type Strides []int

// Padding is the number of zeros around x, a pair for each spatial axis: top, bottom, left, right. The default is none.
type Padding []int

// PadType is a rule for the padding.
type PadType string

// The rules for the padding.
const (
	Valid     PadType = "valid"      // none: the default
	Same      PadType = "same"       // at stride 1 the result is as large as x; an odd zero is at the end
	SameLower PadType = "same_lower" // like Same, but an odd zero is at the start
)

// Dilations are the distances of the kernel's elements in x along each spatial axis. The default is 1.
type Dilations []int

// Groups is the number of groups of channels that are convolved separately. The default is 1.
type Groups int

// OutputShape is the shape of the result of ConvTranspose, where the settings permit
// several. The default is the smallest, for Same and SameLower strides times x.
type OutputShape []int

// CeilMode adds one more window along an axis when the strides leave a remainder.
type CeilMode bool

// ExcludePadding divides by the number of elements of the window inside x, not by all.
type ExcludePadding bool

func (s Strides) set(c *call) {
	name := "strides"
	if c.def.Param("stride") != nil {
		name = "stride"
	}
	list(c, name, s)
}

func (p Padding) set(c *call)        { c.put("pad", []int(p)).put("pad_type", "custom") }
func (d Dilations) set(c *call)      { list(c, "dilations", d) }
func (g Groups) set(c *call)         { c.put("groups", int(g)) }
func (o OutputShape) set(c *call)    { list(c, "output_shape", o) }
func (m CeilMode) set(c *call)       { c.put("ceil_mode", bool(m)) }
func (e ExcludePadding) set(c *call) { c.put("exclude_padding_from_average", bool(e)) }

func (p PadType) set(c *call) {
	c.drop("pad")
	c.put("pad_type", string(p))
}

// list sets a list; nil is the default.
func list[L ~[]E, E any](c *call, name string, l L) {
	if c.drop(name); l != nil {
		c.put(name, []E(l))
	}
}

// Conv slides the kernels weight [outputs, inputs/groups, H, W] over x [N, inputs, H, W], or both without H, or with a
// depth before it. For a bias, use Add with [1, outputs, 1, 1]: engines are reported to refuse the operator's own bias.
func (f *Func) Conv(x, weight Value, options ...Optional) Value {
	return f.plain("conv", x, weight, options)
}

// ConvTranspose adds the kernels weight [inputs, outputs/groups, H, W], times each element of x [N, inputs, H, W], to
// the result at the strides times the place of the element: the gradient of Conv. Padding removes
// elements from the result. H may be absent, and a depth may precede it.
func (f *Func) ConvTranspose(x, weight Value, options ...Optional) Value {
	c := f.call("conv_transpose", x, weight, options)
	if c.has("output_shape") {
		return c.one()
	}
	return c.shaped("output_shape")
}

// MaxPool returns the maximum of each window of x [N, C, H, W], [N, C, W] or [N, C, D, H, W]; kernel is
// the window's length along each spatial axis.
func (f *Func) MaxPool(x Value, kernel []int, options ...Optional) Value {
	return f.plain("max_pool", x, kernel, options)
}

// AvgPool returns the mean of each window of x [N, C, H, W], [N, C, W] or [N, C, D, H, W]; kernel is
// the window's length along each spatial axis.
func (f *Func) AvgPool(x Value, kernel []int, options ...Optional) Value {
	return f.plain("avg_pool", x, kernel, options)
}

// L2Pool returns the square root of the sum of squares of each window, like MaxPool.
func (f *Func) L2Pool(x Value, kernel []int, options ...Optional) Value {
	return f.plain("l2_pool", x, kernel, options)
}
