package ops

import "slices"

// convolutions slide a kernel over one to three spatial axes. Attrs is a Window.
var convolutions = []*Def{
	{Name: "conv", limits: convolutionLimits, infer: inferConv,
		Params: sliding(kernelParams, integers("dilations").or(1).spelled(), integer("groups").or(1).spelled())},
	{Name: "conv_transpose", limits: convolutionLimits, infer: inferConvTranspose, Params: sliding(kernelParams,
		integers("output_shape").optional(), integers("dilations").or(1).spelled(), integer("groups").or(1).spelled())},
}

var kernelParams = []*Param{tensor("weight"), tensor("bias").optional()}

// pools take the maximum, the mean or the norm of a window. Attrs is a Window.
var pools = []*Def{
	pool("l2_pool", ""),
	pool("max_pool", "take the maximum of slices"),
	pool("avg_pool", "use a convolution with equal weights, one group for each channel",
		boolean("exclude_padding_from_average").or(false).spelled()),
}

func pool(name, instead string, more ...*Param) *Def {
	return &Def{Name: name, support: support{memory: some, instead: instead}, limits: poolLimits, infer: inferPool,
		Params: append(sliding([]*Param{integers("kernel_sizes")}, boolean("ceil_mode").or(false).spelled()), more...)}
}

// sliding are the parameters of a window that slides over x.
func sliding(kernel []*Param, settings ...*Param) []*Param {
	x := tensor("x", floats...).ranks(3, 5, "use [N, C, W], [N, C, H, W] or [N, C, D, H, W]", "shape %v")
	return slices.Concat([]*Param{x}, kernel, []*Param{integers("strides").or(1).spelled(),
		word("pad_type", "valid", "same", "same_lower", "custom").or("valid").spelled(),
		integers("pad").or(0).spelled()}, settings)
}

// Window holds the settings of a convolution or pooling over the spatial axes
// of x [N, C, *D]. All slices have one number for each spatial axis.
type Window struct {
	Kernel, Strides, Dilations, Before, After []int
	In, Out                                   []int // spatial lengths
	Groups                                    int   // conv
	ExcludePadding                            bool  // avg_pool: divide by the elements inside x
}

func inferConv(c *Call, x *Value) {
	w := c.kernel(x, "[outputs, inputs/groups, kernel]")
	groups := c.integer("groups")
	ci, co := x.Shape[1], w.Shape[0]
	c.refuseIf(groups < 1 || ci%groups != 0 || co%groups != 0, "groups", "choose a divisor of both",
		"%d does not divide %d input and %d output channels", groups, ci, co)
	c.refuseIf(w.Shape[1] != ci/groups, "weight", "give it as [outputs, inputs/groups, kernel]",
		"KernelChannels (%d) != InputChannels (%d) / Group (%d)", w.Shape[1], ci, groups)
	if c.bias(co); c.Value("bias") != nil {
		c.note("some programs with bias fail on Apple's engine; add a [1, C, 1, 1] tensor after the convolution")
	}
	win := Window{Groups: groups, Kernel: w.Shape[2:], In: x.Shape[2:]}
	c.slide(&win)
	c.gives(win, x.DType, append([]int{x.Shape[0], co}, win.Out...))
}

// kernel returns the weight, which has as many axes as x.
func (c *Call) kernel(x *Value, form string) *Value {
	w := c.Value("weight")
	c.refuseIf(w.Rank() != x.Rank(), "weight", "give it as "+form, "shape %v for x%v", w.Shape, x.Shape)
	return w
}

// bias checks one number for each output channel.
func (c *Call) bias(channels int) {
	c.shaped("bias", []int{channels}, "give one number for each output channel", "shape %v for %d output channels",
		channels)
}

