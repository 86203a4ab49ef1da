package matrix

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// Plan lays the windows of a convolution over lines and columns as the columns of a matrix in strips. Row ch*positions +
// i has, for each output position, the element of channel ch under kernel position i.
//
// Output positions are counted through the lines. For each column of the kernel a view has the elements that output
// positions see through it, so that those under the kernel's lines are runs of the view: a line of the kernel reads a
// whole number of lines further on. With strides lines of x alternate between as many views.
type Plan struct {
	in, out, kernel, strides, dilations, before [2]int
	lo, hi                                      int // the lines of output positions that a kernel reads beyond its own
	left, right                                 int // the columns of x likewise
	most                                        int // of columns in one call of Fill
}

// roomMost bounds the float32s of a plan's workspace.
const roomMost = 1 << 16

// New returns nil for windows that no plan is for. most is that of the columns of a call.
func New(w *ops.Window, most int) *Plan {
	if w.In[0]*w.Kernel[0]*w.Out[0] != 1 {
		return nil
	}
	p := &Plan{most: most}
	for i, list := range [][]int{w.In, w.Out, w.Kernel, w.Strides, w.Dilations, w.Before} {
		*[]*[2]int{&p.in, &p.out, &p.kernel, &p.strides, &p.dilations, &p.before}[i] = [2]int(list[1:])
	}
	p.lo, _ = p.shift(0)
	p.hi, _ = p.shift(p.kernel[0] - 1)
	p.left, p.right = -p.before[1], (p.kernel[1]-1)*p.dilations[1]-p.before[1]
	// Each number is bounded before the next one is made of it.
	if p.hi-p.lo > roomMost/p.out[1] || p.kernel[1] > roomMost || p.right-p.left > roomMost ||
		p.strides[1] > roomMost/max(p.out[1], 1) || p.Room() > roomMost {
		return nil
	}
	return p
}

// shift returns by how many lines a line of the kernel reads beyond an output position, and in which view.
func (p *Plan) shift(line int) (lines, view int) {
	at := line*p.dilations[0] - p.before[0]
	view = (at%p.strides[0] + p.strides[0]) % p.strides[0]
	return (at - view) / p.strides[0], view
}

// pointwise reports whether every output position sees the element in its place alone.
func (p *Plan) pointwise() bool { return p.kernel == [2]int{1, 1} && p.even() && p.before == [2]int{} }

// even reports whether every output position is a position of x.
func (p *Plan) even() bool { return p.in == p.out && p.strides == [2]int{1, 1} }

// view is the elements of one view.
func (p *Plan) view() int { return min(p.most, p.out[0]*p.out[1]) + (p.hi-p.lo)*p.out[1] + gemm.Strip }

// line is the elements of x that a line of a view is made of.
func (p *Plan) line() int { return min(p.out[1], p.view())*p.strides[1] + p.right - p.left }

// Room is the float32s of workspace.
func (p *Plan) Room() int {
	if p == nil || p.pointwise() {
		return 0
	}
	return p.kernel[1]*p.view() + max(2*p.line()+p.strides[1], p.view()+p.right-p.left)
}

// Fill writes the columns of output positions n0 to n1 to dst. plane is the first of the channels in x.
func (p *Plan) Fill(dst []float32, x *run.Vec, room []float32, plane, channels, n0, n1 int) {
	k, size := channels*p.kernel[0]*p.kernel[1], p.in[0]*p.in[1]
	if p.pointwise() {
		Pack(dst, k, x, plane*size+n0, channels, n1-n0, size)
		return
	}
	views, rest := room[:p.kernel[1]*p.view()], room[p.kernel[1]*p.view():]
	for ch := range channels {
		base, at := (plane+ch)*size, ch*p.kernel[0]*p.kernel[1]
		if p.even() {
			p.shifted(views, x, rest, base, n0, n1)
			for column := range p.kernel[1] {
				r := gemm.Rows[float32]{Elements: views[column*p.view():][:p.view()], Count: p.kernel[0], N: n1 - n0,
					Stride: p.dilations[0] * p.out[1]}
				gemm.PackStrips(dst, k, at+column, p.kernel[1], r)
			}
			continue
		}
		for view := range p.strides[0] {
			filled := false
			for line := range p.kernel[0] {
				lines, of := p.shift(line)
				if of != view {
					continue
				}
				if !filled {
					p.lines(views, x, rest, base, n0, n1, view)
					filled = true
				}
				for column := range p.kernel[1] {
					from := column*p.view() + (lines-p.lo)*p.out[1]
					r := gemm.Rows[float32]{Elements: views[from : from+n1-n0+gemm.Strip], Count: 1, N: n1 - n0}
					gemm.PackStrips(dst, k, at+line*p.kernel[1]+column, 1, r)
				}
			}
		}
	}
}

