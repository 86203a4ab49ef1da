package enginetest

import (
	"errors"

	"github.com/anekit/anekit/ane"
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
		for _, k := range kinds() {
			r := e.rig(m, p, k.room)
			e.need(r.fill(p.samples(1)), "inputs")
			e.must(r.evaluate(e.ctx), "%s on %s", p.name, k.name)
		}
	}
}

// offsets binds cells that share one Block.
func offsets(e *env) {
	p := addition(1, 2, 3, 32)
	d := e.device()
	m := e.loaded(d, p)
	cellSize := m.Outputs()[0].Bytes() + ane.RowAlign
	g, err := unimem.NewGrid(cellSize, 4, unimem.StaleOnClose())
	e.need(err, "memory")
	e.laterMemory(g.Close, "closing a Grid")
	r := &rig{env: e, program: p, model: m}
	for i := range g.Total() {
		c, err := g.Take()
		e.need(err, "cell")
		junk(c.Bytes())
		var l ane.Layout
		switch {
		case c.Offset() == 0: // the cell that an engine without offsets would use
			continue
		case len(r.in) < len(m.Inputs()):
			l = m.Inputs()[len(r.in)]
		default:
			l = m.Outputs()[0]
		}
		t, err := ane.OnCell(c, l)
		e.need(err, "tensor on cell "+string(rune('0'+i)))
		if len(r.in) < len(m.Inputs()) {
			r.in = append(r.in, t)
		} else {
			r.out = append(r.out, t)
		}
	}
	r.request, err = m.Bind(named(r.in), named(r.out))
	if !d.Info().Offsets {
		if !errors.Is(err, ane.ErrOffset) {
			e.errorf("bind of tensors at an offset returns %v, want ErrOffset", err)
		}
		if err == nil {
			e.later(r.request.Close, "closing the request")
		}
		return
	}
	e.need(err, "bind at offsets, which Info.Offsets permits")
	e.later(r.request.Close, "closing the request")
	e.must(r.round(e.ctx, 1), "at offsets")
}
