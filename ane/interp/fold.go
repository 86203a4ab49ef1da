package interp

import (
	"context"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// maxFolded bounds the bytes of a value computed when compiling; larger ones
// are cheaper to compute than to keep.
const maxFolded = 1 << 28

// fold computes the nodes whose operands are all constant, as far as the budget
// goes, and keeps the rest. The results become constants of the graph.
func (p *planner) fold(ctx context.Context) error {
	var rest []*ops.Node
	for _, n := range p.nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if slices.ContainsFunc(n.In, func(v *ops.Value) bool { return v != nil && v.Data == nil }) {
			rest = append(rest, n)
			continue
		}
		done, err := p.evaluate(ctx, n)
		if err != nil {
			return &mil.Error{Pos: n.Op.Pos, Msg: err.Error(), Err: err}
		}
		if !done {
			rest = append(rest, n)
		}
	}
	p.nodes = rest
	return nil
}

// evaluate runs one node on constants and stores the results as constants. It
// reports false when that is beyond the budget.
func (p *planner) evaluate(ctx context.Context, n *ops.Node) (done bool, err error) {
	if isView(n) {
		n.Out[0].Data = n.In[0].Data
		return true, nil
	}
	size := 0
	for _, v := range n.Out {
		size += v.Elements() * v.DType.Size()
	}
	if size > min(maxFolded, p.budget.folded) || p.budget.work <= 0 {
		return false, nil
	}
	s := &step{op: n.Def.Name, kernel: kernels[n.Def.Name], attrs: n.Attrs}
	c := &call{ctx: ctx, budget: &p.budget.work}
	for _, v := range n.In {
		at, e := place{}, vec{}
		if v != nil {
			if e, err = p.elements(v); err != nil {
				return false, err
			}
			at = place{where: constant, dtype: v.DType, shape: v.Shape, data: e}
		}
		s.in, c.in = append(s.in, at), append(c.in, e)
	}
	for _, v := range n.Out {
		data := make([]byte, v.Elements()*v.DType.Size())
		e, err := view(v.DType, data)
		if err != nil {
			return false, err
		}
		s.out, c.out = append(s.out, place{where: scratch, dtype: v.DType, shape: v.Shape}), append(c.out, e)
	}
	var room int
	c.run, room = s.kernel(s)
	if room > maxFolded/4/workers {
		return false, nil
	}
	for range workers {
		c.work = append(c.work, make([]float32, room))
	}
	c.run.run(c)
	if err := ctx.Err(); err != nil || c.declined {
		return false, err
	}
	p.budget.folded -= size
	for i, v := range n.Out {
		v.Data = c.out[i].raw
	}
	return true, nil
}
