package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// halfMaxPooler is max_pool of halves. It takes the greatest of the lines under a window, element by element, deals the
// result out by its place within a stride, and takes the greatest of as many shifted lines as a window has columns.
type halfMaxPooler struct {
	pooler
	width int // of a line with its padding: that under all windows
}

// Bounds of halfMaxPooler: the columns of a window, for each of which it passes over a line, and the elements of one.
const (
	mostColumns = 32
	mostWidth   = 1 << 16
)

// newHalfMaxPooler returns nil for windows of which pooler is quicker.
func newHalfMaxPooler(r *pooler) (run.Runner, int) {
	w := &r.win
	width := (w.Out[2]-1)*w.Strides[2] + w.Kernel[2]
	if w.Out[2] < 8 || w.Kernel[2] > mostColumns || w.Strides[2] > mostColumns || width > mostWidth {
		return nil, 0
	}
	return &halfMaxPooler{*r, width}, width + w.Strides[2] // halves of the line, and of its parts by phase
}

func (*halfMaxPooler) ViewsHalves() {}

func (r *halfMaxPooler) Span(c *run.Call, lo, hi, worker int) {
	w, stride := &r.win, r.win.Strides[2]
	line, dealt := c.Rooms[worker].Half[:r.width], c.Rooms[worker].Half[r.width:]
	phase := (r.width + stride - 1) / stride
	for i := lo; i < hi && !c.Pause(worker); i++ {
		plane, od, oh := i/w.Out[1]/w.Out[0], i/w.Out[1]%w.Out[0], i%w.Out[1]
		r.lines(c, line, plane, od, oh)
		if stride > 1 {
			for p := range stride {
				to := dealt[p*phase:]
				for k, at := 0, p; at < r.width; k, at = k+1, at+stride {
					to[k] = line[at]
				}
			}
		} else {
			dealt = line
		}
		out := c.Out[0].Half[i*w.Out[2]:][:w.Out[2]]
		copy(out, dealt)
		for k := 1; k < w.Kernel[2]; k++ {
			halves.Binary(halves.Max, out, out, dealt[k%stride*phase+k/stride:][:len(out)])
		}
	}
}

// lines sets line to the greatest elements of the lines under a row of windows, and to -Inf where it is outside of x.
func (r *halfMaxPooler) lines(c *run.Call, line []fp16.Bits, plane, od, oh int) {
	w := &r.win
	to := min(w.In[2], len(line)-w.Before[2])
	for k := range line {
		line[k] = fp16.Inf | 0x8000
	}
	if to <= 0 {
		return
	}
	inside := line[w.Before[2]:][:to]
	d0, d1 := r.inside(0, od)
	h0, h1 := r.inside(1, oh)
	for id := d0; id < d1; id++ {
		for ih := h0; ih < h1 && !c.Stopped(); ih++ {
			x := c.In[0].Half[((plane*w.In[0]+id)*w.In[1]+ih)*w.In[2]:][:to]
			if id == d0 && ih == h0 {
				copy(inside, x)
			} else {
				halves.Binary(halves.Max, inside, inside, x)
			}
		}
	}
}
