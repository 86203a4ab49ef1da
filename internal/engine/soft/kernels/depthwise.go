package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/spatial"
)

// depthwise is a convolution with few channels in a group. It decodes a strip of lines of x once, instead of a panel
// with a row for each kernel position. Each kernel position reads the strip from a place of its own. The products and
// their order are those of product.
//
// With strides the strip is split into phases of one size, so that neighbors in the result have neighbors in a phase. A
// phase has every second line and column, for example. Results have the distances of the phases, so that the rightmost
// columns of a line, which the kernel covers only in part, are computed and dropped.
type depthwise struct {
	*windows
	rows, pitch int // output lines of a strip; elements between lines of a phase
	sums        int // of a strip, up to a multiple of gemm.SlideWidth
	phase       int // elements of a phase
	used        [2][]bool
}

// Limits of depthwise. Beyond slidePairs a product of matrices is used. stripLength is the sums that fit a first-level
// cache beside their phase, and stripRoom bounds the phases of a strip.
const (
	slidePairs  = 16 // of an input and an output of a group
	stripLength = 4096
	stripRoom   = 1 << 16
)

// newDepthwise returns nil if a product of matrices is better, or the numerics are a chip's.
func newDepthwise(s *Step, p *windows) (run.Runner, int) {
	w := &p.win
	_, integers := s.Attrs.(ByteWindow)
	if integers || s.Arith.Operand != 0 || s.Arith.Result != 0 || p.weight.Weights != nil || w.Groups == 1 ||
		p.channels*p.outputs > slidePairs || w.In[0]*w.Kernel[0]*w.Out[0] != 1 {
		return nil, 0
	}
	if p.channels == 1 && s.halved() {
		if r, work := spatial.Depthwise(*w, s.In[0].Shape[0]*w.Groups, p.outputs, p.weight.Decoded, p.given); r != nil {
			return r, work
		}
	}
	right, below := (w.Kernel[2]-1)*w.Dilations[2]/w.Strides[2], (w.Kernel[1]-1)*w.Dilations[1]/w.Strides[1]
	r := &depthwise{windows: p, pitch: w.Out[2] + right}
	r.rows = min(max(stripLength/r.pitch, 1), w.Out[1])
	r.sums = (r.rows*r.pitch + gemm.SlideWidth - 1) / gemm.SlideWidth * gemm.SlideWidth
	r.phase = below*r.pitch + right + r.sums
	phases := w.Strides[1] * w.Strides[2]
	if below > 4*r.rows || r.phase > stripRoom || phases > stripRoom || p.channels*phases*r.phase > stripRoom {
		return nil, 0
	}
	for i := range r.used {
		r.used[i] = make([]bool, w.Strides[1+i])
		for k := range w.Kernel[1+i] {
			r.used[i][k*w.Dilations[1+i]%w.Strides[1+i]] = true
		}
	}
	return r, p.weight.Rows*p.weight.Cols + max(w.In[2], p.outputs) + r.sums + p.channels*phases*r.phase
}

func (r *depthwise) strips() int { return (r.win.Out[1] + r.rows - 1) / r.rows }

func (r *depthwise) Run(c *run.Call) {
	c.Spread(c.In[0].Len()/r.channels/r.win.In[1]/r.win.In[2]*r.strips(), r.rows*r.win.Out[2]*r.outputs*r.weight.Cols)
}

// Completes implements completer.
func (r *depthwise) Completes() bool { return true }

// Span computes strips lo to hi, counted through all groups of all images.
func (r *depthwise) Span(c *run.Call, lo, hi, worker int) {
	w := &r.win
	work := roomOf(c, worker)
	a, spare, room := work.take(r.weight.Rows*r.weight.Cols), work.take(max(w.In[2], r.outputs)), work.take(r.sums)
	phases := work.floats
	for i := lo; i < hi && !c.Pause(worker); i++ {
		batch, from := i/r.strips(), i%r.strips()*r.rows
		rows := min(r.rows, w.Out[1]-from)
		weights := r.weight.Block(c, a, spare, batch%w.Groups, 0, r.outputs, 0, r.weight.Cols)
		r.load(c, phases, spare, batch, from)
		for m := range r.outputs {
			sums := room[:(rows*r.pitch+gemm.SlideWidth-1)/gemm.SlideWidth*gemm.SlideWidth]
			r.add(sums, weights[m*r.weight.Cols:][:r.weight.Cols], phases)
			for y := 1; y < rows && r.pitch > w.Out[2]; y++ {
				copy(sums[y*w.Out[2]:][:w.Out[2]], sums[y*r.pitch:])
			}
			sums = sums[:rows*w.Out[2]]
			bias, byRow := r.bias(c, spare, batch, m, m+1, 0, 0)
			gemm.AddBias(sums, bias, byRow)
			at := ((batch*r.outputs+m)*w.Out[1] + from) * w.Out[2]
			c.Out[0].Store(sums, at)
			c.Complete(at, at+len(sums), worker)
		}
	}
}

// load fills the phases of the strip from output line from on, with 0 for what lies outside x.
func (r *depthwise) load(c *run.Call, phases, spare []float32, batch, from int) {
	w := &r.win
	high := r.phase / r.pitch
	for ch := range r.channels {
		for down, needed := range r.used[0] {
			for across, also := range r.used[1] {
				if !needed || !also {
					continue
				}
				phase := phases[((ch*w.Strides[1]+down)*w.Strides[2]+across)*r.phase:][:r.phase]
				for y := range high {
					line, at := phase[y*r.pitch:][:r.pitch], (from+y)*w.Strides[1]+down-w.Before[1]
					if at < 0 || at >= w.In[1] {
						clear(line)
						continue
					}
					r.line(c, line, spare, ((batch*r.channels+ch)*w.In[1]+at)*w.In[2], across-w.Before[2])
				}
				clear(phase[high*r.pitch:])
			}
		}
	}
}

// add sets sums to those of one output channel.
func (r *depthwise) add(sums, weights, phases []float32) {
	w := &r.win
	run := w.Kernel[2] // kernel positions whose elements are equally far apart
	if w.Strides[2] > 1 {
		run = 1
	}
	for i := 0; i < len(weights); i += run {
		kw, kh, ch := i%w.Kernel[2]*w.Dilations[2], i/w.Kernel[2]%w.Kernel[1]*w.Dilations[1], i/w.Kernel[2]/w.Kernel[1]
		phase := (ch*w.Strides[1]+kh%w.Strides[1])*w.Strides[2] + kw%w.Strides[2]
		at := phase*r.phase + kh/w.Strides[1]*r.pitch + kw/w.Strides[2]
		gemm.Slide(sums, weights[i:i+run], phases[at:], w.Dilations[2], i > 0)
	}
}
