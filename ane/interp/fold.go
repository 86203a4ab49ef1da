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

// fold computes the nodes whose operands are all constant and returns the
// rest. The results become constants of the graph.
func fold(ctx context.Context, g *ops.Graph) ([]*ops.Node, error) {
	var rest []*ops.Node
	for _, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !foldable(n) {
			rest = append(rest, n)
			continue
		}
		if err := evaluate(ctx, n); err != nil {
			return nil, &mil.Error{Pos: n.Op.Pos, Msg: err.Error(), Err: err}
		}
	}
	return rest, nil
}

func foldable(n *ops.Node) bool {
	size := 0
	for _, v := range n.Out {
		size += v.Elements() * v.DType.Size()
	}
	return size <= maxFolded && !slices.ContainsFunc(n.In, func(v *ops.Value) bool { return v != nil && v.Data == nil })
}

// evaluate runs one node on constants and stores the results as constants.
func evaluate(ctx context.Context, n *ops.Node) error {
	if isView(n) {
		n.Out[0].Data = n.In[0].Data
		return nil
	}
	s := &step{op: n.Def.Name, kernel: kernels[n.Def.Name], attrs: n.Attrs}
	c := &call{ctx: ctx}
	for _, v := range n.In {
		p, e := place{}, vec{}
		if v != nil {
			var err error
			if e, err = aligned(v.DType, v.Data); err != nil {
				return err
			}
			p = place{where: constant, dtype: v.DType, shape: v.Shape, data: e}
		}
		s.in, c.in = append(s.in, p), append(c.in, e)
	}
	for _, v := range n.Out {
		data := make([]byte, v.Elements()*v.DType.Size())
		e, err := view(v.DType, data)
		if err != nil {
			return err
		}
		s.out, c.out = append(s.out, place{where: scratch, dtype: v.DType, shape: v.Shape}), append(c.out, e)
	}
	var room int
	c.run, room = s.kernel(s)
	for range workers {
		c.work = append(c.work, make([]float32, room))
	}
	c.run.run(c)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, v := range n.Out {
		v.Data = c.out[i].raw
	}
	return nil
}