// shifted makes the views of a plane at base where every output position is a position of x. They are copies of one run
// of x, with 0 where that has an element of another line.
func (p *Plan) shifted(views []float32, x *run.Vec, room []float32, base, n0, n1 int) {
	from, to := n0+p.lo*p.out[1], n1+p.hi*p.out[1]
	run := room[:to-from+p.right-p.left]
	load(x, run, base, from+p.left, p.in[0]*p.in[1])
	for column := range p.kernel[1] {
		beyond, view := p.left+column*p.dilations[1], views[column*p.view():][:to-from]
		copy(view, run[beyond-p.left:])
		first, last := max(p.out[1]-max(beyond, 0), 0), p.out[1] // columns without an element
		if beyond < 0 {
			first, last = 0, min(-beyond, p.out[1])
		}
		for line := -((from%p.out[1] + p.out[1]) % p.out[1]); line < len(view) && first < last; line += p.out[1] {
			clear(view[min(max(line+first, 0), len(view)):min(max(line+last, 0), len(view))])
		}
	}
}

// lines makes the views of a plane at base from one line of x after another.
func (p *Plan) lines(views []float32, x *run.Vec, room []float32, base, n0, n1, view int) {
	from, to, width := n0+p.lo*p.out[1], n1+p.hi*p.out[1], p.out[1]
	room, split := room[:p.line()], room[p.line():]
	for at := from; at < to; {
		column := (at%width + width) % width
		n := min(width-column, to-at)
		y := (at-column)/width*p.strides[0] + view
		line, step := room[:(n-1)*p.strides[1]+1+p.right-p.left], p.strides[1]
		if y < 0 || y >= p.in[0] {
			clear(line)
		} else {
			load(x, line, base+y*p.in[1], column*step+p.left, p.in[1])
		}
		each := (len(line) + step - 1) / step
		for i := 0; i < min(step, len(line)) && step > 1; i++ {
			Every(split[i*each:][:(len(line)-i+step-1)/step], line[i:], step)
		}
		for k := range p.kernel[1] {
			beyond, src := k*p.dilations[1], line
			if step > 1 {
				src = split[beyond%step*each:]
			}
			copy(views[k*p.view()+at-from:][:n], src[beyond/step:])
		}
		at += n
	}
}

// load reads elements from at on of size elements at base, and 0 for those outside.
func load(x *run.Vec, dst []float32, base, at, size int) {
	lo := min(max(-at, 0), len(dst))
	hi := max(min(size-at, len(dst)), lo)
	clear(dst[:lo])
	clear(dst[hi:])
	if lo < hi {
		x.Load(dst[lo:hi], base+at+lo)
	}
}

// Every sets dst to the elements of src from the first on that are a step apart.
func Every[T any](dst, src []T, step int) {
	if step == 2 {
		for ; len(dst) >= 4 && len(src) >= 7; dst, src = dst[4:], src[min(8, len(src)):] {
			dst[0], dst[1], dst[2], dst[3] = src[0], src[2], src[4], src[6]
		}
	}
	at := 0
	for i := range dst {
		dst[i] = src[at]
		at += step
	}
}

// Pack writes n elements of each of some rows, stride apart from element at of x on, to a matrix of k rows in strips.
func Pack(dst []float32, k int, x *run.Vec, at, rows, n, stride int) {
	switch {
	case x.Half != nil:
		gemm.PackStrips(dst, k, 0, 1, gemm.Rows[fp16.Bits]{Elements: x.Half[at:], Count: rows, N: n, Stride: stride})
	default:
		gemm.PackStrips(dst, k, 0, 1, gemm.Rows[float32]{Elements: x.Single[at:], Count: rows, N: n, Stride: stride})
	}
}
