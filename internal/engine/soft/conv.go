package soft

import "github.com/anekit/anekit/ane/mil/ops"

// conv multiplies, for each image and group, the weights as a matrix [outputs,
// inputs*kernel] by the windows of x as columns [inputs*kernel, positions].
func conv(s *step) (runner, int) {
	w := planar(s.attrs.(ops.Window))
	x, out := s.in[0].shape, s.out[0].shape
	p := &windows{win: w, channels: x[1] / w.Groups, outputs: out[1] / w.Groups, bias: s.in[2].where != absent}
	kernel := w.Kernel[0] * w.Kernel[1]
	k := p.channels * kernel
	p.weight = newOperand(s, 1, p.outputs, k, false)
	return newProduct(x[0]*w.Groups, p.outputs, k, w.Out[0]*w.Out[1], w.In[1], p)
}

// windows are the panels of a convolution. batch is image*groups + group.
type windows struct {
	win      ops.Window
	channels int // inputs of a group
	outputs  int // outputs of a group
	weight   operand
	bias     bool
}

func (p *windows) left(c *call, dst, spare []float32, batch, m0, m1 int) []float32 {
	return p.weight.block(c, dst, spare, batch%p.win.Groups, m0, m1, 0, p.weight.cols)
}

// right fills one row for each input channel and kernel position: the elements
// of x under that kernel position at output positions n0 to n1.
func (p *windows) right(c *call, dst, spare []float32, batch, n0, n1 int) []float32 {
	w := &p.win
	i := 0
	for ch := range p.channels {
		plane := (batch*p.channels + ch) * w.In[0]
		for kh := range w.Kernel[0] {
			for kw := range w.Kernel[1] {
				p.fill(c, dst[i*(n1-n0):][:n1-n0], spare, plane, kh*w.Dilations[0]-w.Before[0],
					kw*w.Dilations[1]-w.Before[1], n0)
				i++
			}
		}
	}
	return dst
}

// fill writes one row, one output line at a time. plane is the first line of
// the channel; dh and dw are the offsets of x from the output position.
func (p *windows) fill(c *call, dst, spare []float32, plane, dh, dw, n0 int) {
	w := &p.win
	for len(dst) > 0 {
		oh, ow := n0/w.Out[1], n0%w.Out[1]
		n := min(w.Out[1]-ow, len(dst))
		line := dst[:n]
		ih := oh*w.Strides[0] + dh
		if ih < 0 || ih >= w.In[0] {
			clear(line)
		} else {
			p.line(c, line, spare, (plane+ih)*w.In[1], ow*w.Strides[1]+dw)
		}
		dst, n0 = dst[n:], n0+n
	}
}

// line writes the elements at, at+stride, .. of the line of x that starts at
// base, and 0 for those outside it.
func (p *windows) line(c *call, dst, spare []float32, base, at int) {
	stride, length := p.win.Strides[1], p.win.In[1]
	lead := 0
	if at < 0 {
		lead = min((-at+stride-1)/stride, len(dst))
	}
	clear(dst[:lead])
	dst, at = dst[lead:], at+lead*stride
	n := 0
	if at < length {
		n = min((length-at+stride-1)/stride, len(dst))
	}
	clear(dst[n:])
	if n == 0 {
		return
	}
	if stride == 1 {
		c.in[0].load(dst[:n], base+at)
		return
	}
	run := spare[:(n-1)*stride+1]
	c.in[0].load(run, base+at)
	for i := range n {
		dst[i] = run[i*stride]
	}
}

func (p *windows) store(c *call, tile, spare []float32, batch, m0, m1, n0, n1 int) {
	width, positions := n1-n0, p.win.Out[0]*p.win.Out[1]
	for m := m0; m < m1; m++ {
		row := tile[(m-m0)*width:][:width]
		if p.bias {
			c.in[2].load(spare[:1], batch%p.win.Groups*p.outputs+m)
			for i := range row {
				row[i] += spare[0]
			}
		}
		c.out[0].store(row, (batch*p.outputs+m)*positions+n0)
	}
}
