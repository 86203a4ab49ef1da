package matrix

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// Windows is a convolution over lines and columns. Its weights are in strips, a column for each output channel, and
// the other factors of their products are read where they lie: in decoded lines of x with the padding around them. So
// output positions cost the same wherever a line ends, and x has no copy for each kernel position.
//
// A rectangle of output positions is computed at a time, a sum for each position and each of some output channels.
type Windows struct {
	Weight Operand // columns are the output channels of a group

	win               ops.Window // of lines and columns
	images            int
	channels, outputs int // of a group
	bias              bool
	kernel            int // positions

	lines, columns int // output positions of a rectangle
	down, across   int // rectangles
	step           int // lines of the panel from one output line to the next
	high           int // lines of the panel under one output line
	pitch, plane   int // elements of the panel between lines, and between channels
	chunk          int // channels in the panel together
	together       int // blocks of output channels that are summed together
	picks          *gemm.Picks
	pointwise      bool // the panel is in the order of the products
	inLines        bool // lines of the panel are those of x that are gap apart, with padding at the same places
	gap            int
}

// Limits of a rectangle. The sums and the panel are in a second-level cache, what is turned at a time in the first.
const (
	block       = 32 // output channels
	rectangle   = 256
	panelMost   = 1 << 16 // float32s
	sumsMost    = 1 << 16
	turnedMost  = 1 << 12
	stripDepth  = 256
	windowsMost = 1 << 12 // of a kernel's positions, strides and dilations
)

// NewWindows returns nil for windows over three axes, for a panel that is too large, and where MulStrips, whose result
// need not be turned, computes few columns beyond the positions of x. Columns of weight are output channels.
func NewWindows(w ops.Window, images, channels int, weight Operand, bias bool) *Windows {
	kernel := w.Kernel[1] * w.Kernel[2]
	if w.In[0]*w.Kernel[0]*w.Out[0] != 1 || w.Before[0] != 0 || max(w.Kernel[1], w.Kernel[2], kernel, w.Strides[1],
		w.Strides[2], w.Dilations[1], w.Dilations[2]) > windowsMost {
		return nil
	}
	r := &Windows{Weight: weight, win: w, images: images, channels: channels, outputs: weight.Cols, bias: bias,
		kernel: kernel, high: (w.Kernel[1]-1)*w.Dilations[1] + 1}
	r.columns, r.across = evenParts(w.Out[2], rectangle)
	r.lines, r.down = evenParts(w.Out[1], max(rectangle/w.Out[2], 1))
	r.step = min(w.Strides[1], r.high)
	r.pitch = (r.columns-1)*w.Strides[2] + (w.Kernel[2]-1)*w.Dilations[2] + 1
	r.plane = ((r.lines-1)*r.step+r.high)*r.pitch | 1 // odd, so that channels lie in different sets of a cache
	if r.gap = 1; r.high == 1 {
		r.gap = w.Strides[1]
	}
	r.inLines = (r.step == w.Strides[1] || r.high == 1) && r.across == 1 && r.pitch > w.Before[2]
	n := w.Out[1] * w.Out[2]
	if r.pointwise = r.inLines && kernel*w.Strides[2] == 1 && w.In[1]*w.In[2] == n; r.pointwise {
		if gemm.Columns(n)-n <= n/24 {
			return nil
		}
		r.plane = (r.lines*r.columns + 5) / 6 * 6
	}
	if r.plane > panelMost {
		return nil
	}
	r.chunk, _ = evenParts(channels, panelMost/r.plane)
	r.together = max(sumsMost/(r.lines*r.columns)/block, 1)
	if r.pointwise {
		r.picks = gemm.Sixes(r.lines*r.columns, r.chunk)
		return r
	}
	var at, by []int32
	for i := range r.lines * r.columns {
		at = append(at, int32(i/r.columns*r.step*r.pitch+i%r.columns*w.Strides[2]))
	}
	for i := range r.chunk * kernel {
		y, x := i/w.Kernel[2]%w.Kernel[1]*w.Dilations[1], i%w.Kernel[2]*w.Dilations[2]
		by = append(by, int32(i/kernel*r.plane+y*r.pitch+x))
	}
	r.picks = gemm.NewPicks(at, by)
	return r
}

// evenParts cuts n in as few parts of at most some as can be, whose sizes are about equal.
func evenParts(n, most int) (size, parts int) {
	parts = (n + most - 1) / most
	size = (n + parts - 1) / parts
	return size, (n + size - 1) / size
}

// Room is the float32s of workspace.
func (r *Windows) Room() int {
	panel, sums, turned, strip, spare := r.rooms()
	return panel + sums + turned + strip + spare
}

func (r *Windows) rooms() (panel, sums, turned, strip, spare int) {
	positions := r.lines * r.columns
	return r.chunk*r.plane + gemm.Strip, positions * min(r.together*block, gemm.Columns(r.outputs)),
		max(turnedMost, positions), gemm.InStrips(stripDepth, gemm.Strip), max(Many*stripDepth, turnedMost)
}

// Run implements run.Runner.
func (r *Windows) Run(c *run.Call) {
	c.Spread(r.images*r.win.Groups*r.down*r.across*r.blocks(), r.lines*r.columns*block*r.channels*r.kernel)
}

func (r *Windows) blocks() int { return (r.outputs + block - 1) / block }

// Completes tells that joined steps compute on pieces of the result if these are whole planes.
func (r *Windows) Completes() bool { return r.down*r.across == 1 }

// Stores tells that results are written by Finish.
func (r *Windows) Stores() bool { return true }

