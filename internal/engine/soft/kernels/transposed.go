package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// convTranspose multiplies, for each image and group, the weights as a matrix
// [outputs, inputs*kernel] by columns of x, as conv does. A column has the elements of
// x that reach an output position through the kernel, and 0 where the stride leaves
// none.
func convTranspose(s *Step) (run.Runner, int) {
	p := &spreads{newWindows(s)}
	k := p.channels * ops.Volume(p.win.Kernel)
	return newProduct(s.In[0].Shape[0]*p.win.Groups, p.outputs, k, ops.Volume(p.win.Out), p.win.In[2], p)
}

// spreads are the panels of a transposed convolution.
type spreads struct{ *windows }

// left reads the weights [inputs, outputs, kernel] of a group with their first two axes
// exchanged.
func (p *spreads) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	kernel := ops.Volume(p.win.Kernel)
	most := len(spare) / kernel
	for ch := range p.channels {
		for m := m0; m < m1; m += most {
			at := (batch%p.win.Groups*p.channels+ch)*p.outputs + m
			some := spare[:min(most, m1-m)*kernel]
			c.In[1].Load(some, at*kernel)
			for to := dst[(m-m0)*p.channels*kernel:]; ; to = to[p.channels*kernel:] {
				for i, f := range some[:kernel] {
					to[p.term(ch*kernel+i)] = f
				}
				if some = some[kernel:]; len(some) == 0 {
					break
				}
			}
		}
	}
	return dst
}

// right fills one row for each input channel and kernel position.
func (p *spreads) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	w := &p.win
	i := 0
	for ch := range p.channels {
		for kd := range w.Kernel[0] {
			for kh := range w.Kernel[1] {
				for kw := range w.Kernel[2] {
					p.fill(c, dst[p.term(i)*(n1-n0):][:n1-n0], spare, batch*p.channels+ch,
						[3]int{w.Before[0] - kd*w.Dilations[0],
							w.Before[1] - kh*w.Dilations[1], w.Before[2] - kw*w.Dilations[2]}, n0)
					i++
				}
			}
		}
	}
	return dst
}

// fill writes one row, one output line at a time: at output position o is element
// (o + from) / stride of x, if that is one.
func (p *spreads) fill(c *run.Call, dst, spare []float32, plane int, from [3]int, n0 int) {
	w := &p.win
	for len(dst) > 0 {
		od, oh, ow := n0/w.Out[2]/w.Out[1], n0/w.Out[2]%w.Out[1], n0%w.Out[2]
		line := dst[:min(w.Out[2]-ow, len(dst))]
		clear(line)
		id, ih := od+from[0], oh+from[1]
		if id >= 0 && ih >= 0 && id%w.Strides[0] == 0 && ih%w.Strides[1] == 0 && id/w.Strides[0] < w.In[0] &&
			ih/w.Strides[1] < w.In[1] {
			p.line(c, line, spare, ((plane*w.In[0]+id/w.Strides[0])*w.In[1]+ih/w.Strides[1])*w.In[2], ow+from[2])
		}
		dst, n0 = dst[len(line):], n0+len(line)
	}
}

// line writes the elements of the line of x at base. at is where the first element
// of dst lies among those of x, stride apart.
func (p *spreads) line(c *run.Call, dst, spare []float32, base, at int) {
	stride := p.win.Strides[2]
	first := max((at+stride-1)/stride, 0) // element of x at or after dst[0]
	n := min((at+len(dst)-1)/stride+1, p.win.In[2]) - first
	if at+len(dst) <= 0 || n <= 0 {
		return
	}
	c.In[0].Load(spare[:n], base+first)
	for i, v := range spare[:n] {
		dst[(first+i)*stride-at] = v
	}
}
