package ops

import (
	"fmt"
	"slices"
)

// convolutions slide a kernel over one or two spatial axes. Attrs is a Window.
var convolutions = []Def{
	{Name: "conv", Params: []Param{tensor("x"), tensor("weight"), perhaps("bias"), option("strides"),
		option("pad_type"),
		option("pad"), option("dilations"), option("groups")}, infer: inferConv},
}

// Window holds the settings of a convolution or pooling over the spatial axes
// of x [N, C, *D]. All slices have one number for each spatial axis.
type Window struct {
	Kernel, Strides, Dilations, Before, After []int
	In, Out                                   []int // spatial lengths
	Groups                                    int   // conv
	ExcludePadding                            bool  // avg_pool: divide by the elements inside x
}

// padTypes are the choices of pad_type.
var padTypes = []string{"valid", "same", "same_lower", "custom"}

func inferConv(c *Call) {
	x, w, b := c.tensor("x"), c.tensor("weight"), c.tensor("bias")
	c.needs("x", floats...)
	c.sameType("x", "weight")
	c.fp32(x.DType)
	spatial := x.Rank() - 2
	if spatial < 1 || spatial > 2 {
		c.fail("x", "use [N, C, W] or [N, C, H, W]; the engine has no 3-D convolution", "shape %v", x.Shape)
	}
	if w.Rank() != x.Rank() {
		c.fail("weight", "give it as [outputs, inputs/groups, kernel]", "shape %v for x%v", w.Shape, x.Shape)
	}
	if c.failed() {
		return
	}
	groups := c.integer("groups", 1)
	ci, co := x.Shape[1], w.Shape[0]
	if groups < 1 || ci%groups != 0 || co%groups != 0 {
		c.fail("groups", "choose a divisor of both", "%d does not divide %d input and %d output channels", groups, ci,
			co)
	} else if w.Shape[1] != ci/groups {
		c.fail("weight", "give it as [outputs, inputs/groups, kernel]",
			"KernelChannels (%d) != InputChannels (%d) / Group (%d)", w.Shape[1], ci, groups)
	}
	if b != nil {
		c.sameType("x", "bias")
		if !slices.Equal(b.Shape, []int{co}) {
			c.fail("bias", "give one number for each output channel", "shape %v for %d output channels", b.Shape, co)
		}
		c.notes = append(c.notes, "some programs with bias fail on Apple's engine; add a [1, C, 1, 1] tensor after "+
			"the convolution")
	}
	win := Window{Groups: groups, Kernel: w.Shape[2:], In: x.Shape[2:]}
	c.slide(&win, false)
	c.attrs = win
	c.gives(x.DType, append([]int{x.Shape[0], co}, win.Out...))
}

// slide reads strides, dilations and padding and computes the output lengths:
// floor((D + before + after - d(K-1) - 1) / s) + 1, with ceil instead of floor if
// ceil is set.
func (c *Call) slide(w *Window, ceil bool) {
	n := len(w.In)
	ones, zeros := slices.Repeat([]int{1}, n), make([]int, 2*n)
	w.Strides = c.ints("strides", n, ones)
	w.Dilations = c.ints("dilations", n, ones)
	kind := c.word("pad_type", "valid", padTypes...)
	pad := c.ints("pad", 2*n, zeros)
	w.Before, w.After, w.Out = make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		s, d, in := w.Strides[i], w.Dilations[i], w.In[i]
		if s < 1 || s > MaxElements || d < 1 || d > MaxElements || w.Kernel[i] < 1 {
			c.fail("", "strides, dilations and kernel sizes are at least 1", "stride %d, dilation %d, kernel %d", s, d,
				w.Kernel[i])
			return
		}
		if w.Kernel[i] > MaxElements/d {
			c.fail("", fmt.Sprintf("kernel and dilation together span at most %d elements", MaxElements),
				"kernel %d with dilation %d is too large", w.Kernel[i], d)
			return
		}
		reach := d*(w.Kernel[i]-1) + 1
		switch kind {
		case "custom":
			w.Before[i], w.After[i] = pad[2*i], pad[2*i+1]
			if min(w.Before[i], w.After[i]) < 0 || max(w.Before[i], w.After[i]) > MaxElements {
				c.fail("pad", "counts are at least 0", "%v is out of range", pad)
				return
			}
		case "same", "same_lower":
			all := max(((in+s-1)/s-1)*s+reach-in, 0)
			w.Before[i], w.After[i] = all/2, all-all/2
			if kind == "same_lower" {
				w.Before[i], w.After[i] = w.After[i], w.Before[i]
			}
		}
		room := in + w.Before[i] + w.After[i] - reach
		if room < 0 {
			c.fail("", "pad the input or shrink the kernel", "the kernel spans %d elements, the padded axis has %d",
				reach, in+w.Before[i]+w.After[i])
			return
		}
		w.Out[i] = room/s + 1
		if ceil && room%s != 0 && w.Out[i]*s < in+w.Before[i] {
			w.Out[i]++ // one more window, as long as it starts inside x or its leading padding
		}
	}
}
