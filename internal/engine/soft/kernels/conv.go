package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// conv multiplies, for each image and group, the weights as a matrix [outputs,
// inputs*kernel] by the windows of x as columns [inputs*kernel, positions]. In a transposed convolution a column has
// the elements of x that reach an output position through the kernel, and 0 where the stride leaves none.
func conv(s *Step) (run.Runner, int) {
	p := newWindows(s)
	k, positions := p.channels*ops.Volume(p.win.Kernel), ops.Volume(p.win.Out)
	if !p.transposed {
		if s.Packed != nil && s.In[0].Shape[0]*positions == 1 && [3]int(p.win.In) == [3]int{1, 1, 1} {
			if r, work := newPackedProduct(s, 1, 1, p.given); r != nil {
				return r, work
			}
		}
		ahead := s.In[1].len() < largeWeight || positions > leanColumns
		if s.inStrips(p.outputs) && (p.win.Groups == 1 || p.channels*p.outputs > slidePairs) {
			weight := matrix.Operand{Index: 1, Rows: k, Cols: p.outputs, Flip: true, InStrips: true, Weights: s.weights(1)}
			if r := matrix.NewWindows(p.win, s.In[0].Shape[0], p.channels, weight, p.given); r != nil {
				if ahead {
					s.decode(&r.Weight)
				}
				return r, r.Room()
			}
		}
		p.weight = newOperand(s, 1, p.outputs, k, false, ahead)
		if r, work := newDepthwise(s, p); r != nil {
			return r, work
		}
	}
	p.inColumns = !p.transposed && s.inStrips(p.outputs)
	r, work := newProduct(s.In[0].Shape[0]*p.win.Groups, p.outputs, k, positions, p.win.In[2], p)
	if p.transposed {
		return newPhases(s, p, r, work)
	}
	return r, work
}

// leanColumns are so few that decoding a large weight in each run costs 3 to 4 % of its time (32 and 64 columns of
// 2048 x 2048).
const leanColumns = 64

// windows are the panels of a convolution. batch is image*groups + group.
type windows struct {
	win        ops.Window     // over three spatial axes
	channels   int            // inputs of a group
	outputs    int            // outputs of a group
	weight     matrix.Operand // unless transposed
	given      bool           // a bias
	hardware   bool           // sum in the order of a chip: the input channel changes fastest, not slowest
	transposed bool
	inColumns  bool     // in strips
	offsets    [][3]int // for each kernel position: of x from the output position
}

func newWindows(s *Step) *windows {
	integers, ok := s.Attrs.(ByteWindow)
	if !ok {
		integers.Window = s.Attrs.(ops.Window)
	}
	w := volumetric(integers.Window)
	p := &windows{win: w, channels: s.In[0].Shape[1] / w.Groups, outputs: s.Out[0].Shape[1] / w.Groups,
		given: s.In[2].Given, transposed: s.Op == "conv_transpose",
		hardware: s.Arith.Operand.Has(numerics.ProductRounding) && s.Out[0].DType == mil.FP16}
	for i := range ops.Volume(w.Kernel) {
		var from [3]int
		for axis := 2; axis >= 0; axis-- {
			from[axis] = i%w.Kernel[axis]*w.Dilations[axis] - w.Before[axis]
			if p.transposed {
				from[axis] = -from[axis]
			}
			i /= w.Kernel[axis]
		}
		p.offsets = append(p.offsets, from)
	}
	return p
}

// ByteWindow are the settings of a convolution of int8 elements with int8 weights. Its operands are those, the
// bias, the scale of x and the scales of the weights: one, or one for each output channel.
type ByteWindow struct{ ops.Window }

// volumetric adds leading spatial axes of length 1 to a window over fewer than three.
func volumetric(w ops.Window) ops.Window {
	for len(w.In) < 3 {
		one := func(list []int) []int { return append([]int{1}, list...) }
		w.Kernel, w.In, w.Out, w.Strides, w.Dilations = one(w.Kernel), one(w.In), one(w.Out), one(w.Strides),
			one(w.Dilations)
		w.Before, w.After = append([]int{0}, w.Before...), append([]int{0}, w.After...)
	}
	return w
}

func (p *windows) unit() int {
	if p.inColumns {
		return len(p.offsets)
	}
	return 0
}

func (p *windows) part(c *run.Call, dst, spare []float32, batch, m0, m1, k0, k1 int) (a []float32, stride int) {
	return p.weight.Part(c, dst, spare, batch%p.win.Groups, m0, m1, k0, k1)
}

func (p *windows) strips(
	c *run.Call, dst, spare []float32, batch, k0, k1, n0, n1 int,
) (b []float32, pitch int) {
	kernel := len(p.offsets)
	first, channels := batch*p.channels+k0/kernel, (k1-k0)/kernel
	pitch = gemm.Pitch(k1 - k0)
	if kernel == 1 && p.offsets[0] == [3]int{} && p.flat() {
		size := ops.Volume(p.win.In)
		matrix.Pack(dst, pitch, &c.In[0], first*size+n0, channels, n1-n0, size)
		return dst, pitch
	}
	row := gemm.Rows[float32]{Elements: spare[:n1-n0], Count: 1, N: n1 - n0}
	for i := range k1 - k0 {
		p.fill(c, row.Elements, spare[n1-n0:], first+i/kernel, p.offsets[i%kernel], n0)
		gemm.PackStrips(dst, pitch, i, 1, row)
	}
	return dst, pitch
}