// Span computes items lo to hi: blocks of rectangles of groups of images.
func (r *Windows) Span(c *run.Call, lo, hi, worker int) {
	t := tile{Windows: r, c: c}
	work := c.Work[worker]
	take := func(n int) (taken []float32) {
		taken, work = work[:n:n], work[n:]
		return taken
	}
	panel, sums, turned, strip, spare := r.rooms()
	t.panel, t.sums, t.turned, t.strip, t.spare = take(panel), take(sums), take(turned), take(strip), take(spare)
	if r.inLines {
		clear(t.panel) // the padding stays
	}
	blocks, rectangles, filled := r.blocks(), r.down*r.across, -1
	for i, next := lo, 0; i < hi && !c.Pause(worker); i = next {
		at := i / blocks
		next = min(i+r.together, hi, (at+1)*blocks)
		t.first, t.end = i%blocks*block, min((next-1)%blocks*block+block, r.outputs)
		t.batch, t.line, t.column = at/rectangles, at%rectangles/r.across*r.lines, at%r.across*r.columns
		t.tall = min(r.lines, r.win.Out[1]-t.line)
		for ch := 0; ch < r.channels; ch += r.chunk {
			n := min(r.chunk, r.channels-ch)
			if filled != at || n < r.channels {
				t.fill(ch, n)
			}
			if t.multiply(ch, n); c.Stopped() {
				return
			}
		}
		filled = at
		t.store(worker)
		if rectangles == 1 {
			size := r.win.Out[1] * r.win.Out[2]
			c.Complete((t.batch*r.outputs+t.first)*size, (t.batch*r.outputs+t.end)*size, worker)
		}
	}
}

// tile is some output channels of a rectangle.
type tile struct {
	*Windows
	c                                 *run.Call
	panel, sums, turned, strip, spare []float32
	batch                             int // image*groups + group
	line, column                      int // of the first position
	tall                              int // lines
	first, end                        int // output channels
}

// fill decodes channels ch to ch+n of x.
func (t *tile) fill(ch, n int) {
	w, x := &t.win, &t.c.In[0]
	size, left := w.In[1]*w.In[2], w.Before[2]-t.column*w.Strides[2]
	base, lines := (t.batch*t.channels+ch)*size, (t.tall-1)*t.step+t.high
	top := t.line*w.Strides[1] - w.Before[1]
	if t.pointwise {
		at, positions := base+top*w.In[2], t.tall*t.columns
		if x.Half != nil {
			gemm.PackSixes(t.panel, t.picks, gemm.Rows[fp16.Bits]{Elements: x.Half[at:], Count: n, N: positions, Stride: size})
		} else {
			gemm.PackSixes(t.panel, t.picks, gemm.Rows[float32]{Elements: x.Single[at:], Count: n, N: positions, Stride: size})
		}
		return
	}
	// Lines of x that are equally far apart are decoded together.
	lo, hi := min(max(t.gap-1-top, 0)/t.gap, lines), max(min(lines, (w.In[1]-top+t.gap-1)/t.gap), 0)
	for i := range n {
		plane, at := t.panel[i*t.plane:][:t.plane], base+i*size
		if t.inLines && x.Half != nil {
			clear(plane[:lo*t.pitch])
			clear(plane[max(hi, lo)*t.pitch:])
			if lo < hi {
				gemm.DecodeLines(t.panel[i*t.plane+lo*t.pitch+left:], t.pitch, gemm.Rows[fp16.Bits]{
					Elements: x.Half[at+(top+lo*t.gap)*w.In[2]:], Count: hi - lo, N: min(w.In[2], t.pitch-left),
					Stride: t.gap * w.In[2]})
			}
			continue
		}
		for j := range lines {
			y, line := top+j/t.step*w.Strides[1]+j%t.step, plane[j*t.pitch:][:t.pitch]
			if y < 0 || y >= w.In[1] {
				clear(line)
				continue
			}
			load(x, line, at+y*w.In[2], -left, w.In[2])
		}
	}
}

// multiply adds the products of channels ch to ch+n to the sums, which begin with the first channel.
func (t *tile) multiply(ch, n int) {
	width := gemm.Columns(t.end - t.first)
	positions, group := t.tall*t.columns, t.batch%t.win.Groups
	for j := t.first; j < t.end; j += gemm.Strip {
		end := min(j+gemm.Strip, t.end)
		for k := 0; k < n*t.kernel; k += stripDepth {
			depth, row := min(stripDepth, n*t.kernel-k), ch*t.kernel+k
			strip, _ := t.Weight.Strips(&t.c.In[1], t.strip, t.spare, group, row, row+depth, j, end)
			gemm.MulPicked(t.sums[j-t.first:], width, t.panel, t.picks, positions, k, depth, strip, end-j, row > 0)
		}
	}
}

// store turns the sums, so that the positions of a channel are beside each other, and writes them to the result.
func (t *tile) store(worker int) {
	w, positions := &t.win, t.tall*t.columns
	size, width := w.Out[1]*w.Out[2], gemm.Columns(t.end-t.first)
	used := positions
	if t.across > 1 { // a rectangle is a part of one line
		used = min(t.columns, w.Out[2]-t.column)
	}
	for ch, n := t.first, 0; ch < t.end; ch += n {
		n = min(max(turnedMost/positions/8*8, 1), t.end-ch)
		turned, at := t.turned[:n*positions], (t.batch*t.outputs+ch)*size+t.line*w.Out[2]+t.column
		gemm.Turn(turned, positions, t.sums[ch-t.first:], positions, n, width)
		if t.bias {
			bias := t.spare[:n]
			t.c.In[2].Load(bias, t.batch%w.Groups*t.outputs+ch)
			gemm.AddBias(turned, bias, true)
		}
		if used == positions {
			t.c.Finish(turned, used, at, size, worker)
			continue
		}
		for i := range n { // a part of a line
			t.c.Finish(turned[i*positions:][:used], used, at+i*size, used, worker)
		}
	}
}
