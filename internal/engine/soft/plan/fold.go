package plan

import (
	"context"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// fold computes the nodes whose operands are all constant, up to the budget,
// and keeps the others. It records nodes that depend on a weight file in links.
func (p *planner) fold(ctx context.Context) error {
	var rest []*ops.Node
	for _, n := range p.nodes {
		if err := run.Between(ctx); err != nil {
			return err
		}
		if !slices.ContainsFunc(n.Out, func(v *ops.Value) bool { return !p.has(v) }) && len(n.Out) > 0 {
			continue // its rule computed it
		}
		if r, drawn := n.Attrs.(ops.Random); drawn && r.Seed < 0 {
			rest = append(rest, n) // other numbers in each run
			continue
		}
		if slices.ContainsFunc(n.In, func(v *ops.Value) bool { return v != nil && !p.has(v) }) {
			rest = append(rest, n)
			continue
		}
		done, err := p.evaluate(ctx, n)
		if err != nil {
			return &mil.Error{Pos: n.Op.Pos, Msg: err.Error(), Err: err}
		}
		if !done {
			rest = append(rest, n)
			continue
		}
		p.Links.folded(n)
	}
	p.nodes = rest
	return nil
}