func (p *windows) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	if p.transposed {
		p.exchanged(c, dst, spare, batch%p.win.Groups, m0, m1)
		return dst
	}
	a := p.weight.Block(c, dst, spare, batch%p.win.Groups, m0, m1, 0, p.weight.Cols)
	k := p.weight.Cols
	if !p.hardware || k == p.channels || p.channels == 1 {
		return a
	}
	for at := 0; at < len(a); at += k {
		row := spare[:k]
		copy(row, a[at:])
		for i, f := range row {
			dst[at+p.term(i)] = f
		}
	}
	return dst
}

// exchanged reads the weights [inputs, outputs, kernel] of a group of a transposed convolution with their first two
// axes exchanged.
func (p *windows) exchanged(c *run.Call, dst, spare []float32, group, m0, m1 int) {
	kernel := ops.Volume(p.win.Kernel)
	most := len(spare) / kernel
	for ch := range p.channels {
		for m := m0; m < m1; m += most {
			some := spare[:min(most, m1-m)*kernel]
			c.In[1].Load(some, ((group*p.channels+ch)*p.outputs+m)*kernel)
			for row := m - m0; len(some) > 0; row, some = row+1, some[kernel:] {
				to := dst[row*p.channels*kernel:]
				for i, f := range some[:kernel] {
					to[p.term(ch*kernel+i)] = f
				}
			}
		}
	}
}

// term returns the place in the sum of the product of index i, counted with the kernel position fastest.
func (p *windows) term(i int) int {
	if !p.hardware {
		return i
	}
	kernel := ops.Volume(p.win.Kernel)
	return i%kernel*p.channels + i/kernel
}

func (p *windows) bias(c *run.Call, dst []float32, batch, m0, m1, _, _ int) (b []float32, byRow bool) {
	if !p.given {
		return nil, true
	}
	b = dst[:m1-m0]
	c.In[2].Load(b, batch%p.win.Groups*p.outputs+m0)
	return b, true
}

// scale returns the product of the scales of a row.
func (p *windows) scale(c *run.Call, batch, m int) float64 {
	each := batch%p.win.Groups*p.outputs + m
	if c.In[4].Len() == 1 {
		each = 0
	}
	return c.In[3].Value(0) * c.In[4].Value(each)
}

// right fills one row for each input channel and kernel position: the elements
// of x under that kernel position at output positions n0 to n1.
func (p *windows) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	i := 0
	for ch := range p.channels {
		for _, from := range p.offsets {
			p.fill(c, dst[p.term(i)*(n1-n0):][:n1-n0], spare, batch*p.channels+ch, from, n0)
			i++
		}
	}
	return dst
}

// fill writes one row, one output line at a time. plane is the channel; from are the offsets of x from the output
// position. In a transposed convolution output position o has element (o + from) / stride, if that is one.
func (p *windows) fill(c *run.Call, dst, spare []float32, plane int, from [3]int, n0 int) {
	w := &p.win
	if !p.transposed && p.flat() && from[0] == 0 {
		size := w.In[1] * w.In[2]
		matrix.Flat(&c.In[0], dst, plane*size, size, w.In[2], n0, from[1], from[2])
		return
	}
	for len(dst) > 0 {
		od, oh, ow := n0/w.Out[2]/w.Out[1], n0/w.Out[2]%w.Out[1], n0%w.Out[2]
		line := dst[:min(w.Out[2]-ow, len(dst))]
		at := ow
		if !p.transposed {
			at *= w.Strides[2]
		}
		id, inD := p.source(0, od, from[0])
		ih, inH := p.source(1, oh, from[1])
		if inD && inH {
			p.line(c, line, spare, ((plane*w.In[0]+id)*w.In[1]+ih)*w.In[2], at+from[2])
		} else {
			clear(line)
		}
		dst, n0 = dst[len(line):], n0+len(line)
	}
}

// source returns the position of x along an axis that an output position has under a kernel position, and whether it is
// inside.
func (p *windows) source(axis, output, from int) (i int, inside bool) {
	stride := p.win.Strides[axis]
	if p.transposed {
		at := output + from
		return at / stride, at >= 0 && at%stride == 0 && at/stride < p.win.In[axis]
	}
	i = output*stride + from
	return i, i >= 0 && i < p.win.In[axis]
}

// flat reports whether every output position is a position of x, in one plane. Then under one kernel position a row of
// output positions is a run of x with other ends of lines.
func (p *windows) flat() bool {
	w := &p.win
	return [3]int(w.In) == [3]int(w.Out) && w.In[0] == 1 && [3]int(w.Strides) == [3]int{1, 1, 1}
}

func (p *windows) line(c *run.Call, dst, spare []float32, base, at int) {
	matrix.Line(&c.In[0], dst, spare, base, at, p.win.In[2], p.win.Strides[2], p.transposed)
}

func (p *windows) store(c *run.Call, tile, _ []float32, batch, m0, m1, n0, n1, worker int) {
	positions := ops.Volume(p.win.Out)
	c.Finish(tile, n1-n0, (batch*p.outputs+m0)*positions+n0, positions, worker)
}
