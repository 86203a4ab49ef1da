package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// einsum multiplies matrices that lie anywhere in the operands.
func einsum(s *Step) (run.Runner, int) {
	e := s.Attrs.(ops.Einsum)
	x, y, out := func(a ops.Axis) int { return a.X }, func(a ops.Axis) int { return a.Y },
		func(a ops.Axis) int { return a.Out }
	p := &strided{
		x:   [3]path{along(e.Batch, x), along(e.M, x), along(e.K, x)},
		y:   [3]path{along(e.Batch, y), along(e.K, y), along(e.N, y)},
		out: [3]path{along(e.Batch, out), along(e.M, out), along(e.N, out)},
	}
	return newProduct(p.x[0].len(), p.x[1].len(), p.x[2].len(), p.y[2].len(), 0, p)
}

// strided are the panels of einsum. Each operand has a path through its batch, its rows
// and its columns.
type strided struct{ x, y, out [3]path }

// path visits elements in the order of some axes.
type path struct{ dims, by []int }

func along(axes []ops.Axis, by func(ops.Axis) int) (p path) {
	for _, a := range axes {
		p.dims, p.by = append(p.dims, a.Length), append(p.by, by(a))
	}
	return p
}

func (p *path) len() int { return ops.Volume(p.dims) }

// at returns the offset of element i, and the number of elements that follow each other
// in memory from there.
func (p *path) at(i int) (mem, n int) {
	last := len(p.dims) - 1
	if last < 0 || p.by[last] != 1 {
		return offset(i, p.dims, p.by), 1
	}
	return offset(i, p.dims, p.by), p.dims[last] - i%p.dims[last]
}

// load decodes elements from, from+1, .. of a path that starts at base.
func (p *path) load(v *run.Vec, dst []float32, base, from int) {
	for len(dst) > 0 {
		mem, n := p.at(from)
		n = min(n, len(dst))
		v.Load(dst[:n], base+mem)
		dst, from = dst[n:], from+n
	}
}

// store rounds src into elements from, from+1, ..
func (p *path) store(v *run.Vec, src []float32, base, from int) {
	for len(src) > 0 {
		mem, n := p.at(from)
		n = min(n, len(src))
		v.Store(src[:n], base+mem)
		src, from = src[n:], from+n
	}
}

func (p *strided) left(c *run.Call, dst, _ []float32, batch, m0, m1 int) []float32 {
	base, _ := p.x[0].at(batch)
	k := p.x[2].len()
	for m := m0; m < m1; m++ {
		row, _ := p.x[1].at(m)
		p.x[2].load(&c.In[0], dst[(m-m0)*k:][:k], base+row, 0)
	}
	return dst
}

func (p *strided) right(c *run.Call, dst, _ []float32, batch, n0, n1 int) []float32 {
	base, _ := p.y[0].at(batch)
	for k := range p.y[1].len() {
		row, _ := p.y[1].at(k)
		p.y[2].load(&c.In[1], dst[k*(n1-n0):][:n1-n0], base+row, n0)
	}
	return dst
}

func (p *strided) store(c *run.Call, tile, _ []float32, batch, m0, m1, n0, n1 int) {
	base, _ := p.out[0].at(batch)
	for m := m0; m < m1; m++ {
		row, _ := p.out[1].at(m)
		p.out[2].store(&c.Out[0], tile[(m-m0)*(n1-n0):][:n1-n0], base+row, n0)
	}
}
