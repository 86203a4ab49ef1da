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
// Lines and columns of x are dealt to phases: with strides of two, those at even and at odd places. A phase has pitch
// places in a line, no fewer than there are outputs, with 0 where x ends. Under one column of the kernel output
// positions see a phase shifted: that is a view. Those under the lines of the kernel are runs of the view, which lie a
// whole number of lines apart.
type Plan struct {
	in, out     [2]int
	strides     [2]int
	between     int      // positions from what one line of the kernel sees to what the next one does, without strides
	taps        [2][]tap // of the lines and the columns of the kernel
	lo, hi      [2]int   // the least and the greatest of by
	pitch       int
	view, phase int // elements of a view and of a phase; a strip beyond those used is read, too
	pointwise   bool
}

// tap is a kernel position along an axis: it reads by elements of a phase beyond an output position.
type tap struct {
	by, phase int
	first     bool // that reads the phase
}

// roomMost bounds the float32s of a plan's workspace.
const roomMost = 1 << 16

// New returns nil for windows that no plan is for. most is that of the columns of a call.
func New(w *ops.Window, most int) *Plan {
	if w.In[0]*w.Kernel[0]*w.Out[0] != 1 {
		return nil
	}
	p := &Plan{in: [2]int(w.In[1:]), out: [2]int(w.Out[1:]), strides: [2]int(w.Strides[1:])}
	p.pitch = max((p.in[1]+p.strides[1]-1)/p.strides[1], p.out[1])
	for i := range p.taps {
		if w.Kernel[1+i] > roomMost || p.strides[i] > roomMost {
			return nil
		}
		seen := map[int]bool{}
		for at := -w.Before[1+i]; len(p.taps[i]) < w.Kernel[1+i]; at += w.Dilations[1+i] {
			phase := (at%p.strides[i] + p.strides[i]) % p.strides[i]
			p.taps[i] = append(p.taps[i], tap{(at - phase) / p.strides[i], phase, !seen[phase]})
			seen[phase] = true
		}
		p.lo[i], p.hi[i] = p.taps[i][0].by, p.taps[i][len(p.taps[i])-1].by
	}
	p.between = w.Dilations[1] * p.out[1]
	p.pointwise = len(p.taps[0])*len(p.taps[1]) == 1 && p.in == p.out && p.strides == [2]int{1, 1} &&
		p.lo == [2]int{}
	// Each number is bounded before the next one is made of it.
	if p.hi[0]-p.lo[0] > roomMost/p.out[1] || p.hi[1]-p.lo[1] > roomMost || p.pitch > max(roomMost, p.out[1]) {
		return nil
	}
	p.view = min(most, p.out[0]*p.out[1]) + (p.hi[0]-p.lo[0])*p.out[1] + gemm.Strip
	lines := (p.view-2)/p.out[1] + 2
	p.phase = p.view + lines*(p.pitch-p.out[1]) + p.hi[1] - p.lo[1]
	if p.Room() > roomMost {
		return nil
	}
	return p
}

// Room is the float32s of workspace.
func (p *Plan) Room() int {
	if p == nil || p.pointwise {
		return 0
	}
	return p.view + p.strides[1]*(p.phase+min(p.pitch, p.phase))
}

// Fill writes the columns of output positions n0 to n1 to dst. plane is the first of the channels in x.
func (p *Plan) Fill(dst []float32, x *run.Vec, room []float32, plane, channels, n0, n1 int) {
	kernel, size := len(p.taps[0])*len(p.taps[1]), p.in[0]*p.in[1]
	pitch := gemm.Pitch(channels * kernel)
	if p.pointwise {
		pack(dst, pitch, x, plane*size+n0, channels, n1-n0, size)
		return
	}
	view, phases := room[:p.view], room[p.view:]
	from, to := n0+p.lo[0]*p.out[1], n1+p.hi[0]*p.out[1]
	for ch := range channels {
		for _, line := range p.taps[0] {
			if !line.first {
				continue
			}
			p.deal(phases, x, (plane+ch)*size, from, to, line.phase)
			for i, column := range p.taps[1] {
				seen := p.see(view, phases, from, to, column)
				p.pack(dst, pitch, ch*kernel+i, seen, n1-n0, line.phase)
			}
		}
	}
}

