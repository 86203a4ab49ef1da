package enginetest

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// places check bytes that the engine must not change.
func places() []check {
	return []check{
		{"surroundings", "inputs, their padding, the rest of every surface and other cells do not change",
			surroundings},
		{"offsets", "a tensor after byte 0 of its surface is refused, or used if Info.Offsets is true", offsets},
	}
}

func surroundings(e *env) {
	d := e.device()
	for _, p := range []*program{addition(1, 2, 3, 32), addition(1, 2, 3, 5), splitting(), casting(1, 2, 3, 5)} {
		m := e.loaded(d, p)
		for name, where := range kinds() {
			r := e.rig(m, p, where)
			step.NoError(r.fill(p.samples(1)))
			e.report(r.watched(e.Ctx), "%s on %s", p.name, name)
		}
	}
}

// offsets binds cells that share one Block.
func offsets(e *env) {
	p, d := addition(1, 2, 3, 32), e.device()
	m := e.loaded(d, p)
	g := step.Must(unimem.NewGrid(m.Outputs()[0].Bytes()+ane.RowAlign, 4, unimem.StaleOnClose()))
	e.Closing(g.Close)
	var cells []unimem.Cell
	for range g.Total() {
		c := step.Must(g.Take())
		junk(c.Bytes())
		if c.Offset() > 0 { // an engine without offsets would use the cell at 0
			cells = append(cells, c)
		}
	}
	r := &rig{program: p, model: m}
	for i, l := range m.Inputs() {
		r.in = append(r.in, step.Must(ane.OnCell(cells[i], l)))
	}
	r.out = []*ane.Tensor{step.Must(ane.OnCell(cells[2], m.Outputs()[0]))}
	var err error
	if r.request, err = m.Bind(named(r.in), named(r.out)); err == nil {
		e.Closing(r.request.Close)
	}
	if !d.Info().Offsets {
		e.expect(err, "Bind of tensors at an offset", ane.ErrOffset)
		return
	}
	step.NoError(err)
	e.report(r.round(e.Ctx, 1), "at offsets")
}
