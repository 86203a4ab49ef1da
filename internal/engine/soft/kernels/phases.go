package kernels

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/spatial"
	"github.com/anekit/anekit/internal/ops"
)

// phases are parts of a transposed convolution whose output positions are a stride apart. Each such part is a plain
// convolution with the kernel positions that reach it: the others see zeros between the elements of x. Phases with the
// same kernel positions of x are one product, of which a phase has every len(first)th row.
type phases struct {
	*windows          // of the plain convolution
	first    [][3]int // the first output position of each
	strides  []int
	out      []int // spatial lengths of the result
}

// Bounds of phases: how many, and the kernel positions of all.
const (
	mostPhases    = 64
	mostPositions = 1 << 10
)

// newPhases returns the runner of a transposed convolution by its phases: one product after another. It returns whole,
// which takes some workspace, where the weights are not known or not finite: zero times infinity is NaN.
func newPhases(s *Step, p *windows, whole run.Runner, work int) (run.Runner, int) {
	w := &p.win
	weight := s.In[1]
	if n := ops.Volume(w.Strides); !s.halved() || !weight.Constant || s.Packed != nil || n == 1 || n > mostPhases ||
		len(p.offsets) > mostPositions || weight.len() >= largeWeight && ops.Volume(w.In) <= leanColumns {
		return whole, work
	}
	ready := weight.Ahead != nil || s.Decode != nil && weight.len() <= *s.Decode &&
		!slices.ContainsFunc(weight.Data.Half, func(h fp16.Bits) bool { return h&fp16.Inf == fp16.Inf })
	var parts []*phases
	taps := map[*phases][]int{} // kernel positions
	known := map[string]*phases{}
	for f := range ops.Volume(w.Strides) {
		first := [3]int{f / w.Strides[2] / w.Strides[1], f / w.Strides[2] % w.Strides[1], f % w.Strides[2]}
		part := &phases{strides: w.Strides, out: w.Out}
		reach := part.plain(p, first)
		switch {
		case len(reach) == 0:
			return whole, work
		case ops.Volume(part.win.Out) == 0: // the result is shorter than the stride
			continue
		}
		key := fmt.Sprint(part.offsets, part.win.Out)
		if known[key] == nil {
			known[key], taps[part] = part, nil
			parts = append(parts, part)
		}
		part = known[key]
		part.first, taps[part] = append(part.first, first), append(taps[part], reach...)
	}
	if ready && weight.Ahead == nil {
		*s.Decode -= weight.len()
		weight.Ahead = make([]float32, 0, weight.len())
		for _, part := range parts {
			weight.Ahead = part.weights(weight.Ahead, weight, taps[part])
		}
	}
	var all run.Sequence
	decoded := weight.Ahead
	for _, part := range parts {
		rows, k := len(part.first)*p.outputs, p.channels*len(part.offsets)
		part.weight = matrix.Operand{Index: 1, Rows: rows, Cols: k}
		if ready {
			part.weight.Decoded, decoded = decoded[:w.Groups*rows*k], decoded[w.Groups*rows*k:]
		}
		part.inColumns = s.inStrips(rows)
		r, room := newProduct(s.In[0].Shape[0]*w.Groups, rows, k, ops.Volume(part.win.Out), w.In[2], part)
		all, work = append(all, r), max(work, room)
	}
	if !ready {
		return whole, work // the workspace of all instances is one
	}
	return &all, work
}

// plain sets the windows to those of the phase of an output position, and returns its kernel positions, in order.
func (r *phases) plain(p *windows, first [3]int) (reach []int) {
	w, one := p.win, []int{1, 1, 1}
	r.windows = &windows{win: ops.Window{Kernel: one, Strides: one, Dilations: one, Before: []int{0, 0, 0}, In: w.In,
		Groups: w.Groups}, channels: p.channels, outputs: p.outputs, given: p.given}
	for axis, f := range first {
		r.win.Out = append(r.win.Out, (max(w.Out[axis]-f, 0)+w.Strides[axis]-1)/w.Strides[axis])
	}
	for i, from := range p.offsets {
		inside := true
		for axis, f := range first {
			from[axis] += f
			inside = inside && from[axis]%w.Strides[axis] == 0
			from[axis] /= w.Strides[axis]
		}
		if inside {
			r.offsets, reach = append(r.offsets, from), append(reach, i)
		}
	}
	return reach
}

// weights appends the rows of all groups of a product. taps are the kernel positions of one phase after another.
func (r *phases) weights(to []float32, t *Tensor, taps []int) []float32 {
	kernel, each := ops.Volume(t.Shape[2:]), len(r.offsets)
	for m := range r.win.Groups * r.outputs {
		group, output := m/r.outputs, m%r.outputs
		for phase := range r.first {
			for ch := range r.channels {
				for _, tap := range taps[phase*each:][:each] {
					at := ((group*r.channels+ch)*r.outputs+output)*kernel + tap
					to = append(to, t.Data.Half[at].Float32())
				}
			}
		}
	}
	return to
}

func (r *phases) bias(c *run.Call, dst []float32, batch, m0, m1, _, _ int) (b []float32, byRow bool) {
	if !r.given {
		return nil, true
	}
	b = dst[:m1-m0]
	for i := range b {
		c.In[2].Load(b[i:i+1], batch%r.win.Groups*r.outputs+(m0+i)/len(r.first))
	}
	return b, true
}

// store writes rows to their phases of the result, two at a time where their elements lie beside each other.
func (r *phases) store(c *run.Call, tile, _ []float32, batch, m0, m1, n0, n1, _ int) {
	var rooms [2][tileCols]fp16.Bits
	w, step, length := r.win.Out, r.strides[2], n1-n0
	for m, rows := m0, 1; m < m1; m += rows {
		plane, f := batch*r.outputs+m/len(r.first), m%len(r.first)
		first := r.first[f]
		if rows = 1; step == 2 && m+1 < m1 && f+1 < len(r.first) && r.first[f+1][2] > first[2] {
			rows = 2
		}
		for i := range rows {
			halves.Encode(rooms[i][:length], tile[(m-m0+i)*length:][:length], 0)
		}
		for n, line, across := 0, n0/w[2], n0%w[2]; n < length; line, across = line+1, 0 {
			some := rooms[0][n:][:min(w[2]-across, length-n)]
			d, h := line/w[1]*r.strides[0]+first[0], line%w[1]*r.strides[1]+first[1]
			at := ((plane*r.out[0]+d)*r.out[1]+h)*r.out[2] + across*step + first[2]
			if to := c.Out[0].Half[at:]; rows == 2 {
				spatial.InTurn(to, some, rooms[1][n:])
			} else {
				for i, v := range some {
					to[i*step] = v
				}
			}
			n += len(some)
		}
	}
}