// pack writes the rows of one column of the kernel, those of the lines of a phase.
func (p *Plan) pack(dst []float32, pitch, row int, view []float32, n, phase int) {
	lines, columns := p.taps[0], len(p.taps[1])
	if p.strides[0] == 1 {
		gemm.PackStrips(dst, pitch, row, columns, gemm.Rows[float32]{Elements: view, Count: len(lines), N: n,
			Stride: p.between})
		return
	}
	for i, line := range lines {
		if line.phase == phase {
			gemm.PackStrips(dst, pitch, row+i*columns, 1,
				gemm.Rows[float32]{Elements: view[(line.by-p.lo[0])*p.out[1]:], Count: 1, N: n})
		}
	}
}

// place returns where output position i is in a phase.
func (p *Plan) place(i int) int {
	column := (i%p.out[1] + p.out[1]) % p.out[1]
	return (i-column)/p.out[1]*p.pitch + column
}

// deal makes the phases of a plane at base, one after another, that output positions from to to see. phase is that of
// the lines.
func (p *Plan) deal(phases []float32, x *run.Vec, base, from, to, phase int) {
	first, last := p.place(from)+p.lo[1], p.place(to-1)+1+p.hi[1]
	step := p.strides[1]
	if step == 1 && p.strides[0] == 1 && p.pitch == p.in[1] {
		load(x, phases[:last-first], base, first, p.in[0]*p.in[1])
		return
	}
	line := phases[step*p.phase:]
	for at := first; at < last; {
		column := (at%p.pitch + p.pitch) % p.pitch
		n, y := min(p.pitch-column, last-at), (at-column)/p.pitch*p.strides[0]+phase
		of := func(phase int) []float32 { return phases[phase*p.phase+at-first:][:n] }
		switch src := line[:n*step]; {
		case y < 0 || y >= p.in[0]:
			for i := range step {
				clear(of(i))
			}
		case step == 1:
			load(x, of(0), base+y*p.in[1], column, p.in[1])
		default:
			load(x, src, base+y*p.in[1], column*step, p.in[1])
			if step == 2 {
				gemm.Split(of(0), of(1), src)
				break
			}
			for i := range step {
				Every(of(i), src[i:], step)
			}
		}
		at += n
	}
}

// see returns what output positions from to to see of phases through a column of the kernel: a copy in view, or in
// place.
func (p *Plan) see(view, phases []float32, from, to int, column tap) []float32 {
	by, src := column.by, phases[column.phase*p.phase:][:p.phase]
	if p.pitch == p.out[1] {
		if by == 0 {
			return src[-p.lo[1]:]
		}
		copy(view[:to-from], src[by-p.lo[1]:])
	} else {
		first, start := p.place(from)+p.lo[1], (from%p.out[1]+p.out[1])%p.out[1]
		for at, column := from, start; at < to; column = 0 {
			n := min(p.out[1]-column, to-at)
			copy(view[at-from:][:n], src[p.place(at)+by-first:])
			at += n
		}
	}
	clearBeyond(view[:to-from], from, p.out[1], p.pitch, by)
	return view
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

// pack writes n elements of each of some rows, stride apart from element at of x on, to strips.
func pack(dst []float32, pitch int, x *run.Vec, at, rows, n, stride int) {
	if x.Half != nil {
		gemm.PackStrips(dst, pitch, 0, 1, gemm.Rows[fp16.Bits]{Elements: x.Half[at:], Count: rows, N: n, Stride: stride})
		return
	}
	gemm.PackStrips(dst, pitch, 0, 1, gemm.Rows[float32]{Elements: x.Single[at:], Count: rows, N: n, Stride: stride})
}