// inferConvTranspose is the rule of the transposed convolution. Its Window is that of the convolution that maps the
// result to x, except that In and Out are those of the transposed one.
func inferConvTranspose(c *Call, x *Value) {
	w := c.kernel(x, "[inputs, outputs/groups, kernel]")
	groups, ci := c.integer("groups"), x.Shape[1]
	c.refuseIf(w.Shape[0] != ci, "weight", "give it as [inputs, outputs/groups, kernel]",
		"%d input channels, x%v has %d", w.Shape[0], x.Shape, ci)
	c.refuseIf(groups < 1 || ci%groups != 0, "groups", "choose a divisor", "%d does not divide %d input channels",
		groups, ci)
	co := w.Shape[1] * groups
	c.bias(co)
	win := Window{Groups: groups, Kernel: w.Shape[2:], In: x.Shape[2:]}
	given := c.ints("output_shape", -1)
	c.refuseIf(given != nil && (len(given) != x.Rank() || given[0] != x.Shape[0] || given[1] != co), "output_shape",
		"give the whole shape of the result", "%s is not [%d, %d, ..] of rank %d", few(given), x.Shape[0], co,
		x.Rank())
	kind := c.steps(&win)
	for i, in := range win.In {
		s, full := win.Strides[i], (in-1)*win.Strides[i]+win.reach(i)
		out := full - win.Before[i] - win.After[i]
		switch {
		case given != nil:
			out = given[2+i]
		case kind == "same", kind == "same_lower":
			out = in * s
		}
		win.halve(i, full-out, kind)
		room := out + win.Before[i] + win.After[i] - win.reach(i)
		c.refuseIf(given != nil && (out < 1 || room < 0 || room/s+1 != in), "output_shape",
			"give the shape of which a convolution with these settings makes x",
			"%d on spatial axis %d is not possible for %d of x", out, i, in)
		win.Out[i] = out
	}
	c.gives(win, x.DType, append([]int{x.Shape[0], co}, win.Out...))
}

// reach is the number of elements that the kernel spans along an axis.
func (w *Window) reach(axis int) int { return w.Dilations[axis]*(w.Kernel[axis]-1) + 1 }

// halve sets the padding of pad_type same and same_lower along an axis, all in all; that of others stays.
func (w *Window) halve(axis, all int, kind string) {
	half := max(all, 0) / 2
	switch kind {
	case "same":
		w.Before[axis], w.After[axis] = half, max(all, 0)-half
	case "same_lower":
		w.Before[axis], w.After[axis] = max(all, 0)-half, half
	}
}

// steps reads strides, dilations and padding: the counts of pad_type custom, else none. It makes room for Out.
func (c *Call) steps(w *Window) (kind string) {
	n := len(w.In)
	w.Strides, w.Dilations = c.ints("strides", n), slices.Repeat([]int{1}, n)
	if c.Def.Param("dilations") != nil {
		w.Dilations = c.ints("dilations", n)
	}
	kind = c.word("pad_type")
	pad := c.ints("pad", 2*n)
	w.Before, w.After, w.Out = make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		s, d := w.Strides[i], w.Dilations[i]
		c.refuseIf(s < 1 || s > MaxElements || d < 1 || d > MaxElements || w.Kernel[i] < 1, "",
			"strides, dilations and kernel sizes are at least 1", "stride %d, dilation %d, kernel %d", s, d,
			w.Kernel[i])
		c.refuseIf(w.Kernel[i] > MaxElements/d, "",
			"kernel and dilation together span at most 2147483648 elements",
			"kernel %d with dilation %d is too large", w.Kernel[i], d)
		if kind == "custom" {
			w.Before[i], w.After[i] = pad[2*i], pad[2*i+1]
			c.refuseIf(min(w.Before[i], w.After[i]) < 0 || max(w.Before[i], w.After[i]) > MaxElements, "pad",
				"counts are at least 0", "%v is out of range", pad)
		}
	}
	return kind
}

// slide reads strides, dilations and padding and computes the output lengths. They are floor((D + before + after -
// d(K-1) - 1) / s) + 1, or ceil instead of floor if ceil_mode is set.
func (c *Call) slide(w *Window) {
	kind, ceil := c.steps(w), c.boolean("ceil_mode")
	for i, in := range w.In {
		s, reach := w.Strides[i], w.reach(i)
		w.halve(i, ((in+s-1)/s-1)*s+reach-in, kind)
		room := in + w.Before[i] + w.After[i] - reach
		c.refuseIf(room < 0, "", "pad the input or shrink the kernel",
			"the kernel spans %d elements, the padded axis has %d", reach, in+w.Before[i]+w.After[i])
		w.Out[i] = room/s + 1
		if ceil && room%s != 0 && w.Out[i]*s < in+w.Before[i] {
			w.Out[i]++ // one more window, as long as it starts inside x or its leading padding
		}
	}
}

func inferPool(c *Call, x *Value) {
	w := Window{In: x.Shape[2:], Groups: x.Shape[1], Kernel: c.ints("kernel_sizes", x.Rank()-2),
		ExcludePadding: c.boolean("exclude_padding_from_average")}
	c.slide(&w)
	for i := range w.Before {
		c.refuseIf(max(w.Before[i], w.After[i]) >= w.Kernel[i], "pad", "pad by less than the kernel",
			"a window would hold padding alone")
	}
	c.gives(w, x.DType, append([]int{x.Shape[0], x.Shape[1]}, w.Out...))
}
